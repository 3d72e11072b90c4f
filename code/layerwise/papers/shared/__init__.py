"""What several papers need: `names`, `rules`, `questions` and `experiments`."""
