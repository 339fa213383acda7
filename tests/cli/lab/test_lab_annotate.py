import json
import re
from dataclasses import replace

import pytest

from arena.base.definition import GameChoice
from arena.base.records import Bot, SeatReport
from arena.base.results import double_points_of as points_of
from arena.games import make_game
from arena.games.kernels.loading import load
from arena.lab.solving.limits import Limits
from arena.lab.solving.state_graph import explore, paranoid_of, shares_of
from arena.store.home import ArenaHome
from arena.store.results.rows import row_of
from tests.cli.calls import as_json, calling, ended, printed, printed_alone, refusal, told
from tests.lab.games import plain_value
from tests.lab.played import at_random, record_of
from tests.store.results.samples import definition, line

OPTIONS = {"size": 3}
MATCHES = range(1, 7)
AFTER_THE_LAST = len(record_of("plusminus", OPTIONS, at_random(1)).actions)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def home(tmp_path):
    directory = tmp_path / "home"
    with ArenaHome(directory) as home:
        games = (GameChoice(game="plusminus", options=OPTIONS, players=2),)
        two = home.store.create_tournament(definition(games=games), [line(match) for match in MATCHES])
        records = [record_of("plusminus", OPTIONS, at_random(match), match=match) for match in MATCHES]
        home.store.record(two, [row_of(record) for record in records])
        three = {"size": 4, "players": 3}
        games = (GameChoice(game="coprimality", options=three, players=3),)
        other = home.store.create_tournament(definition(name="three", games=games), [])
        seated = {"bots": ("a@1", "b@1", "c@1"), "seats": (SeatReport(),) * 3}
        record = record_of("coprimality", three, at_random(1), **seated)
        home.store.record(other, [row_of(record)])
    return directory


@pytest.fixture
def lab(home, capsys):
    call = calling(home, capsys)
    return lambda *arguments: call("lab", *arguments)


def test_a_tournament_is_annotated_once_and_its_records_stay(arena, lab, home):
    before = arena("export", "t"), arena("verify", "t")
    first = json.loads(printed_alone(lab, "annotate", "t", "--json"))
    assert (first["tournament"], first["annotated"], first["refused"]) == ("t", 6, [])
    assert (arena("export", "t"), arena("verify", "t")) == before
    with ArenaHome(home) as opened:
        assert list(opened.store.annotations.to_annotate(opened.store.tournament("t"))) == []
        events = opened.store.events.topics()
    assert as_json(lab, "annotate", "t") == first
    shown = printed(lab, "annotate", "t")
    assert shown.startswith("t: 6 matches of 6 annotated\n\nbot ")
    assert max(map(len, shown.splitlines())) <= 80
    assert sum(row["earned"] + row["lucky"] for row in first["bots"]) == 6
    with ArenaHome(home) as opened:
        assert opened.store.events.topics() == events  # nothing was written again


def test_a_match_is_listed_action_by_action(lab, home):
    code, out, _ = lab("annotate", "t/2", "--json")
    found = json.loads(out)
    record = record_of("plusminus", OPTIONS, at_random(2))
    game = make_game("plusminus", **OPTIONS)
    state = game.initial_state()
    for row, (seat, action) in zip(found["actions"], record.actions, strict=True):
        state = game.apply(state, action)
        outcome, margin = plain_value(game, state)
        assert (row["seat"], row["text"]) == (seat, game.format_action(action))
        assert row["after"]["margin"] == margin
        assert row["after"]["outcome"] == {1: "win", 0: "draw", -1: "loss"}[outcome]
    assert code == 0
    with ArenaHome(home) as opened:
        assert opened.store.annotations.count(opened.store.tournament("t")) == 1
    shown = lab("annotate", "t/2")[1].splitlines()
    assert shown[0].split() == ["ply", "bot", "action", "mark", "worth", "after", "it", "kept", "%"]
    assert len(shown) == len(record.actions) + 5
    assert (
        " ".join(shown[-2:]) == f"{found['turning']['sentence']} Margins are the score of seat 0 minus that of seat 1."
    )


def test_matches_of_three_among_others_are_left_out_and_named(lab, home):
    """A definition may have said two; the record says three."""
    with ArenaHome(home) as opened:
        two = opened.store.tournament("t").definition
        changed = replace(two, name="three", games=two.games)
        opened.store.change_definition(opened.store.tournament("three"), changed)
    sentence = "match 1 can't be annotated: coprimality with players = 3: only matches of two can be annotated"
    assert told(lab, 1, "annotate", "three") == f"arena: {sentence}\n"


def test_a_record_that_contradicts_the_rules_is_named_and_the_others_are_annotated(lab, home):
    wrong = """UPDATE records SET record = replace(record, '"actions":[[0,', '"actions":[[1,') WHERE "match" = 3"""
    with ArenaHome(home) as opened:
        opened.store._database.write(lambda connection: connection.exec_driver_sql(wrong))
    out, err = ended(lab, 1, "annotate", "t")
    assert out.startswith("t: 5 matches of 6 annotated")
    assert err == ("arena: match 3 can't be annotated: ply 0: seat 1 acts, but by the rules seat 0 is to act\n")


def test_a_position_of_a_match_is_analysed(lab):
    found = json.loads(printed_alone(lab, "analyse", "t/1", "0", "--json"))
    game = make_game("plusminus", **OPTIONS)
    start = game.initial_state()
    values = [plain_value(game, game.apply(start, action)) for action in game.legal_actions(start)]
    assert [one["margin"] for one in found["actions"]] == [margin for _, margin in values]
    assert found["margin"] == plain_value(game, start)[1]
    state = start
    for action in found["best_line"]:
        state = game.apply(state, action)
    assert game.is_over(state)
    assert game.scores(state)[0] - game.scores(state)[1] == found["margin"]


def test_a_position_in_a_file_is_analysed(lab, tmp_path):
    file = tmp_path / "position.json"
    file.write_text('\ufeff{"options": {"size": 3}, "actions": ["a1", [2, 2]]}')  # as editors on Windows begin a file
    lines = printed(lab, "analyse", "differences", "--position", file).splitlines()
    assert lines[0] == "differences size=3 scoring=distinct, ply 2, seat 0 to act: a draw (proved by a"
    assert lines[3:] == ["   a draw  c3", "", "Best line: c3"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"actions": 1}', "expected an object such as"),
        ('{"moves": []}', "got 'moves'"),
        ('{"game": "plaid"}', "it is a position of 'plaid'; expected one of differences"),
        ('{"options": {"size": 1000000}}', "size"),
        ('{"options": {"size": 4}, "actions": ["a1", "a1"]}', "action 1, 'a1': column a already has a mark (rule 3)"),
        ('{"actions": [[1, [2]]]}', "action 0"),
        ('{"actions": [1e999]}', "action 0"),
        (" " * (2**20 + 1), "at most 1.0 MiB"),
        ('{"actions": [' + "1," * 20_000 + "1]}", "expected at most 10000"),
    ],
    ids=lambda text: text[:20],
)
def test_a_file_that_is_no_position_is_refused_in_a_sentence(lab, tmp_path, text, sentence):
    file = tmp_path / "position.json"
    file.write_text(text)
    assert sentence in refusal(lab, "analyse", "differences", "--position", file)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["analyse", "t/1"], "t/1: which ply?"),
        (["analyse", "t/1", "99"], "ply 99: expected a ply of t/1 from 0 to"),
        (["analyse", "t/9", "0"], "match 9 of tournament 't' has no record"),
        (["analyse", "t/1", "0", "-o", "size=3"], "a match has its own options"),
        (["analyse", "differences", "3"], "a ply belongs to a match"),
        (["analyse", "differences", "--position", "/nowhere"], "/nowhere: can't be read"),
        (["annotate", "t/77"], "match 77 of tournament 't' has no record"),
        (["annotate", "t", "--within", "0s"], "expected a duration"),
        (["annotate", "t", "--game", "plaid"], "plaid"),
        (["annotate", "three"], "three: a match has 3 seats; only matches of two can be annotated: for more seats"),
        (["analyse", "t/1", AFTER_THE_LAST], "the match is over in this position: there is nothing to choose"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_what_is_not_there_is_named(lab, arguments, sentence):
    assert sentence in refusal(lab, *arguments)


@pytest.fixture
def without_kernels(monkeypatch):
    monkeypatch.setenv("CC", "nocc")
    load.cache_clear()
    yield
    load.cache_clear()


@pytest.mark.usefixtures("without_kernels")
def test_with_three_seats_every_action_has_what_each_seat_gets(lab):
    found = json.loads(printed_alone(lab, "analyse", "coprimality", "-o", "players=3", "-o", "size=4", "--json"))
    game = make_game("coprimality", players=3, size=4)
    graph = explore(game, "coprimality", Limits())
    shares, after = shares_of(graph, 3), graph.following(0)
    assert tuple(found["shares"]) == shares[0]
    assert [tuple(one["shares"]) for one in found["actions"]] == [shares[one] for one in after]
    paranoid = paranoid_of(graph, 3, [0, *after])
    assert [tuple(one["paranoid"]) for one in (found, *found["actions"])] == paranoid
    state = game.initial_state()
    for action in found["best_line"]:
        state = game.apply(state, action)
    assert tuple(points / 4 for points in points_of(game.ranks(state))) == shares[0]


@pytest.mark.usefixtures("without_kernels")
def test_three_seats_are_told_in_eighty_columns(lab):
    out, err = ended(lab, 0, "analyse", "coprimality", "-o", "players=3", "-o", "size=4")
    assert err == "The rules in Python are used, slower: there is no C compiler: CC = 'nocc' is not found\n"
    shown = " ".join(out.split())
    assert "seat 0 to act: shares 0, 1, 0.5; held against all others 0, 0.5, 0.5; a seat chooses" in shown
    assert max(map(len, out.splitlines())) <= 80


def test_a_replay_shows_marks_and_worths_of_annotated_matches_only(arena):
    plain = arena("replay", "t/1")[1]
    assert "worth" not in plain
    assert {one["worth"] for one in as_json(arena, "replay", "t/1")["positions"]} == {None}
    rows = as_json(arena, "lab", "annotate", "t/1")["actions"]
    lines = arena("replay", "t/1")[1].splitlines()
    assert sum(line.startswith("worth: ") for line in lines) == len(rows) + 1
    played = [line for line in lines if " plays " in line]
    marks = [re.search(r" plays \S+( \?\??)?", line)[1] for line in played]
    assert [(mark or "").strip() for mark in marks] == [row["mark"] for row in rows]
    positions = as_json(arena, "replay", "t/1")["positions"]
    assert [one["mark"] for one in positions] == [None, *(row["mark"] for row in rows)]
    assert [one["worth"] for one in positions] == [rows[0]["before"], *(row["after"] for row in rows)]
    kept = [line for line in lines if not line.startswith("worth: ")]
    assert [re.sub(r" \?\??", "", line) for line in kept] == plain.splitlines()


def test_an_annotation_that_does_not_fit_its_record_is_not_shown(arena, home):
    arena("lab", "annotate", "t")
    with ArenaHome(home) as opened:
        swap = 'UPDATE annotations SET body = (SELECT body FROM annotations WHERE "match" = 2) WHERE "match" = 1'
        opened.store._database.write(lambda connection: connection.exec_driver_sql(swap))
        torn = "UPDATE annotations SET body = '{' WHERE \"match\" = 3"
        opened.store._database.write(lambda connection: connection.exec_driver_sql(torn))
    lengths = {match: len(record_of("plusminus", OPTIONS, at_random(match)).actions) for match in (1, 2)}
    assert ("worth" in arena("replay", "t/1")[1]) == (lengths[1] == lengths[2])
    assert "worth" not in printed_alone(arena, "replay", "t/3")


@pytest.mark.slow
def test_bots_whose_accuracy_is_malformed_are_left_out_and_named(arena, home):
    """The others keep their lines; the two that met in the torn match have none until it is annotated once more."""
    seated = {match: ("a@1", "b@1") if match in (3, 5) else ("c@1", "d@1") for match in MATCHES}
    with ArenaHome(home) as opened:
        games = (GameChoice(game="plusminus", options=OPTIONS, players=2),)
        entrants = tuple(Bot(name=name, version="1", command=(name,), directory="") for name in "abcd")
        planned = definition(name="four of", games=games, entrants=entrants)
        four = opened.store.create_tournament(planned, [line(match) for match in MATCHES])
        made = {"tournament": "four of"}
        rows = [record_of("plusminus", OPTIONS, at_random(k), match=k, bots=seated[k], **made) for k in MATCHES]
        opened.store.record(four, [row_of(record) for record in rows])
    table = ("stats", "four of", "--table", "accuracy", "--format", "json")
    assert (json.loads(arena(*table)[1]), "Accuracy" in arena("stats", "four of")[1]) == ([], False)
    whole = as_json(arena, "lab", "annotate", "four of")["bots"]
    with ArenaHome(home) as opened:
        for torn, match in (("[", 3), ("[]", 5)):
            row = f'tournament_id = {four.number} AND "match" = {match}'
            update = f"UPDATE annotations SET accuracy = '{torn}' WHERE {row}"
            opened.store._database.write(lambda connection, update=update: connection.exec_driver_sql(update))
    code, out, err = arena(*table)
    assert (code, json.loads(out)) == (0, [one for one in whole if one["bot"] in "cd"])
    assert err == (
        "arena: the accuracy of a and b is not shown: that of match 3 is malformed; to annotate it again:"
        " arena lab annotate 'four of/3'\n"
    )
    assert "Accuracy" in arena("stats", "four of")[1]
    assert arena("stats", "four of", "--table", "seats")[2] == ""
    for match in (3, 5):
        assert arena("lab", "annotate", f"four of/{match}")[::2] == (0, "")
    assert json.loads(arena(*table)[1]) == whole
