"""How well a model predicts plain English: a broken checkpoint shows there, its states do not.

Short statements are hard to predict for any model. On a paragraph a trained one is right more
often, and weights in a wrong order, say queries and keys permuted by a conversion, cost it nats.
"""

import torch

from layerwise.errors import LayerwiseError
from layerwise.models.forward import forward, mean_token_nll
from layerwise.models.load import Checkpoint, attention_kernel
from layerwise.models.token_ids import tokenize

PARAGRAPH = (
    "The harbour was quiet in the early morning. A few boats had come in during the night, and "
    "their crews were still asleep below deck. On the quay an old man swept the steps of the "
    "market hall, as he had done every day for thirty years, and a dog lay in the sun and watched "
    "him. By eight o'clock the first customers would arrive, and the square would be full of noise."
)


def nll_of_paragraph(checkpoint: Checkpoint) -> float | None:
    """Return the mean NLL of `PARAGRAPH`, in nats a token; None where the model cannot take it.

    Args:
        checkpoint: with passes that were probed.
    """
    try:
        (ids,) = tokenize(checkpoint.declaration, "statements", [PARAGRAPH])
    except LayerwiseError:
        return None
    tokens = torch.from_numpy(ids).long()[None].to(checkpoint.model.device)
    kernel = checkpoint.kernel if checkpoint.passes is None else checkpoint.passes.kernel
    with torch.inference_mode(), attention_kernel(checkpoint.model, kernel):
        passed = forward(checkpoint, tokens, lambda layer, hidden: None)
        return float(mean_token_nll(checkpoint, passed, tokens))
