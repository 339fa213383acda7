"""Records as they are stored and exported."""

import inspect
import json
import re
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.base.bot_text import OPERATOR
from arena.base.enums import ClockKind, FaultKind, Termination
from arena.base.errors import StoreError
from arena.base.records import DEFAULT_LIMITS, LIMITS, Fault, Limits, MatchRecord, SeatReport, TimeControl
from arena.base.results import competition_ranks

RECORD = MatchRecord(
    match=3, tournament="t", game="differences", options={"size": 2}, bots=("a@1", "b@1"), rng_seed=1, encounter=2,
    opening=0, opening_plies=1, actions=([0, [1, 1]], [1, [2, 2]]), scores=(1, 1), ranks=(1, 2),
    termination=Termination.FORFEIT, faults=(Fault(seat=1, kind=FaultKind.EXIT, ply=1, detail="exit status 3"),),
    wall_seconds=(None, 0.25), cpu_seconds=(None, 0.125),
    seats=(SeatReport(), SeatReport(wall_seconds=0.25, cpu_seconds=0.125, off_turn_cpu_seconds=0.5, stderr="oh")),
    notes=([1, "a note"],), time_control=TimeControl(clock=ClockKind.CPU), isolation="landlock",
    versions={"arena": "0.1.0"}, started_at="2026",
)  # fmt: skip


def stored(**changes):
    return json.loads(json.dumps(RECORD.to_json(OPERATOR) | changes))


def test_a_record_comes_back_as_it_was_stored_made_of_members_and_tuples_that_can_not_be_changed():
    record = MatchRecord.from_json(stored())
    assert record == RECORD
    assert record.termination is Termination.FORFEIT
    assert record.faults[0].kind is FaultKind.EXIT
    assert record.time_control.clock is ClockKind.CPU
    assert {type(part) for part in (record.bots, record.actions, record.ranks, record.seats)} == {tuple}
    with pytest.raises(FrozenInstanceError):
        record.ranks = (2, 1)


@pytest.mark.parametrize(("part", "missing"), [(None, "versions"), ("time_control", "clock"), ("seats", "exit")])
def test_a_field_that_an_earlier_version_did_not_have_has_its_default(part, missing):
    values = stored()
    place = values if part is None else values[part][0] if part == "seats" else values[part]
    del place[missing]
    again = MatchRecord.from_json(values).to_json(OPERATOR)
    kept = again if part is None else again[part][0] if part == "seats" else again[part]
    assert kept[missing] == {"versions": {}, "clock": "wall", "exit": "running"}[missing]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": 1}, r"the record of match 3 has a field 'colour' that this arena does not know"),
        ({"seats": [{"mood": 1}]}, r"the record of match 3: seats has a field 'mood'"),
        ({"faults": "none"}, r"faults is malformed: expected a list, got str"),
        ({"faults": [1]}, r"faults is malformed: expected a mapping, got int"),
        ({"time_control": []}, r"time_control is malformed: expected a mapping, got list"),
        (
            {"termination": "boredom"},
            r"termination = 'boredom'; expected 'normal', 'forfeit', 'adjudication' or 'void'$",
        ),
        ({"time_controls": [{"clock": "wall"}]}, r"malformed: time_controls and bots differ in number"),
        ({"wall_seconds": [float("nan")]}, r"wall_seconds = .* expected a list, each a number or null"),
        ({"termination": 3}, r"the record of match 3 is malformed: termination = 3; expected 'normal', "),
        (
            {"faults": [{"seat": 0, "kind": "sloth", "ply": 0, "detail": ""}]},
            r"faults is malformed: kind = 'sloth'; expected 'start', 'exit', 'timeout', 'protocol', 'illegal'",
        ),
        ({"time_control": {"clock": "sand"}}, r"clock = 'sand'; expected 'wall' or 'cpu'$"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(changes, message):
    with pytest.raises(StoreError, match=message):
        MatchRecord.from_json(stored(**changes))


@pytest.mark.parametrize("value", [None, 3, [], "record"])
def test_a_record_is_a_mapping(value):
    with pytest.raises(StoreError, match="a record is malformed: expected a mapping, got"):
        MatchRecord.from_json(value)


def test_a_record_without_its_game_is_refused():
    values = stored()
    del values["game"]
    with pytest.raises(StoreError, match="the record of match 3 has no field 'game'"):
        MatchRecord.from_json(values)


def test_each_limit_has_a_default_within_its_bounds_and_a_description():
    described = re.findall(r"^    (\w+): ", inspect.getdoc(Limits).partition("Attributes:")[2], re.MULTILINE)
    assert described == list(LIMITS)
    for name, limit in LIMITS.items():
        assert getattr(DEFAULT_LIMITS, name) == limit.default
        assert limit.default is None or limit.minimum <= limit.default <= limit.maximum


@pytest.mark.parametrize(
    ("name", "used", "allowed", "sentence"),
    [
        ("memory_bytes", 2**28, 2**27, "256 MiB of memory; memory_bytes allows 128 MiB"),
        ("memory_bytes", 2**27 + 1, 2**27, "134,217,729 bytes of memory; memory_bytes allows 134,217,728 bytes"),
        ("processes", 64, 64, "64 processes and threads, and more is refused; processes allows 64"),
        ("cpu_seconds", 0.656, 0.6, "0.66 s of CPU time in this match; cpu_seconds allows 0.60 s"),
        ("file_bytes", 8192, 4096, "a file of 8,192 bytes; file_bytes allows 4,096 bytes"),
    ],
)
def test_a_broken_limit_is_reported_with_both_amounts(name, used, allowed, sentence):
    assert LIMITS[name].broken_by(used, allowed) == sentence


@given(st.lists(st.integers(0, 5)))
@example([1, 2, 2, 4])
def test_a_rank_is_one_more_than_how_many_are_better(keys):
    """The standard competition ranking, "1224" (https://en.wikipedia.org/wiki/Ranking)."""
    assert competition_ranks(keys) == [1 + sum(other < key for other in keys) for key in keys]
