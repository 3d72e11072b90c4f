"""What several papers need: `names`, `rules`, `questions`, `experiments`; and `terms`, the bounds
and words that both rules and figures use.
"""
