"""Words that travel: text on the wire, in JSON and in messages, members in the code."""

import json
import pickle
import re
from pathlib import Path

import msgpack
import pytest

from arena.base import enums
from arena.base.enums import FaultKind, IsolationLevel

MEMBERS = [
    member
    for kind in (enums.ClockKind, enums.Decision, FaultKind, IsolationLevel, enums.OffTurn, enums.Termination)
    for member in kind
]
PROTOCOL = (Path(__file__).parents[2] / "protocol.md").read_text(encoding="utf-8")


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


def test_every_kind_of_fault_has_a_hint():
    assert all(kind.hint for kind in FaultKind)
