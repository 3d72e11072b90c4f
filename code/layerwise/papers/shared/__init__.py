"""The parts that several papers share.

`names`, `rules`, `questions`; `roles`, in which rules ask for numbers; and `terms`,
the bounds and words that both rules and figures use.
"""
