"""Further states that the questions of Papers 1 and 2 read."""

STATES = ("before_norm", "all_tokens", "last_token", "first_token")
