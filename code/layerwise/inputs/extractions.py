"""Which hidden states Papers 1 and 2 need: one model in one dtype, at its own sampled layers."""

from __future__ import annotations

from dataclasses import dataclass

NONE, PUBLISHED, ONCE = "none", "published", "once"  # chat templates (`extraction.templates`)


@dataclass(frozen=True)
class Extraction:
    """What to extract and measure, and for which studies of `models.yaml`."""

    key: str  # names states and values
    slug: str
    dtype: str
    studies: tuple[str, ...]
    layer_step: int = 4
    template: str = NONE


# Paper 1 and its supplement read only the last layer, in the dtype in which Paper 2 read them all.
EXTRACTIONS = {
    extraction.key: extraction
    for extraction in (
        Extraction("pythia-410m", "pythia-410m", "float16", ("p2_scaling",)),
        Extraction("pythia-1p4b", "pythia-1p4b", "float16", ("p1_pythia_ua", "p2_scaling")),
        Extraction("pythia-2p8b", "pythia-2p8b", "float16", ("p1_pythia_ua",)),
        Extraction(
            "pythia-6p9b", "pythia-6p9b", "float16", ("p1_pythia_ua", "p2_layers", "p2_scaling")
        ),
        Extraction("pythia-12b", "pythia-12b", "float16", ("p1_pythia_ua", "p2_scaling")),
        Extraction("gemma-2-9b", "gemma-2-9b", "float16", ("p1_ua", "p1_outcorr")),
        Extraction("llama-3p1-8b", "llama-3p1-8b", "float16", ("p1_ua", "p1_outcorr", "p2_layers")),
        Extraction("mistral-7b", "mistral-7b", "float32", ("p1_ua", "p1_outcorr")),
        Extraction("apertus-8b", "apertus-8b", "float32", ("p1_ua", "p1_outcorr", "p2_layers")),
        # 18 blocks, every max(1, 18 div 8)-th layer
        Extraction("gemma-2b", "gemma-2b", "float16", ("p2_layers",), layer_step=2),
        Extraction("llama-3p1-8b-instruct", "llama-3p1-8b-instruct", "float16", ("p2_layers",)),
        Extraction(
            "llama-3p1-8b-instruct-templated",
            "llama-3p1-8b-instruct",
            "float16",
            ("p2_layers",),
            template=PUBLISHED,
        ),
        Extraction(
            "llama-3p1-8b-instruct-templated-once",
            "llama-3p1-8b-instruct",
            "float16",
            ("p2_layers",),
            template=ONCE,
        ),
    )
}

# Studies of `models.yaml` that no extraction serves; the ledger says why (`unmeasured`).
UNSERVED = ("p1_neutral",)
