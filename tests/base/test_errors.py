"""Errors as values: their sentences, where they point, and that they travel between processes."""

from __future__ import annotations

import json
import pickle
import re
import sys
from pathlib import Path

import msgpack
import pytest

from arena.base import enums
from arena.base.enums import FaultKind, IsolationLevel
from arena.base.errors import DefinitionError, GameError
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
