"""Try thousands of cases of every class of `fuzz.py`, and write what held as a table.

    python tests/attack.py [--seed N] [--cases N] [--seconds N] [--jobs N] [--table FILE] [CLASS]*

Of each class there are `CASES`, which take some hours of a core. What did not hold is printed with
its class, seed and number, and the exit code is 1.
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

CASES = {
    "checkpoints": 11_110,
    "requests": 100,
    "kills": 190,
    "signals": 400,
    "measured": 200,
}
HERE = Path(__file__).resolve().parent
TABLE = re.compile(r"(<!-- attack: [^\n]*-->\n).*?(<!-- attack end -->)", re.DOTALL)


def report_of(kind: str, seed: int, cases: int, seconds: int) -> dict[str, Any]:
    """Return how the cases of a class end, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="layerwise-attack-") as folder:
        done = subprocess.run(
            [sys.executable, HERE / "fuzz.py", kind, folder, str(seed), str(cases), str(seconds)],
            env={
                **os.environ,
                "TOKENIZERS_PARALLELISM": "false",
                "HF_HUB_OFFLINE": "1",
                "OMP_NUM_THREADS": "1",
                fuzz.SEED: str(seed),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    report: dict[str, Any] = json.loads(done.stdout)[kind]
    return report


def table(reports: dict[str, dict[str, Any]], seed: int) -> str:
    """The classes that were tried, in Markdown, with seed and day."""
    lines = [
        f"Seed {seed}, {datetime.datetime.now(datetime.UTC).date()}; memory is that of the largest "
        "case, imports apart, in MiB.",
        "",
        "| class | what is tried, and what must hold | tried | held | memory |",
        "|---|---|---|---|---|",
    ]
    for kind in filter(reports.__contains__, fuzz.KINDS):
        report = reports[kind]
        n = sum(report["ended"].values())
        lines.append(
            f"| {kind} | {report['says']} | {n:,} | {n - len(report['flaws']):,} "
            f"| {max(0, report['memory']) / 2**20:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def put_between_marks(page: Path, text: str) -> None:
    """Write the table of a page anew."""
    page.write_text(TABLE.sub(lambda marks: marks[1] + text + marks[2], page.read_text()))


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
            kind = started[done]
            report = reports[kind] = done.result()
            n = sum(report["ended"].values())
            print(f"{kind}: {n - len(report['flaws'])} of {n} held", flush=True)
            for case in report["flaws"]:
                print(f"  seed {asked.seed}, case {case['case']}: {case['what']}")
                print(f"    {case['wrong']}")
            if asked.table:  # after every class: who stops it keeps what was tried
                put_between_marks(asked.table, table(reports, asked.seed))
    return int(any(report["flaws"] for report in reports.values()))


if __name__ == "__main__":
    sys.exit(main())
