import json
from dataclasses import replace

import pytest

from arena.base.definition import Definition, GameChoice
from arena.base.errors import StoreError
from arena.base.records import Bot, Limits, TimeControl
from arena.base.stored import from_json_text
from arena.store.results.statements import record_from, stored_bots_and_ranks
from arena.store.results.values import StoredTournament
from arena.tournament.definition import load_definition
from tests.conftest import ROOT

TOURNAMENTS = sorted((ROOT / "tournaments").glob("*.toml"))

COMMAND = ("/usr/bin/python3", "/home/a/one.py", "--fast")
BOT = Bot(name="one", version="1", command=COMMAND, directory="/home/a", digest="00ff", own_files=COMMAND[1:2])
DEFINITION = Definition(
    name="t",
    games=(GameChoice(game="differences", options={"size": 4}, players=2),),
    entrants=(BOT, replace(BOT, name="two")),
)


def stored(definition=DEFINITION, **changes):
    return json.loads(json.dumps(definition.to_json() | changes))


@pytest.mark.parametrize("path", TOURNAMENTS, ids=lambda path: path.stem)
def test_a_definition_comes_back_as_it_was_stored(path):
    definition = load_definition(path)
    again = Definition.from_json(definition.name, stored(definition))
    assert again.identity() == definition.identity()
    assert [bot.label for bot in again.entrants] == [bot.label for bot in definition.entrants]
    assert [bot.command for bot in again.entrants] == [bot.command for bot in definition.entrants]
    assert (again.time_control, again.limits) == (definition.time_control, definition.limits)


@pytest.mark.parametrize(
    ("part", "missing"),
    [("limits", "scratch_bytes"), ("time_control", "off_turn"), (None, "fresh_bots"), (None, "settings")],
)
def test_a_field_that_an_earlier_version_did_not_have_has_its_default(part, missing):
    values = stored()
    del (values[part] if part else values)[missing]
    assert Definition.from_json("t", values) == DEFINITION


def test_what_the_first_version_stored_is_enough():
    entrant = {"name": "one", "version": "1", "content": "", "args": ["a.py"]}
    game = {"game": "differences", "options": {}, "players": 2}
    definition = Definition.from_json("t", {"games": [game], "entrants": [entrant]})
    assert definition.entrants == (Bot(name="one", version="1", command=("", "a.py"), directory=""),)
    assert (definition.limits, definition.time_control) == (Limits(), TimeControl())


def test_a_bot_is_the_same_wherever_its_files_are_and_whoever_wrote_it():
    command = ("/opt/python3", "/srv/b/one.py", "--fast")
    moved = replace(BOT, directory="/srv/b", own_files=("/srv/b/one.py",), command=command)
    assert replace(DEFINITION, entrants=(moved, replace(moved, name="two"))).identity() == DEFINITION.identity()
    named = replace(DEFINITION, entrants=(replace(BOT, author="Ada"), replace(BOT, name="two")))
    assert named.identity() == DEFINITION.identity()
    assert [bot.author for bot in Definition.from_json("t", stored(named)).entrants] == ["Ada", ""]


OTHER_BOTS = [
    {"command": (*BOT.command, "--slow")},
    {"command": (BOT.command[0], "/home/a/other.py", "--fast")},
    {"digest": "00fe"},
    {"version": "2"},
    {"build": ("make",)},
    {"external_game": ("my_game", "/home/a")},
]
OTHER_RULES = [
    {"encounters": 2},
    {"limits": Limits(processes=7)},
    {"time_control": TimeControl(clock="cpu")},
    {"isolation": "limits"},
    {"settings": {"rounds": 3}},
    *({"entrants": (replace(BOT, **changes), DEFINITION.entrants[1])} for changes in OTHER_BOTS),
]


@pytest.mark.parametrize("changes", OTHER_RULES)
def test_another_bot_and_other_rules_are_another_tournament(changes):
    assert replace(DEFINITION, **changes).identity() != DEFINITION.identity()


def test_when_a_ladder_stops_is_no_part_of_what_it_is():
    ladder = replace(DEFINITION, format="ladder", settings={"matches": 10, "hours": 1.0, "margin_95": 2.0})
    assert ladder.identity() == replace(ladder, settings={}, workers=3, name="u").identity()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": 1}, r"tournament 't': its stored definition has a field 'colour' that this arena does not know"),
        ({"limits": {"threads": 1}}, r"stored definition: limits has a field 'threads' .*; a newer arena is needed"),
        ({"entrants": [{"name": "a", "version": "1", "soul": 1}]}, r"entrants has a field 'soul'"),
        ({"entrants": [{"name": "a"}]}, r"entrants has no field 'version'"),
        ({"entrants": {}}, r"entrants is malformed: expected a list, got an object"),
        ({"games": 3}, r"games is malformed: expected a list, got a number"),
        ({"games": [3]}, r"games is malformed: expected an object, got a number"),
        ({"places": []}, r"places is malformed: expected an object, got a list"),
        ({"time_control": None}, r"time_control is malformed: expected an object, got null"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(changes, message):
    with pytest.raises(StoreError, match=message):
        Definition.from_json("t", stored(**changes))


# what lies in somebody else's database is refused in a sentence


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "x is not JSON"),
        ("9" * 5000, "x is malformed: a whole number in it has thousands of digits"),
        (DEEP, "x is malformed: it is nested too"),
    ],
)
def test_what_is_no_json_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(StoreError, match=sentence) as raised:
        from_json_text(text, "x")
    assert len(str(raised.value)) < 200


def test_nesting_and_what_is_no_list_are_refused_wherever_something_is_read():
    values = {"number": 1, "name": "t", "created_at": "", "format": "", "scheduled": 0, "recorded": 0}
    stored_tournament = StoredTournament(definition_text=DEEP, **values)
    for read in (
        lambda: record_from(1, DEEP),
        lambda: stored_bots_and_ranks('["a", "b"]', DEEP),
        lambda: stored_tournament.definition,
    ):
        with pytest.raises(StoreError, match="nested too deeply"):
            read()
    assert stored_bots_and_ranks('["a","b"]', "[1,2]") == (("a", "b"), (1, 2))
    with pytest.raises(StoreError, match="malformed: expected a place for each bot"):
        stored_bots_and_ranks('["a","b"]', "5")
