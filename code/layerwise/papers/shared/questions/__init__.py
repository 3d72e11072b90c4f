"""The choices of method that the papers' questions share, in words and as measured."""
