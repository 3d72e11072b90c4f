"""Names alone: files, models, categories, curves, matrices, and where each number stands.

Whoever fills a place and whoever reads it take its name from here, so neither knows the other. It
imports nothing, and holds no rule: a change here asks for another measurement. `result_files` are
the published files, ours, and what notebooks typed; `categories` and `models` what they call
things; `curves` where Paper 2's curves stand; `matrices` the attention's.
"""
