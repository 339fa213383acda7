import json
from dataclasses import replace
from itertools import islice, permutations
from statistics import mean

import pytest

from arena.analysis.measures.verification import verify
from arena.base.definition import Definition, GameChoice, GameOpenings
from arena.base.enums import OpeningChoice
from arena.base.errors import DefinitionError, KernelError, StoreError
from arena.base.records import Bot
from arena.games import make_game
from arena.games.kernels import slips
from arena.games.kernels.playouts import PlayoutMargin
from arena.tournament import opening_information
from arena.tournament.definition import load_definition, make_definition
from arena.tournament.formats.round_robin import RoundRobin
from arena.tournament.opening_information import Evaluated, is_judged_by_playouts, most_informative, with_openings
from arena.tournament.openings import ListedOpenings, book_text, openings, read_book, read_lines
from arena.tournament.resumption import create_or_resume
from arena.tournament.schedule import schedule
from tests.tournament.transfer.played import play

FOUR = GameChoice(game="differences", options=dict(make_game("differences", size=4).options), players=2)
BOTS = tuple(Bot(name=name, version="1", command=("x",), directory="/", digest=name) for name in ("a", "b"))
CHOSEN = (GameOpenings(choose=OpeningChoice.INFORMATION),)
BOOK = (GameOpenings(choose=OpeningChoice.BOOK, lines=("a1 b2", "a1 b3", "d4 c2")),)


def definition(name="t", openings=CHOSEN, **fields):
    values = {"games": (FOUR,), "entrants": BOTS, "opening_plies": 2, "encounters": 6} | fields
    return Definition(name=name, openings=openings, **values)


@pytest.fixture(autouse=True)
def without_kernels(monkeypatch):
    monkeypatch.setattr(slips, "load", lambda name: KernelError("none in this test"))
    monkeypatch.setattr(opening_information, "ENCOUNTERS", 20)


HEAD = 'version = 1\ngame = "differences"\noptions = {size = 4}'


def book(tmp_path, text='openings = ["a1 b2", "a1 b3"]', head=HEAD):
    path = tmp_path / "book.toml"
    path.write_text(f"{head}\n{text}\n")
    return path


def test_a_book_is_read_as_it_was_written(tmp_path):
    game = make_game("differences", size=4)
    openings = (((1, 1), (2, 2)), ((4, 4), (3, 2), (1, 3)))
    path = tmp_path / "book.toml"
    path.write_text(book_text(game, "differences", [(one, "x\ny" * k) for k, one in enumerate(openings)], "of\nthese"))
    assert read_book(path, FOUR) == openings


REFUSED = {
    "another version": ({"head": 'version = 2\ngame = "differences"'}, "version = 2: expected 1"),
    "another game": ({"head": 'version = 1\ngame = "plaid"'}, "game = 'plaid': expected a book for the tournament's"),
    "other options": ({"head": 'version = 1\ngame = "differences"\noptions = {size = 5}'}, "size = 5, and the tour"),
    "defaults": ({"head": 'version = 1\ngame = "differences"'}, "size = 8, and the tournament has 4"),
    "a wrong option": ({"head": 'version = 1\ngame = "differences"\noptions = {size = 1}'}, "expected a whole number"),
    "illegal": ({"text": 'openings = ["a1 b2", "a1 a2"]'}, "opening 2 ('a1 a2'): 'a2' is illegal: "),
    "no action": ({"text": 'openings = ["a1 v3!"]'}, "'v3!' is illegal: "),
    "to the end": ({"text": 'openings = ["a1 b2 c3 d4"]'}, "'d4' ends the match; expected a shorter opening"),
    "twice": ({"text": 'openings = ["a1 b2", "b2 a1", " a1   b2"]'}, "it is opening 1 as well"),
    "none": ({"text": "openings = []"}, "openings = []: expected a list of 1 to 10,000, each a text"),
    "a number": ({"text": "openings = [1]"}, "openings[0] = 1: expected a text"),
    "more": ({"text": 'openings = ["a1"]\nworth = 1'}, "worth: unknown key"),
    "long": ({"text": f'openings = ["{"a" * 30_000}"]'}, "more than 20,000 characters"),
    "many": ({"text": f"openings = {json.dumps(['a1'] * 10_001)}"}, "openings = "),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_book_that_can_t_be_played_is_refused_in_a_sentence(tmp_path, what):
    text, message = REFUSED[what]
    path = book(tmp_path, **text)
    with pytest.raises(DefinitionError) as raised:
        read_book(path, FOUR)
    assert str(raised.value).startswith(f"{path}: ")
    assert message in str(raised.value)
    assert len(str(raised.value)) < 1000
    assert "\n" not in str(raised.value)


def informed(plies, game, **options):
    return {"game": game, "options": options, "openings": {"plies": plies, "choose": "information"}}


SOLVED = "and 1,000,000 can be solved"
KEYS = {
    "a list": ({"openings": ["book.toml"]}, "expected the path of a book, or a table such as"),
    "nothing": ({"openings": {}}, "expected either plies and choose, or a book"),
    "both": ({"openings": {"plies": 2, "book": "b"}}, "expected either plies and choose, or a book"),
    "unknown": ({"openings": {"plies": 2, "choose": "fair"}}, "openings.choose = 'fair': expected 'random' or 'inf"),
    "a misspelt key": ({"openings": {"ply": 2}}, "openings.ply: unknown key; expected one of: plies, choose, book"),
    "none": ({"openings": {"plies": 0}}, "openings.plies = 0: expected a whole number from 1 to 1,000"),
    "two kinds": ({"openings": {"plies": 2}, "opening_plies": 2}, "opening_plies and openings: expected one of them"),
    "no file": ({"openings": "nowhere.toml"}, "nowhere.toml: there is no such file"),
    "a NUL": ({"openings": "a\0b"}, "without the character NUL"),
    "three": (informed(2, "coprimality", players=3), 'information" is for games of two, and coprimality is for 3'),
    "too many states": (
        informed(3, "differences", size=12),
        f"has 17,209,234 states after an opening of 3 plies, {SOLVED}; expected 5 plies or more, a",
    ),
    "far too many states": (informed(1, "plaid"), f"1 ply, {SOLVED}; expected 9 plies or more, a smal"),
    "a ply that tells nothing": (
        informed(1, "multiplication", size=11),
        f"states after an opening of 1 ply, {SOLVED}; expected 2 plies or more, a smaller board, or",
    ),
    "no room": ({"openings": {"plies": 5}, "ply_limit": 5}, "ply_limit = 5: the 5 plies of the opening count"),
}


@pytest.mark.parametrize("what", KEYS)
def test_a_wrong_choice_of_openings_is_refused(what):
    keys, message = KEYS[what]
    values = {"game": "differences", "options": {"size": 6}} | keys
    with pytest.raises(DefinitionError) as raised:
        make_definition("t", entrants=[lambda *_: None] * 3, **values)
    assert message in str(raised.value)


def test_a_tournament_file_takes_a_book_and_a_table(write_definition, tmp_path):
    book(tmp_path)
    loaded = load_definition(write_definition(options="{size = 4}", openings='"book.toml"'))
    assert loaded.openings == (GameOpenings(choose=OpeningChoice.BOOK, lines=("a1 b2", "a1 b3")),)
    assert loaded.opening_plies == 2
    loaded = load_definition(write_definition(openings='{ plies = 3, choose = "information" }'))
    assert (loaded.openings, loaded.opening_plies) == (CHOSEN, 3)
    loaded = load_definition(write_definition(openings="{ plies = 3 }"))
    assert (loaded.openings, loaded.opening_plies) == ((), 3)
    assert loaded.identity() == load_definition(write_definition(opening_plies=3)).identity()


def test_openings_are_stored_with_the_definition_if_they_were_chosen():
    assert "openings" not in definition(openings=()).to_json()
    assert "openings" not in definition(openings=()).identity()
    chosen = with_openings(definition(), RoundRobin)
    assert Definition.from_json("t", json.loads(json.dumps(chosen.to_json()))) == chosen
    with pytest.raises(StoreError, match="expected openings for each of its games"):
        Definition.from_json("t", chosen.to_json() | {"openings": chosen.to_json()["openings"] * 2})


def test_the_choice_follows_from_the_seed():
    first, same, other = (with_openings(definition(rng_seed=seed), RoundRobin) for seed in (1, 1, 2))
    assert first == same
    assert first.openings != other.openings
    assert len(set(first.openings[0].lines)) == 6


def test_openings_that_tell_more_are_chosen():
    """Each chosen set of three has the largest information of all sets of three."""
    found = [
        Evaluated(opening=(k,), lead=lead, square=square)
        for k, (lead, square) in enumerate([(0.1, 0.1), (0.3, 0.2), (0.0, 0.3), (0.2, 0.4), (0.25, 0.11), (0.3, 0.5)])
    ]

    def information(some):
        lead, square = mean(one.lead for one in some), mean(one.square for one in some)
        return lead**2 / (square - lead**2)

    assert information(most_informative(found, 3)) == pytest.approx(max(map(information, permutations(found, 3))))
    assert information(most_informative(found, 3)) > information(found)
    found = [Evaluated(opening=(k,), lead=0.0, square=0.0) for k in range(4)]
    assert [one.opening for one in most_informative(found, 2)] == [(0,), (1,)]


ELEVEN = GameChoice(game="multiplication", options=dict(make_game("multiplication", size=11).options), players=2)


def test_openings_of_a_board_that_is_too_large_are_those_from_which_playouts_end_even(home, monkeypatch):
    asked = []

    def margin(_game, opening, seed):  # as far apart as the first mark is from the middle column
        asked.append(seed)
        return PlayoutMargin(mean=opening[0][0] - 6.0, error=0.5)

    monkeypatch.setattr(opening_information, "playout_margin", margin)
    monkeypatch.setattr(opening_information, "kernel_of", lambda _game: None)
    made = definition(games=(ELEVEN,), encounters=5)
    stored, *_ = create_or_resume(made, home.store)
    columns = [line[0] for line in stored.openings[0].lines]
    assert len(columns) == 5 == len(set(stored.openings[0].lines))
    drawn = islice(openings(make_game("multiplication", size=11), 2, 0), 40)
    distances = sorted(abs(opening[0][0] - 6) for opening in dict.fromkeys(drawn))
    assert sorted(abs("abcdefghijk".index(column) - 5) for column in columns) == distances[:5]
    assert len(asked) == len(distances) == len(set(asked))
    asked.clear()
    assert create_or_resume(made, home.store)[0] == stored
    assert not asked  # what was chosen is stored
    assert with_openings(made, RoundRobin).openings == stored.openings


def test_only_what_cannot_be_solved_is_judged_by_playouts():
    assert [plies for plies in (1, 2, 5, 6) if is_judged_by_playouts(ELEVEN, plies)] == [2, 5]
    for name in ("differences", "coprimality"):
        choice = GameChoice(game=name, options=dict(make_game(name, size=12).options), players=2)
        assert not is_judged_by_playouts(choice, 2)


def test_openings_that_can_not_be_chosen_are_refused(monkeypatch):
    with pytest.raises(DefinitionError, match="opening_plies = 4: no random opening of that many plies"):
        with_openings(definition(opening_plies=4), RoundRobin)
    monkeypatch.setattr(slips, "encounters_by_rules", lambda *arguments: None)
    with pytest.raises(DefinitionError, match=r"more states after an opening of 2 plies, .*; expected more plies"):
        with_openings(definition(), RoundRobin)
    monkeypatch.setattr(opening_information, "kernel_of", lambda _game: KernelError("no C compiler: cc"))
    with pytest.raises(DefinitionError, match="is judged by random playouts of its kernel, which is not there: no"):
        with_openings(definition(games=(ELEVEN,)), RoundRobin)


def test_all_openings_are_played_before_one_comes_again():
    listed = ListedOpenings("abcde", 7)
    taken = [listed.take(number) for number in range(15)]
    assert [sorted(taken[k : k + 5]) for k in (0, 5, 10)] == [list("abcde")] * 3
    assert taken[:5] != taken[5:10]
    assert [ListedOpenings("abcde", 7).take(number) for number in (13, 2, 9)] == [taken[13], taken[2], taken[9]]


def test_a_schedule_has_the_openings_of_the_book():
    lines = list(schedule(definition(openings=BOOK)))
    listed = read_lines(make_game("differences", size=4), BOOK[0].lines, "book")
    assert {line.opening_actions for line in lines} == set(listed)
    with pytest.raises(DefinitionError, match="0 openings; expected 1"):
        list(schedule(definition()))


@pytest.mark.parametrize("format", ["round-robin", "ladder"])
def test_a_tournament_is_resumed_with_the_openings_it_began_with(home, monkeypatch, format):
    made = definition(format=format)
    first, *_ = create_or_resume(made, home.store)
    monkeypatch.setattr(slips, "encounters_by_rules", lambda *arguments: pytest.fail("chosen again"))
    again, *_ = create_or_resume(made, home.store)
    assert again.openings == first.openings
    for other in (BOOK, ()):
        with pytest.raises(DefinitionError, match="differs in openings"):
            create_or_resume(replace(made, openings=other), home.store)


@pytest.mark.parametrize("format", ["round-robin", "ladder"])
def test_what_was_played_from_another_opening_is_found(home, format):
    made = definition(openings=BOOK, format=format)
    play(home.store, made)
    assert verify(home, "t") == (home.store.tournament("t").recorded, [])
    stored = home.store.tournament("t")
    other = replace(made, openings=(GameOpenings(choose=OpeningChoice.BOOK, lines=("b2 a1", "a1 b3", "d4 c2")),))
    home.store.change_definition(stored, other)
    assert any("is not what follows from" in one and "opening_actions is" in one for one in verify(home, "t").problems)


def test_random_openings_are_those_of_earlier_versions():
    """Written down from the version before there were others: what is stored must not change."""
    lines = [line.opening_actions for line in islice(schedule(definition(openings=(), rng_seed=5)), 0, 12, 2)]
    assert lines[:3] == [((2, 2), (3, 3)), ((3, 4), (1, 3)), ((2, 4), (3, 1))]
    assert lines[3:] == [((2, 3), (4, 2)), ((3, 4), (4, 2)), ((2, 3), (1, 1))]
