"""Try thousands of cases of every class of `fuzz.py`, and write what held as a table.

    python tests/attack.py [--seed N] [--cases N] [--seconds N] [--jobs N] [--table FILE] [CLASS]*

The cases are those of the tests, by the same generators; here there are more of them: of each class
`CASES`, which take some hours of a core. What did not hold is printed with its class, seed and
number, and the exit code is 1.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import fuzz
from layerwise.present.typeset import EPOCH

# Ten times what an audit by hand tried of each kind.
CASES = {
    "checkpoints": 11_110,
    "requests": 100,
    "disks": 600,
    "kills": 190,
    "signals": 400,
}
HERE = Path(__file__).resolve().parent
TABLE = re.compile(r"(<!-- attack: [^\n]*-->\n).*?(<!-- attack end -->)", re.DOTALL)


def report_of(kind: str, seed: int, cases: int, seconds: int) -> dict[str, Any]:
    """Return how the cases of a class end, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="layerwise-attack-") as folder:
        done = subprocess.run(
            [sys.executable, HERE / "fuzz.py", kind, folder, str(seed), str(cases), str(seconds)],
            # a date that stays: results of two runs are compared
            env={"SOURCE_DATE_EPOCH": EPOCH, **os.environ, "TOKENIZERS_PARALLELISM": "false",
                 "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", fuzz.SEED: str(seed)},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)[kind]
    return found


def table(reports: dict[str, dict[str, Any]], seed: int, older: str) -> str:
    """In Markdown, with seed and day; a class that was not asked for keeps its row of that seed."""
    day = datetime.datetime.now(datetime.UTC).date()
    same = f"Seed {seed}," in older
    rows = re.findall(r"^(\| (\w+) \|.*)$", older, re.MULTILINE) if same else []
    kept = {kind: row for row, kind in rows}
    lines = [
        f"Seed {seed}, {day}; memory is that of the largest case, imports apart, in MiB.",
        "",
        "| class | what is tried, and what must hold | tried | held | memory |",
        "|---|---|---|---|---|",
    ]
    for kind in fuzz.KINDS:
        if kind not in reports:
            lines += [kept[kind]] if kind in kept else []
            continue
        of = reports[kind]
        n = sum(of["ended"].values())
        lines.append(
            f"| {kind} | {of['says']} | {n:,} | {n - len(of['flaws']):,} "
            f"| {max(0, of['memory']) / 2**20:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Try, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("classes", nargs="*", choices=[[], *fuzz.KINDS], default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, help="of each class; default: those of CASES")
    parser.add_argument("--seconds", type=int, default=10**6, help="for each class, at most")
    parser.add_argument("--jobs", type=int, default=1, help="classes at a time")
    parser.add_argument("--table", type=Path, help="a page with the marks of the table")
    asked = parser.parse_args()
    reports = {}
    with ThreadPoolExecutor(asked.jobs) as pool:
        started = {
            pool.submit(
                report_of, kind, asked.seed, asked.cases or CASES[kind], asked.seconds
            ): kind
            for kind in asked.classes or fuzz.KINDS
        }
        for done in as_completed(started):
            kind, of = started[done], done.result()
            reports[kind] = of
            n = sum(of["ended"].values())
            print(f"{kind}: {n - len(of['flaws'])} of {n} held", flush=True)
            for one in of["flaws"]:
                print(f"  seed {asked.seed}, case {one['case']}: {one['what']}\n    {one['wrong']}")
            if asked.table:  # after every class: who stops it keeps what was tried
                asked.table.write_text(
                    TABLE.sub(
                        lambda at: at[1] + table(reports, asked.seed, at[0]) + at[2],
                        asked.table.read_text(),
                    )
                )
    return int(any(of["flaws"] for of in reports.values()))


if __name__ == "__main__":
    sys.exit(main())
