"""Measure how memory and time grow: extraction to 46,000 statements, `analyze` to 100,000 pairs.

    python benchmarks/scale.py [--quick] [--trained]

Every size runs in a process of its own, one after the other, and reports its peak memory. The
model is random, in the shape of Pythia-70M, the smallest of the registry; its states go to disk
(3.2 GB for 46,000 statements). `analyze` runs to the end, on a stand-in for that model (32
dimensions), and is told part by part by `whole.py`; with `--trained` on the first six blocks of
the model of `tests/real` instead (576 dimensions, 50,000 tokens), with words that its tokenizer
has whole. With OMP_NUM_THREADS=1 the cores are those of the passes and the statistics. The page of
the papers is made of the judged claims (`make reproduce` first), and of 10,000: the same, repeated.
"""

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
SIZES = (460, 4_600, 46_000)
PAIRS = (1_000, 10_000, 100_000)
PROMPTS = 1_000
MODELS = HERE.parent / "models.yaml"
MADE = HERE.parent / "results" / "published"
WORDS = 4_000
CLAIMS = 10_000
BLOCKS = 6  # of the trained model


def extract(n: int, folder: Path) -> None:
    """Extract n statements with random weights of the smallest model's shape, Pythia-70M."""
    from extraction import random_weights, synthetic
    from layerwise.models.hidden_states import extract

    extract(random_weights("pythia-70m"), synthetic(n // 2, WORDS), (), folder / "out")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def stand_in(n: int, folder: Path) -> None:
    """A tiny random model, n pairs and the prompts, as files."""
    from extraction import synthetic
    from layerwise.models.registry import find_model, read_models
    from layerwise.models.twins import build_twin

    texts = synthetic(n, WORDS)
    build_twin(find_model(read_models(MODELS), "pythia-70m"), texts[:PROMPTS], folder / "model")
    write_texts(texts, folder)


def trained(n: int, folder: Path) -> None:
    """The first blocks of a trained model, n pairs and the prompts, as files."""
    import transformers

    from extraction import synthetic

    sys.path.insert(0, str(HERE.parent / "tests" / "real"))
    from checkpoint import trained_model

    source = trained_model()
    config = transformers.AutoConfig.from_pretrained(source, num_hidden_layers=BLOCKS)
    model = transformers.AutoModelForCausalLM.from_pretrained(source, config=config)
    model.save_pretrained(folder / "model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    tokenizer.save_pretrained(folder / "model")
    after_a_space = sorted(token[1:] for token in tokenizer.get_vocab() if token[:1] == "Ġ")
    words = [word for word in after_a_space if word.isascii() and word.isalpha()]
    texts = synthetic(n, WORDS)
    write_texts([" ".join(words[int(w[1:])] for w in text.split()) for text in texts], folder)


def write_texts(texts: list[str], folder: Path) -> None:
    """Pairs in six categories, and some of their first sides as prompts."""
    n = len(texts) // 2
    categories = {
        name: {"pairs": list(zip(texts[k:n:6], texts[n + k :: 6], strict=True))}
        for k, name in enumerate("uvwxyz")
    }
    (folder / "pairs.json").write_text(json.dumps(categories))
    (folder / "prompts.json").write_text(json.dumps(texts[:PROMPTS]))


def papers(n: int, folder: Path) -> None:
    """The papers' page, of n claims; those there are have their names changed where they repeat."""
    import layerwise.run.steps.page

    document = json.loads((MADE / "claims.json").read_text())
    claims = document["claims"]
    n = n or len(claims)
    again = itertools.islice(itertools.cycle(claims), len(claims), n)
    named = [one | {"id": f"{one['id']}.{number}"} for number, one in enumerate(again)]
    document["claims"] = claims[:n] + named
    (folder / "claims.json").write_text(json.dumps(document))
    start = time.process_time()
    layerwise.run.steps.page.run(
        "published", folder / "claims.json", MADE / "statistics",
        HERE.parent / "figures" / "published", folder,
    )  # fmt: skip
    page = (folder / "index.html").stat().st_size / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = time.process_time() - start
    print(f"  {n:,} claims: page of {page:.2f} MiB, {seconds:.1f} s of a core, peak {peak:.0f} MiB")


def alone(what: str, n: int, folder: Path) -> str:
    """What one of the functions above prints in a process of its own."""
    command = [sys.executable, __file__, "--alone", what, str(n), str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def analyze(of: str, n: int) -> None:
    """All that `layerwise analyze` does with n pairs, part by part."""
    with tempfile.TemporaryDirectory() as folder:
        alone(of, n, Path(folder))
        model, pairs, prompts = (f"{folder}/{it}" for it in ("model", "pairs.json", "prompts.json"))
        command = [sys.executable, HERE / "whole.py", model, "--pairs", pairs, "--prompts", prompts]
        subprocess.run(command, check=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the largest sizes")
    parser.add_argument("--trained", action="store_true", help="analyze a trained model, only")
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        what, n, folder = arguments.alone
        actions = {"extract": extract, "stand_in": stand_in, "trained": trained, "papers": papers}
        actions[what](int(n), Path(folder))
        return
    if not arguments.trained:
        if not (MADE / "claims.json").is_file():
            sys.exit("scale.py: the page needs the judged claims, found none; run make reproduce")
        print("extraction, Pythia-70M shape:")
        peaks = []
        for n in SIZES[:-1] if arguments.quick else SIZES:
            start = time.perf_counter()
            with tempfile.TemporaryDirectory() as scratch:
                peaks.append(float(alone("extract", n, Path(scratch))))
            seconds = time.perf_counter() - start
            print(f"  {n:7,} statements: peak {peaks[-1]:7.1f} MiB, {seconds:7.1f} s with imports")
        print(f"  peak of the largest over the smallest: {peaks[-1] / peaks[0]:.3f}")
        print("the page of the papers:")
        for n in (0, CLAIMS):  # 0: as many as there are
            with tempfile.TemporaryDirectory() as scratch:
                print(alone("papers", n, Path(scratch)), end="")
    for n in PAIRS[:-1] if arguments.quick else PAIRS:
        print(f"analyze, {n:,} pairs, {PROMPTS:,} prompts, 3 sampled layers:", flush=True)
        analyze("trained" if arguments.trained else "stand_in", n)


if __name__ == "__main__":
    main()
