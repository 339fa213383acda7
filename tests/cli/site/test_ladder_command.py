import pytest

from arena.store.home import open_people
from arena.store.people.directors import DesiredState, DirectorState, RunFigures
from tests.cli.calls import as_json, refusal


@pytest.fixture
def people(home):
    with open_people(home) as opened:
        opened.directors.report_state("open", "ladder", DirectorState.PLAYING, "", RunFigures(recorded=12, playing=1))
        yield opened


def test_the_ladders_are_listed_with_what_each_is_doing(arena, people):
    (row,) = as_json(arena, "ladder", "list")
    assert (row["tournament"], row["state"], row["wish"], row["recorded"]) == ("open", "playing", "play", 12)


def test_a_ladder_is_paused_drained_and_resumed_with_a_reason(arena, people):
    for word, desired in (("pause", DesiredState.PAUSE), ("drain", DesiredState.DRAIN), ("resume", DesiredState.PLAY)):
        assert arena("ladder", word, "open", "--reason", f"To {word}.")[0] == 0
        assert people.directors.desired_state("open").state is desired
    assert [(line.by, line.action, line.reason) for line in people.log.lines(hidden=())] == [
        ("the command line", "resumed", "To resume."),
        ("the command line", "asked to drain", "To drain."),
        ("the command line", "paused", "To pause."),
    ]


def test_it_waits_until_nothing_is_played_or_says_that_it_still_is(arena, people):
    code, _, errors = arena("ladder", "pause", "open", "--reason", "x", "--wait", "1")
    assert (code, errors) == (1, "open still plays after 1 second.\n")
    people.directors.report_state("open", "ladder", DirectorState.DRAINED)
    assert arena("ladder", "drain", "open", "--reason", "x", "--wait", "600")[0] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("pause", "other", "--reason", "x"), "'other': no program of this site supervises it"),
        (("resume", "open", "--reason", "x"), "'open' is not paused"),
        (("pause", "open", "--reason", " "), "reason"),
        (("pause", "open"), "--reason"),
        (("stop", "open"), "arena ladder 'stop'"),
    ],
)
def test_what_is_refused_changes_nothing(arena, people, words, sentence):
    assert sentence in refusal(arena, "ladder", *words)
    assert people.directors.desired_state("open") is None
    assert people.log.lines(hidden=()) == []


def test_without_a_ladder_it_says_so(arena):
    assert "No ladder was kept going here yet" in arena("ladder", "list")[1]
