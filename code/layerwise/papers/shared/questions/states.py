"""The states that several papers' questions read besides."""

STATES = ("before_norm", "all_tokens", "last_token", "first_token")
