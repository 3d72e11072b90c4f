"""the statement pairs and prompts <- upstream, or a mirror of it; checked by sha256."""

from pathlib import Path

from layerwise.errors import require_extra
from layerwise.files import sha256_of, write_json
from layerwise.papers.fetching import upstream
from layerwise.run.steps import Place, elsewhere, program
from layerwise.shapes import read_choices


def run(out: Path | None = None, mirror: str | None = None) -> str:
    """Put the pinned `dataset.json` and `prompts.json` into OUT; whole ones are left alone."""
    out = out or upstream.papers_folder()
    upstream.fetch(out, mirror)
    return f"statement pairs and prompts in {out}, as pinned"


def stage(out: Place, stamp: Place, params: Place = Path("params.yaml")) -> str:
    """The same, as the first stage of what is measured; STAMP says which bytes there are.

    Raises:
        LayerwiseError: without torch or the device of params.yaml, before the network is asked.
    """
    with elsewhere():
        require_extra("models")
        from layerwise.models.devices import require_accelerator

        require_accelerator(read_choices(params, "measure")["device"])
        said = run(out)
    write_json(stamp, {name: sha256_of(out / name) for name in upstream.DATA_FILES})
    return said


if __name__ == "__main__":
    program(stage)
