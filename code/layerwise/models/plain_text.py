"""How well a model predicts plain English: a broken checkpoint shows there, its states do not.

Short statements are hard to predict for any model. On a paragraph a trained one is right more
often, and weights in a wrong order, say queries and keys permuted by a conversion, cost it nats.
"""

from dataclasses import replace

import torch

from layerwise.files import n_processes
from layerwise.models.fitting import is_out_of_memory
from layerwise.models.forward import forward, mean_token_nll
from layerwise.models.load import Checkpoint, attention_kernel
from layerwise.models.token_ids import tokenize

PARAGRAPH = (
    "The harbour was quiet in the early morning. A few boats had come in during the night, and "
    "their crews were still asleep below deck. On the quay an old man swept the steps of the "
    "market hall, as he had done every day for thirty years, and a dog lay in the sun and watched "
    "him. By eight o'clock the first customers would arrive, and the square would be full of noise."
)
FEWEST = 48  # of its tokens: in a model that takes fewer there is no number


def nll_of_paragraph(checkpoint: Checkpoint) -> float | None:
    """Return the mean NLL of `PARAGRAPH`, in nats a token; None where the model cannot take it.

    Of a model that takes fewer tokens it is that of the first ones. It is asked when all passes are
    done, so nothing that fails here may end the run.

    Args:
        checkpoint: with passes that were probed.
    """
    try:
        return _nll(checkpoint)
    except Exception as error:
        if n_processes() > 1 and is_out_of_memory(error):  # others would wait for this one
            raise
        return None


def _nll(checkpoint: Checkpoint) -> float | None:
    most = checkpoint.declaration.n_positions
    (ids,) = tokenize(replace(checkpoint.declaration, n_positions=None), "statements", [PARAGRAPH])
    if most is not None and most < min(FEWEST, len(ids)):
        return None
    tokens = torch.from_numpy(ids[:most]).long()[None].to(checkpoint.model.device)
    kernel = checkpoint.kernel if checkpoint.passes is None else checkpoint.passes.kernel
    with torch.inference_mode(), attention_kernel(checkpoint.model, kernel):
        passed = forward(checkpoint, tokens, lambda layer, hidden: None)
        return float(mean_token_nll(checkpoint, passed, tokens))
