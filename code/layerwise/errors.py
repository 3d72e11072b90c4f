"""The one error a user of this package should ever see, and what the system refuses as one."""

import errno
import re

LONGEST = 4000  # characters of a message
_PASSWORD = re.compile(r"(?<=://)[^/\s]*@")  # in an address
_FIXES = {
    "make room, or name a place on another disk, then run it again": (
        {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    ),
    "make it readable, and its folder writable, for this user, or name another place": (
        {errno.EACCES, errno.EPERM, errno.EROFS}
    ),
    "name a shorter path": {errno.ENAMETOOLONG},
    "a link leads in a circle, or stands where a file is written: name the place itself": (
        {errno.ELOOP}
    ),
    "something else has that name: move it away, or name another place": (
        {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY}
    ),
    "check the path": {errno.ENOENT},
}


class LayerwiseError(Exception):
    """A rule was broken: the message states the rule, what came, and the likely fix.

    The command line prints the message without a traceback and exits with code 2.
    """

    def __init__(self, message: object) -> None:
        said = without_password(str(message))
        if len(said) > LONGEST:  # it quotes a key of megabytes; the fix stands last
            said = f"{said[: LONGEST // 2]} ... {said[-LONGEST // 4 :]}"
        super().__init__(said)


class TryAgainError(LayerwiseError):
    """What stood in the way may be gone another time: the network was not there, the disk full."""


class UnreachedError(TryAgainError):
    """There is no way to the hub: to ask it of another model is no use."""


class TextError(LayerwiseError):
    """A text cannot be used: statement or prompt `number`, counted from 0 in the order given."""

    def __init__(self, message: str, kind: str, number: int) -> None:
        super().__init__(message)
        self.kind, self.number = kind, number


def without_password(text: str) -> str:
    """The text, with the user and password of every address left out."""
    return _PASSWORD.sub("...@", text)


def refused(error: OSError) -> str:
    """What the operating system refused, as a sentence: the place, its words, the fix."""
    fixes = [fix for fix, numbers in _FIXES.items() if error.errno in numbers]
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}; {(*fixes, 'mend that, then run it again')[0]}"
