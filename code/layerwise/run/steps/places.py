"""the places that measuring may fill <- the published files, without their numbers."""

from pathlib import Path

from layerwise.engine.measured import places
from layerwise.files import write_json
from layerwise.papers.shared.published import read_published
from layerwise.run.steps import Place, program


def run(out: Place, published: Place = Path("published")) -> str:
    """Write OUT: {file: {JSON Pointer: name or setting; null for a number}}.

    Models are measured with these alone: a number that is mended in print asks for no measurement.
    """
    places_by_file = places(read_published(published))
    write_json(out, places_by_file)
    return (
        f"{sum(map(len, places_by_file.values()))} places of {len(places_by_file)} files in {out}"
    )


if __name__ == "__main__":
    program(run)
