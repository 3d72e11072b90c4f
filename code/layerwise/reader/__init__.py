"""A reader's own model, taken through the same steps as the papers' models: the public API.

request         what a reader gives: models, texts and choices, checked before torch is imported
analyze         `layerwise.analyze`: where it runs, what it leaves behind, how the model is loaded
of_checkpoint   the steps in order: fill, analyse, ask, draw, page
measurement     all that is measured on the model, by replicates and random weights too
papers          the papers' models beside it
arrays          `layerwise.measure`: the same from hidden states that somebody has already
pooling         `layerwise.pool`: the means over tokens that `measure` takes
result          what comes of it: documents, tables, figures, a page, and files of all of them
compare         `layerwise.compare`: the result files of several models, as `run_record` says
results_folder  who writes to a folder, and what is replaced there
prepared        a request on a model, once what needs no pass is checked; the room that it needs
foreseen        the warnings that need no pass, and the first statement as it is given
plan            the dry run: everything but the passes, with memory, disk and time
"""
