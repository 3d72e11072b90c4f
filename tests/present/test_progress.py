"""Progress: a bar on a terminal, a line a minute in a log, nothing in a result."""

import io
import re
import threading
from types import SimpleNamespace

import pytest

from layerwise import progress
from layerwise.progress import meter, say, step, track

PATIENCE = 60  # seconds until a test that waits for something gives up


class Stream(io.StringIO):
    """A standard error that is a terminal or not; `wait_for` waits until it shows a text."""

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
def stream(request, monkeypatch):
    stream = Stream(terminal=request.param == "terminal")
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(progress, "QUIET", 0.01)
    monkeypatch.setattr(progress, "REDRAWN", 0.01)
    return stream


log = pytest.mark.parametrize("stream", ["log"], indirect=True)
terminal = pytest.mark.parametrize("stream", ["terminal"], indirect=True)
either = pytest.mark.parametrize("stream", ["log", "terminal"], indirect=True)


@log
def test_a_log_has_plain_lines_with_the_time_left(stream):
    for item in track("abc", "work", "steps", 3):
        if item == "b":
            stream.wait_for(r"work: 1 of 3 steps, \d\d:\d\d so far, \d\d:\d\d left\n")
        if item == "c":
            stream.wait_for(r"work: 2 of 3 steps, ")
    with meter("gpt2", "studies", 2) as advance:
        advance(0, "sweep in float16")
        stream.wait_for(r"gpt2: 0 of 2 studies, .* \? left, sweep in float16\n")
    with meter("LaTeX"):
        stream.wait_for(r"LaTeX: \d\d:\d\d so far\n")
    assert "\r" not in stream.getvalue()


@terminal
def test_a_terminal_has_a_bar_that_moves_on_by_itself(stream):
    with meter("gpt2", "studies", 4) as advance:
        advance(2, "h4 in float32")
        bar = r"gpt2:  50%\|.*2/4 studies \[\d\d:\d\d<\d\d:\d\d, h4 in float32\]"
        stream.wait_for(f"{bar}.*{bar}")
    assert stream.getvalue().endswith("\r")  # the line is cleared
    assert "\n" not in stream.getvalue()
    with meter("gpt2", "studies", 2) as advance:
        advance()
        say("gpt2: h4 failed: overflow")
    assert re.search(r"\r *\rgpt2: h4 failed: overflow\n", stream.getvalue())


def helpers():
    """The threads that are running, without tqdm's own monitor, which stays."""
    return {thread for thread in threading.enumerate() if type(thread).__name__ != "TMonitor"}


@log
def test_another_process_than_the_first_says_nothing(stream, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    before = helpers()
    with meter("work", "steps", 3) as advance:
        advance()
        assert helpers() == before
    assert stream.getvalue() == ""


@either
def test_nothing_runs_on_after_an_error(stream):
    before, during = helpers(), set()

    def fail():
        during.update(helpers())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # noqa: SIM117
        with meter("work", "steps", 3):
            fail()
    assert len(during - before) == 1
    assert helpers() == before


@log
def test_a_step_is_said_before_the_work_and_only_while_it_lasts(stream):
    with step(3, 8, "draw 1 of 1"), meter("pairs", "layers", 9):
        stream.wait_for("step 3 of 8, draw 1 of 1: pairs: 0 of 9 layers")
    with meter("pairs", "layers", 7):
        stream.wait_for("(?m)^pairs: 0 of 7 layers")
