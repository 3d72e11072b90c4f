"""The papers' experiments: which text, measured how, fills which place of which published file.

An experiment looks at one model and gives fragments: numbers by file and JSON Pointer, as
published. It fills the lowest level alone: what follows from other numbers of a file is left to
the rules, which no module here imports.

table            every experiment of `models.yaml`, and the two functions that run them
pairs            Papers 1 and 2: the values of an extraction in the files of the papers
documents        one model's values as whole documents, every interval drawn once
choices          the same under the choices that the papers did not make
gains, streams, matrices, attention_sheaf
                 Paper 3: what is measured text by text, and of weights
reader           a reader's model: whole documents in files of its own
own_weights      a reader's model: the gains and the spectral norms of Paper 3
"""
