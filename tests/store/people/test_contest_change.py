"""What is said of a change of a contest."""

import pytest

from arena.store.people.contest import differences
from tests.community.contests.samples import OPEN, SEALED, contest_of


def changed(before=None, **after):
    return differences(contest_of(**(before or {})), contest_of(**(before or {}) | after))


@pytest.mark.parametrize(
    ("after", "sentences"),
    [
        ({}, ()),
        ({"title": '"Cup"'}, ("title: Spring contest → Cup",)),
        ({"description": '"Secret words"'}, ("description: other words",)),
        (
            {"deadline_at": "2027-01-21T00:00:00"},
            ("deadline_at: 2027-01-20 23:59:59 → 2027-01-21 00:00:00",),
        ),
        ({"options": "{ size = 5 }"}, ("options.size: 3 → 5",)),
        ({"time_control": "{ per_action_seconds = 0.5 }"}, ("time_control.per_action_seconds: 2.0 → 0.5",)),
        ({"limits": '{ memory_bytes = "256 MiB" }'}, ("limits.memory_bytes: 536870912 → 268435456",)),
        ({"final": "{ encounters = 7 }"}, ("final.encounters: 2 → 7",)),
        (OPEN, ("results: frozen → open", "frozen_hours: 4 → none")),
        ({"house_bots": None}, ("house_bots: arena:greedy → none",)),
        ({"ladders": "true"}, ("ladders: false → true",)),
    ],
)
def test_each_key_has_its_old_value_and_its_new_one(after, sentences):
    assert changed(**after) == sentences


def test_a_time_of_revealing_comes_and_goes():
    at = {"reveal_at": "2027-01-25T12:00:00"}
    assert changed(SEALED, **at) == ("reveal_at: none → 2027-01-25 12:00:00",)
    assert changed(SEALED | at, reveal_at="2027-01-26T12:00:00") == (
        "reveal_at: 2027-01-25 12:00:00 → 2027-01-26 12:00:00",
    )


def test_who_is_invited_is_not_said_but_how_many_are():
    few = {"entrants": '"invited"', "invited": '["ada"]'}
    assert changed(few, invited='["ada", "eve"]') == ("invited: 1 person → 2 persons",)
    assert changed(few, invited='["eve"]') == ("invited: other people",)


@pytest.mark.parametrize(
    ("key", "value"),
    {
        "name": '"autumn"', "title": '"x"', "description": '"x"', "game": '"plaid"', "opens_at": "2027-01-15T09:00:00",
        "time_zone": '"UTC"', "entrants": '"invited"', "bots_per_author": "2", "frozen_hours": "5",
        "qualification": None,
    }.items(),
)  # fmt: skip
def test_whatever_is_different_is_said(key, value):
    options = {"options": "{}"} if key == "game" else {}
    assert changed(**{key: value} | options) != ()
