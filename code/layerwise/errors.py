"""The one error a user of this package should ever see."""


class LayerwiseError(Exception):
    """A rule was broken: the message states the rule, what came, and the likely fix.

    The command line prints the message without a traceback and exits with code 2.
    """


class TryAgainError(LayerwiseError):
    """What stood in the way may be gone another time: the network was not there, the disk full."""


class TextError(LayerwiseError):
    """A text cannot be used: statement or prompt `number`, counted from 0 in the order given."""

    def __init__(self, message: str, kind: str, number: int) -> None:
        super().__init__(message)
        self.kind, self.number = kind, number
