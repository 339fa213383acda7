"""Records as they are stored and exported."""

import json

import pytest

from arena.errors import StoreError
from arena.records import Fault, MatchRecord, SeatReport, TimeControl

RECORD = MatchRecord(
    match=3, tournament="t", game="differences", options={"size": 2}, bots=["a@1", "b@1"], rng_seed=1, encounter=2,
    opening=0, opening_plies=1, actions=[[0, [1, 1]], [1, [2, 2]]], scores=[1, 1], ranks=[1, 2], termination="forfeit",
    faults=[Fault(1, "exit", 1, "exit status 3")], wall_seconds=[None, 0.25], cpu_seconds=[None, 0.125],
    seats=[SeatReport(), SeatReport(0.25, 0.125, 0.5, "exit status 3", "oh")], notes=[[1, "a note"]],
    time_control=TimeControl(clock="cpu"), isolation="landlock", versions={"arena": "0.1.0"}, started_at="2026",
)  # fmt: skip


def stored(**changes):
    return json.loads(json.dumps(RECORD.to_json() | changes))


def test_a_record_comes_back_as_it_was_stored():
    assert MatchRecord.from_json(stored()) == RECORD


@pytest.mark.parametrize(("part", "missing"), [(None, "versions"), ("time_control", "clock"), ("seats", "exit")])
def test_a_field_that_an_earlier_version_did_not_have_has_its_default(part, missing):
    values = stored()
    place = values if part is None else values[part][0] if part == "seats" else values[part]
    del place[missing]
    again = MatchRecord.from_json(values).to_json()
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
