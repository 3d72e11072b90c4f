"""Paper 3's experiments: which text, measured how, fills which place of which published file.

`table` names every experiment of `models.yaml` (`experiments: {sweep: float16, ...}`) and runs it.
An experiment looks at one model and gives fragments: numbers by file and JSON Pointer, as
published. It fills the lowest level alone: what follows from other numbers of a file is left to
the rules. Read `table` first, then the modules it takes its measures from; `own_weights` measures
the same of a reader's model.
"""
