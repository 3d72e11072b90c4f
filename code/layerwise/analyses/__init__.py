"""Analyses: values of one model -> a document with the keys of the published result file.

Each module has `analyse`, and `PARAMETERS`, the names of the settings it takes.
"""
