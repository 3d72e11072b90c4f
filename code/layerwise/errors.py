"""The one error a user of this package should ever see."""


class LayerwiseError(Exception):
    """A rule was broken: the message states the rule, what came, and the likely fix.

    The command line prints the message without a traceback and exits with code 2.
    """
