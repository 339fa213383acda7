"""Errors as values: their sentences, where they point, and that they travel between processes."""

import json
import pickle
import re
import sys
import tomllib
from pathlib import Path

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.base import enums
from arena.base.enums import FaultKind, IsolationLevel
from arena.base.errors import DefinitionError, GameError
from arena.base.text import MAX_SHOWN_CHARACTERS, counted, toml_text, toml_value
from tests.conftest import ROOT

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
