"""Verdicts, statistics and figures -> what people read; every text of others is escaped.

values, records, search, pictures           what every page shows: read and checked
elements, range_picture                     estimates on the range of a claim, drawn
strip, strip_picture                        the central claims at a glance: text, SVG, PDF
html, page                                  the HTML page: one file, offline
latex, typed_numbers, paper, typeset, pdfs  the LaTeX paper: templates, the gate, folder, PDFs
tables, claim_list, run_summary             tables in Python and CSV; claims on the terminal
claim_table                                 `layerwise.claims`: the papers' claims as a table
trace                                       one claim: its rule, its inputs, its number computed now
figures                                     what all figures share: style, SVG, files
publishing                                  page and LaTeX of a paper of one's own
terminal                                    tables and colours, plain where nobody looks
"""
