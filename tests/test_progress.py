"""Progress: a bar on a terminal, a line a minute in a log, nothing in a result."""

import io
import re
import threading
from types import SimpleNamespace

import pytest

from layerwise import progress
from layerwise.progress import meter, progress_line, say, spell, track

PATIENCE = 60  # seconds until a test that waits for something gives up


class Stream(io.StringIO):
    """A standard error that is, or is not, a terminal; `wait_for` waits until it shows a text."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal
        self.written = threading.Condition()

    def isatty(self):
        return self.terminal

    def write(self, text):
        with self.written:
            super().write(text)
            self.written.notify_all()
        return len(text)

    def wait_for(self, pattern):
        with self.written:
            found = self.written.wait_for(lambda: re.search(pattern, self.getvalue()), PATIENCE)
        assert found, f"{pattern} is not in {self.getvalue()!r}"


@pytest.fixture
def log(monkeypatch):
    stream = Stream(terminal=False)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    return stream


@pytest.fixture
def terminal(monkeypatch):
    stream = Stream(terminal=True)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setenv("COLUMNS", "100")
    return stream


# --- what is said -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("gpt2", "tokens", 500, 2000, 60.0), "gpt2: 500 of 2000 tokens, 3 min left"),
        (("gpt2", "tokens", 1999, 2000, 1999.0), "gpt2: 1999 of 2000 tokens, 1 s left"),
        (("gpt2", "tokens", 2000, 2000, 61.0), "gpt2: 2000 of 2000 tokens, 0 s left"),
        (("gpt2", "tokens", 0, 2000, 61.0), "gpt2: 0 of 2000 tokens, 1 min so far"),
        (
            ("gpt2", "studies", 2, 4, 4000.0, "h4 in float32"),
            "gpt2: 2 of 4 studies (h4 in float32), 1 h 7 min left",
        ),
        (("LaTeX", "", 0, None, 125.0), "LaTeX: 2 min so far"),
    ],
)
def test_line_of_a_log(arguments, line):
    assert progress_line(*arguments) == line


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (90.1, "2 min"),
        (3569.0, "59 min"),
        (3571.0, "1 h 0 min"),
        (7500.0, "2 h 5 min"),
    ],
)
def test_spell(seconds, words):
    assert spell(seconds) == words


# --- where it is said ---------------------------------------------------------------------------


def test_short_work_is_quiet_in_a_log(log):
    assert list(track("abc", "letters", "letters", 3)) == ["a", "b", "c"]
    with meter("something"):
        pass
    assert log.getvalue() == ""


def test_a_log_has_a_line_a_minute():
    assert progress.QUIET == 60


def test_long_work_speaks_in_a_log(log, monkeypatch):
    monkeypatch.setattr(progress, "QUIET", 0.01)
    for item in track([1, 2, 5], "work", "steps", 8, size=lambda item: item):
        if item == 2:
            log.wait_for(r"work: 1 of 8 steps, \d+ (s|min) left\n")
        if item == 5:
            log.wait_for(r"work: 3 of 8 steps, ")
    assert "\r" not in log.getvalue()


def test_a_note_says_what_is_being_done_now(log, monkeypatch):
    monkeypatch.setattr(progress, "QUIET", 0.01)
    with meter("gpt2", "studies", 2) as advance:
        advance(0, "sweep in float16")
        log.wait_for(r"gpt2: 0 of 2 studies \(sweep in float16\), \d+ s so far\n")
        advance()
        log.wait_for(r"gpt2: 1 of 2 studies, ")


def test_a_terminal_has_a_bar_with_the_time_left(terminal):
    with meter("gpt2", "studies", 4) as advance:
        advance(2, "h4 in float32")
        terminal.wait_for(r"gpt2:  50%\|.*2/4 studies \[\d\d:\d\d<\d\d:\d\d, h4 in float32\]")
    assert terminal.getvalue().endswith("\r")  # the line is cleared
    assert "\n" not in terminal.getvalue()


def test_a_bar_moves_on_while_nothing_is_done(terminal, monkeypatch):
    monkeypatch.setattr(progress, "REDRAWN", 0.01)
    with meter("typesetting"):
        terminal.wait_for(r"typesetting, \d\d:\d\d.*typesetting, \d\d:\d\d")


def test_a_line_stands_beside_the_bar(terminal):
    with meter("gpt2", "studies", 2) as advance:
        advance()
        say("gpt2: h4 failed: overflow")
    assert re.search(r"\r *\rgpt2: h4 failed: overflow\n", terminal.getvalue())


def helpers():
    """The threads that are running, without tqdm's own monitor, which stays."""
    return {one for one in threading.enumerate() if type(one).__name__ != "TMonitor"}


@pytest.mark.parametrize("stream", ["log", "terminal"])
def test_not_shown_says_nothing(stream, request):
    stream = request.getfixturevalue(stream)
    before = helpers()
    for _ in track(range(3), "work", "steps", 3, shown=False):
        assert helpers() == before
    assert stream.getvalue() == ""


@pytest.mark.parametrize("stream", ["log", "terminal"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_runs_on_after_an_error(stream, error, request):
    request.getfixturevalue(stream)
    before, during = helpers(), set()

    def fail():
        during.update(helpers())
        raise error

    with pytest.raises(error):  # noqa: SIM117
        with meter("work", "steps", 3):
            fail()
    assert len(during - before) == 1
    assert helpers() == before
