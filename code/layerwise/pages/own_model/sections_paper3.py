"""Paper 3 on an own model: the sections of anisotropy, gains and spectral norms."""

from __future__ import annotations

from layerwise.extraction.families import MATRICES
from layerwise.pages.own_model.tables import Document, Section, facts, table

PAPERS_DEPTH = 32  # blocks of Pythia-6.9B, whose layer numbers the notebooks typed in
READINGS = {
    "penultimate": "second-last block, last token (the papers' gain without the final norm)",
    "final_norm": "last block and final norm, last token (the papers' gain with it)",
    "last_block": "last block, last token, before the final norm",
    "last_block_rounded": "the same, norms rounded to the model's dtype",
    "sequence": "last block, all tokens together, before the final norm",
    "sequence_final_norm": "the same, behind the final norm",
    "token": "last block, mean over the tokens' norms, before the final norm",
    "token_final_norm": "the same, behind the final norm",
    "total_amplification": "last block against the first, last token, before the final norm",
}


def anisotropy(document: Document) -> Section:
    """The profile over the layers and the bell test."""
    l_star, n_layers = document["L_star_anisotropy"], document["n_layers"]
    before, after = l_star >= 2, l_star < n_layers
    notes = []
    if not before:
        notes.append("No slope before the peak: a line needs two layers.")
    if not after:
        notes.append("No slope from the peak on: it is the last layer, and a line needs two.")
    if n_layers != PAPERS_DEPTH:
        notes.append(
            "anisotropy.json compares the peak with a layer of Pythia-6.9B, as the notebook does "
            f"(L_star_paper2, gap, match_verdict); that says nothing of a model of {n_layers} "
            "blocks."
        )
    bell = facts(
        "bell",
        "The bell test of the first component's share.",
        [
            ("layer of the largest share", l_star, None),
            ("rises to it and falls from there", document["is_bell_curve"], None),
            ("slope before it", document["phase1_slope"] if before else None, 6),
            ("slope from it on", document["phase2_slope"] if after else None, 6),
            ("layer of the smallest effective rank", document["effective_rank_min_layer"], None),
        ],
        notes,
    )
    series = zip(
        range(n_layers + 1),
        document["intrinsic_dim_ratio"],
        document["effective_rank"],
        document["avg_cos_sim"],
        strict=True,
    )
    columns = [("layer", None), ("first-PC share", 4), ("effective rank", 2), ("mean cosine", 4)]
    caption = (
        "Share of the first principal component, effective rank, and mean cosine to the mean of "
        f"all tokens of {document['n_prompts']} prompts."
    )
    return Section(
        "anisotropy",
        "Anisotropy over depth",
        "Do the states of the prompts' tokens crowd into few directions, and at which layer most?",
        (bell, table("profile", caption, columns, [list(row) for row in series])),
    )


def gains(document: Document) -> Section:
    """Gain by block and in every reading."""
    n = document["n_prompts"]
    by_block = zip(
        range(document["n_layers"]),
        document["all_layer_gains"],
        document["all_layer_gains_std"],
        strict=True,
    )
    spread = ("mean", 4), ("SD", 4)
    word = "damps (below 1)" if document["is_dampening"] else "expands (1 or above)"
    return Section(
        "gains",
        "Residual gains",
        "Does a block lengthen the residual stream (gain above 1) or damp it? A gain is the norm "
        "behind the block over the norm before it.",
        (
            facts(
                "gain",
                f"Paper 3's gain over {n} prompts, and the shape it is set against.",
                [
                    ("gain of the second-last block", document["residual_gain_mean"], 4),
                    ("the model", word, None),
                    ("gain of the last block and the final norm", document["gain_with_ln_mean"], 4),
                    ("heads", document["n_heads"], None),
                    ("hidden size", document["d_model"], None),
                    ("heads over head size", document["rho"], 3),
                ],
            ),
            table(
                "readings",
                f"The last gain in every reading of Paper 3: mean and population SD over {n} "
                "prompts.",
                [("reading", None), *spread],
                [
                    [READINGS[name], found["mean"], found["std"]]
                    for name, found in document["readings"].items()
                ],
            ),
            table(
                "gain-by-block",
                f"Gain of the last token by block: mean and population SD over {n} prompts.",
                [("block", None), *spread],
                [list(row) for row in by_block],
                ["The last block's gain has the final norm in it."],
            ),
        ),
    )


def spectral(document: Document) -> Section:
    """Spectral norms by block, and the means."""
    means = [
        [
            name.replace("_", " "),
            document[f"{name}_mean_spectral"],
            document[f"{name}_std_spectral"],
            _mean(document[f"{name}_frobenius_norm"]),
            _mean(document[f"{name}_effective_rank"]),
        ]
        for name in MATRICES
    ]
    series = [document[f"{name}_spectral_norm"] for name in MATRICES]
    by_block = [[block, *norms] for block, norms in enumerate(zip(*series, strict=True))]
    return Section(
        "spectral",
        "Spectral norms of the attention projections",
        "How much can each projection stretch a state? Without biases, of the rows that the model "
        "computes with.",
        (
            table(
                "projections",
                "Means over the blocks.",
                [("matrix", None), ("spectral norm", 3), ("SD", 3), ("Frobenius norm", 3),
                 ("effective rank", 2)],
                means,
                ["The papers' notebooks cut the fused matrices of GPT-NeoX and BLOOM at other "
                 "rows: published norms of such models are of those."],
            ),
            table(
                "projections-by-block",
                "Spectral norm by block.",
                [("block", None), *((name.replace("_", " "), 3) for name in MATRICES)],
                by_block,
            ),
        ),
    )  # fmt: skip


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
