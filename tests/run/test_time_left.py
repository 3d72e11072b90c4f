"""The clock of a whole run, by hand."""

import pytest

from layerwise.run.doctor.time_left import TRUST, TimeLeft


@pytest.fixture
def clock(monkeypatch):
    """Two stages of an hour, and one that is up to date."""
    seconds = iter([0.0, 1.0, 7200.0])
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    return TimeLeft({"first": 3600.0, "idle": 3600.0, "second": 3600.0}, begun=0.0)


def test_the_time_left_begins_with_the_estimate_and_follows_the_pace(clock):
    """A stage that took a second of its hour has a prior of TRUST seconds against it."""
    assert clock.describe("first") == "00:00 so far, about 3:00:00 left"
    clock.skip("idle")
    pace = (1 + TRUST) / (3600 + TRUST)
    left = int(pace * 3600)
    expected = f"00:01 so far, about {left // 60:02d}:{left % 60:02d} left"
    assert clock.describe("second") == expected


def test_the_stage_that_runs_is_among_what_is_left(clock):
    """So the last stage of a run does not stand at zero."""
    for name in ("first", "idle"):
        clock.describe(name)
    assert not clock.describe("second").endswith(" 00:00 left")
