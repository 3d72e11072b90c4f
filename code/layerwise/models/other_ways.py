"""The way on for a model that is not measured as it is, in the words of an error.

What stands between backticks are statements, in their order, which run as they stand; the second
part of them is for each statement of the pairs, A sides first. The tests run every one.
"""

# AutoTokenizer builds some tokenizers from code of its own and splits some texts otherwise.
IDS = (
    "`tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)` (the ids of "
    "tokenizer.json as it is, which AutoTokenizer may change)"
)
_POOLED = (
    "`states.append(layerwise.pool(torch.stack(out.hidden_states)))`",
    "`layerwise.measure(numpy.concatenate(states, axis=1), {nll}, pairs)`",
)
ANY_OTHER = (
    "any other model is measured from its hidden states: `torch.set_grad_enabled(False)`, "
    f"{IDS}, for each statement alone "
    '`ids = tokenizer(text, return_tensors="pt").input_ids`, '
    "`out = model(ids, labels=ids, output_hidden_states=True)`, "
    f"{_POOLED[0]} and `nll.append(out.loss.item())`, then {_POOLED[1].format(nll='nll')}"
)

OF_GGUF = (
    "a GGUF file is read by transformers (with the package gguf), and given as a loaded model: "
    "`model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name)`, "
    "`tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=name)`, "
    "`layerwise.analyze(model, pairs, prompts, tokenizer=tokenizer)`"
)

LOADED = (
    "a folder has weights as numbers of 16 bits or more, which are compared with config.json: take "
    "the checkpoint that these came from, or load the model and give it, which is then measured as "
    "it runs: `model = transformers.AutoModelForCausalLM.from_pretrained(folder)`, "
    f"{IDS}, "
    "`layerwise.analyze(model, pairs, prompts, tokenizer=tokenizer)`"
)


def as_embedding_model(part: str = "") -> str:
    """Return the way on for a model that predicts no next token.

    Arguments:
        part: what gives the part that reads text, a call on the model.
    """
    whose = "its encoder is" if part else "it is"
    return (
        f"if it reads text, {whose} measured as an embedding model, asymmetry without preference: "
        f"`torch.set_grad_enabled(False)`, {IDS}, "
        f"`model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32){part}`, "
        "for each statement alone "
        '`ids = tokenizer(text, return_tensors="pt").input_ids`, '
        "`out = model(ids, output_hidden_states=True)` and "
        f"{_POOLED[0]}, then {_POOLED[1].format(nll='None')}"
    )
