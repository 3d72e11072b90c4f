"""Verdicts, statistics and figures -> what people read; every text of others is escaped.

values, records, search, pictures     what every page shows: read and checked
html, page                            the HTML page: one file, offline
latex, typed_numbers, paper, typeset  the LaTeX paper: templates, the gate, the folder, the PDF
trace                                 one claim: its rule, its inputs, its number computed now
own_model                             pages of a reader's own models: claims, figures, tables
"""
