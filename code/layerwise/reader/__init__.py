"""A reader's own model, taken through the same steps as the papers' models: the public API.

request         what a reader gives: texts and choices, checked before torch is imported
analyze         `layerwise.analyze`: where it runs, what it leaves behind, how the model is loaded
of_checkpoint   the steps in order: fill, analyse, ask, draw, page
papers          the papers' models beside it
several         several models in one call: a folder for each
arrays          `layerwise.measure`: the same of hidden states that somebody has already
result          what comes of it: documents, tables, figures, a page, and files of all of them
compare         `layerwise.compare`: the result files of several models, as `run_record` says
results_folder  who writes to a folder, and what is replaced there
checked         what is checked of a model before any pass, and the room that a run needs
plan            the dry run: everything but the passes; `duration` says how long these will take
"""
