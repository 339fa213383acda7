"""Messages from bots: what is accepted, and the sentence for everything else."""

import pytest

from arena.base.errors import BotError
from arena.protocol.messages import Wants, read_action, read_ready


def test_ready_may_say_no_more_than_it_must_and_unknown_fields_are_ignored():
    ready = read_ready({"type": "ready", "protocol": 1})
    assert ready.wants == Wants(legal=True, observation=True, updates=False)
    assert (ready.name, ready.version, ready.author) == ("", "", "")
    wants = {"legal": False, "updates": True, "weather": "sunny"}
    ready = read_ready({"type": "ready", "protocol": 1, "name": "x", "wants": wants, "colour": "blue"})
    assert ready.wants == Wants(legal=False, observation=True, updates=True)
    assert ready.name == "x"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"type": "action", "ply": 0, "action": "+"}, "expected a 'ready' message, got 'action'"),
        ({"type": "ready"}, "ready.protocol = None: this arena speaks version 1"),
        ({"type": "ready", "protocol": 2}, "ready.protocol = 2: this arena speaks version 1"),
        ({"type": "ready", "protocol": True}, "ready.protocol = True"),
        ({"type": "ready", "protocol": 1, "name": 5}, "ready.name = 5"),
        ({"type": "ready", "protocol": 1, "version": "x" * 101}, "at most 100 characters"),
        ({"type": "ready", "protocol": 1, "wants": []}, "ready.wants = []: expected a map"),
        ({"type": "ready", "protocol": 1, "wants": {"legal": 1}}, "ready.wants.legal = 1: expected true or false"),
    ],
)
def test_a_bad_ready_is_a_protocol_fault_that_names_the_field(message, sentence):
    with pytest.raises(BotError) as raised:
        read_ready(message)
    assert raised.value.kind == "protocol"
    assert sentence in raised.value.detail


def test_an_action_is_given_with_its_note():
    assert read_action({"type": "action", "ply": 3, "action": [1, 2]}, 3) == ([1, 2], None)
    assert read_action({"type": "action", "ply": 3, "action": "+", "note": "why not", "x": 1}, 3) == ("+", "why not")


@pytest.mark.parametrize(
    ("message", "kind", "sentence"),
    [
        ({"type": "ready", "protocol": 1}, "protocol", "expected an 'action' message, got 'ready'"),
        ({"type": "action", "action": "+"}, "protocol", "action.ply = None: expected 3, the ply of the question"),
        ({"type": "action", "ply": 2, "action": "+"}, "protocol", "action.ply = 2: expected 3, the ply of"),
        ({"type": "action", "ply": 3.0, "action": "+"}, "protocol", "action.ply = 3.0"),
        ({"type": "action", "ply": 3}, "protocol", "no field 'action'"),
        ({"type": "action", "ply": 3, "action": 0, "note": [1]}, "protocol", "expected a string or a map"),
        ({"type": "action", "ply": 3, "action": 0, "note": "x" * 4096}, "limit", "bytes; note_bytes allows 4096"),
    ],
)
def test_a_bad_action_is_a_fault_that_names_the_field(message, kind, sentence):
    with pytest.raises(BotError) as raised:
        read_action(message, 3)
    assert raised.value.kind == kind
    assert sentence in raised.value.detail
