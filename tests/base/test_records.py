import inspect
import json
import pickle
import re
import sys
import tomllib
from dataclasses import FrozenInstanceError
from pathlib import Path

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.base import enums
from arena.base.bot_text import OPERATOR
from arena.base.enums import ClockKind, FaultKind, IsolationLevel, Termination
from arena.base.errors import DefinitionError, GameError, StoreError
from arena.base.records import DEFAULT_LIMITS, LIMITS, Fault, Limits, MatchRecord, SeatReport, TimeControl
from arena.base.results import competition_ranks
from arena.base.text import MAX_SHOWN_CHARACTERS, counted, toml_text, toml_value
from tests.conftest import ROOT

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
        ({"faults": "none"}, r"faults is malformed: expected a list, got a text"),
        ({"faults": [1]}, r"faults is malformed: expected an object, got a number"),
        ({"time_control": []}, r"time_control is malformed: expected an object, got a list"),
        (
            {"termination": "boredom"},
            r"termination = 'boredom'; expected 'normal', 'forfeit', 'adjudication' or 'void'$",
        ),
        ({"time_controls": [{"clock": "wall"}]}, r"malformed: time_controls and bots differ in number"),
        ({"wall_seconds": [float("nan")]}, r"wall_seconds = .* expected a list, each a number or null"),
        ({"termination": None}, r"the record of match 3 is malformed: termination = null; expected 'normal', "),
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
    with pytest.raises(StoreError, match="a record is malformed: expected an object, got"):
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


GAME_FILE = """\
def apply(state):
    return helper(state)

def helper(state):
    return {1: 2}[state]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "hexgame.py").write_text(GAME_FILE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import hexgame  # type: ignore[import-not-found]

    yield hexgame
    del sys.modules["hexgame"]


def raised_by(call, *arguments) -> Exception:
    try:
        call(*arguments)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_an_exception_of_a_game_is_one_sentence_with_the_line_of_its_author(module) -> None:
    error = GameError.raised("hexgame:Hex", "apply", raised_by(module.apply, 3), "hexgame")
    assert str(error) == "the game 'hexgame:Hex' is at fault: apply raised KeyError: 3 (hexgame.py:5)"
    module.helper = lambda state: pickle.loads(b"")  # a library raises
    assert GameError.raised("hexgame:Hex", "apply", raised_by(module.apply, 3), "hexgame").place == "hexgame.py:2"


def test_a_text_of_many_lines_becomes_one_short_line_and_without_a_frame_there_is_no_place() -> None:
    error = GameError.raised("a:B", "apply", ValueError("one\ntwo\n" + 1000 * "x"), "a")
    assert str(error).startswith("the game 'a:B' is at fault: apply raised ValueError: one two xxx")
    assert len(str(error)) < 260
    error = GameError.raised("a:B", "apply", AssertionError(), "a")
    assert str(error) == "the game 'a:B' is at fault: apply raised AssertionError"


def test_errors_of_games_and_mistakes_travel_between_processes():
    error = GameError("a:B", "apply", "raised KeyError: 3", "a.py:7")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "the game 'a:B' is at fault: apply raised KeyError: 3 (a.py:7)"
    assert vars(again) == vars(error)
    error = pickle.loads(
        pickle.dumps(DefinitionError.of_mistakes("t.toml", ["a: missing", "b: missing", "a: missing"]))
    )
    assert str(error) == "t.toml: a: missing; b: missing"
    assert error.lines == ("t.toml: a: missing", "t.toml: b: missing")


# Words that travel: text on the wire, in JSON and in messages, members in the code.


MEMBERS = [
    member
    for kind in (enums.ClockKind, enums.Decision, FaultKind, IsolationLevel, enums.OffTurn, enums.Termination)
    for member in kind
]
PROTOCOL = (ROOT / "protocol.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("member", MEMBERS, ids=repr)
def test_a_member_travels_as_its_text(member):
    text = member.value
    assert type(text) is str
    assert (f"{member}", json.dumps({member: [member]})) == (text, json.dumps({text: [text]}))
    assert msgpack.packb([member]) == msgpack.packb([text])
    assert pickle.loads(pickle.dumps(member)) is member


def test_protocol_md_says_of_each_kind_of_fault_what_the_code_says():
    rows = re.findall(r"^\| (.*?) \| `(\w+)` \| forfeit", PROTOCOL, re.MULTILINE)
    assert {kind: meaning for meaning, kind in rows} == {kind: kind.meaning for kind in FaultKind}
    assert all(kind.hint for kind in FaultKind)


@pytest.mark.parametrize("text", ["1 encounter", "0 encounters", "2 matches", "3 plies", "2 days", "12,345 processes"])
def test_a_count_stands_with_its_noun(text):
    count, noun = text.split()
    nouns = {"matches": "match", "plies": "ply", "processes": "process"}
    assert counted(int(count.replace(",", "")), nouns.get(noun, noun.removesuffix("s"))) == text


VALUES_OF_TOML = [
    "1", "-5", "1.5", "inf", "nan", "true", "2020-01-01", "07:32:00", "1979-05-27T07:32:00+00:00", "'a'", '"it\'s"',
    "[1, 2]", "{}", "[]", "{ a = 1, b = { c = [true] } }", '"\\u0000"', '"\\n"', "1e+100",
]  # fmt: skip


@pytest.mark.parametrize("text", VALUES_OF_TOML)
def test_a_value_is_shown_as_toml_has_it(text):
    assert toml_value(tomllib.loads(f"x = {text}")["x"]) == text


@pytest.mark.parametrize("text", [f"'{'x' * 500}'", f"[{'[' * 50}{']' * 50}]", f"[{'1,' * 500}]", "9" * 200])
def test_a_long_value_is_cut(text):
    assert len(toml_value(tomllib.loads(f"x = {text}")["x"])) <= MAX_SHOWN_CHARACTERS


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(VALUES)
@example(["\x7f\x00\n", 'it\'s "so"', "\u2028"])
def test_what_is_written_as_toml_is_read_as_it_was(value):
    assert tomllib.loads(f"x = {toml_text(value)}")["x"] == value


def test_toml_has_no_null():
    with pytest.raises(ValueError, match="no null"):
        toml_text({"a": [None]})
