"""Statements in a chat template: the text that the tokenizer is given.

The template notebook of Paper 2 rendered one user message to text and tokenised that text once
more, special tokens on. The rendered text already begins with BOS, so the model saw two of them,
and the mean over positions 1.. held the second, the system header, the role headers and the end
of the turn. `published` is that text; `once` is the same without its own BOS, so that the
tokenizer's is the only one. Both are plain text: the tokenizer is called as for any statement.
"""

from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.inputs.models import Template

NONE, PUBLISHED, ONCE = "none", "published", "once"
# how many BOS the tokenised text begins with
TEMPLATES: dict[Template, int | None] = {"none": None, "published": 2, "once": 1}

# Llama 3.1's template writes today's date into its system header. The notebook passed none; the
# template's own default is said here, so that no later version of it can change a text.
DATE = "26 Jul 2024"


def render(tokenizer: Any, statement: str, template: str) -> str:
    """A statement as the only message of a user, without the header that would start an answer.

    Raises:
        LayerwiseError: for an unknown template, or a tokenizer that has none or puts another
            number of BOS tokens before its text.
    """
    if template not in TEMPLATES:
        raise LayerwiseError(
            f"a chat template is one of {', '.join(TEMPLATES)}, found {template!r}"
        )
    wanted = TEMPLATES[template]
    if wanted is None:
        return statement
    if not getattr(tokenizer, "chat_template", None):
        raise LayerwiseError(
            f"template {template!r} needs a tokenizer with a chat template, this one has none; "
            "use an instruction-tuned model, or template 'none'"
        )
    message = [{"role": "user", "content": statement}]
    text = str(tokenizer.apply_chat_template(message, tokenize=False, date_string=DATE))
    if template == ONCE:
        text = text.removeprefix(tokenizer.bos_token)
    ids = list(tokenizer(text).input_ids)
    found = next((n for n, one in enumerate(ids) if one != tokenizer.bos_token_id), len(ids))
    if found != wanted:
        raise LayerwiseError(
            f"template {template!r} stands for texts that begin with {wanted} BOS, this "
            f"tokenizer's begin with {found}; its template or its special tokens are not "
            "those of the published runs"
        )
    return text
