import contextlib

import pytest

from arena.base.records import TimeControl
from arena.community.play.host_program import NEWS_SECONDS, SHUTDOWN_SECONDS, Host, MenuMaker
from arena.community.play.view import Played, view_of
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.site.matches.match_sentences import position_sentence, result_sentence
from arena.site.matches.playing_model import PlayMenu
from arena.store.home import ArenaHome
from arena.store.people.unrated_match import MENU_SECONDS
from arena.store.results.events import LOOK_SECONDS, Commits
from tests.site.matches import FULL, fault, record
from tests.store.people.conftest import FakeClock
from tests.written_bots import kit_bot


class Matches:
    """In place of the stored matches: notes the names of submitted bots of each menu, looks, and released claims."""

    def __init__(self):
        self.menus, self.looks, self.released = [], 0, []

    def set_menu(self, body, slots):
        names = [bot.name for bot in PlayMenu.model_validate_json(body).bots]
        self.menus.append([name for name in names if not name.startswith("arena:")])

    def waiting(self):
        self.looks += 1
        return []

    def release_left(self, number):
        self.released.append(number)

    def prune(self):
        pass


@pytest.fixture
def world(tmp_path):
    matches, clock = Matches(), FakeClock()
    clock.seconds = 0.0
    with (
        ArenaHome(tmp_path) as home,
        contextlib.closing(MenuMaker(home, 4, True)) as menu,
        contextlib.closing(Commits([home.store.commit_signal()], clock)) as commits,
    ):
        host = Host(matches, commits, menu, 4, (), clock)
        host.step()
        yield home, host, matches, clock


def submit(home, tmp_path):
    (tmp_path / "mine.py").write_text(kit_bot())
    copy = home.bots.copy_in(tmp_path / "mine.py")
    home.bots.add(copy)
    return tmp_path / "bots" / copy.digest


def test_a_bot_is_there_at_the_next_look_after_it_is_listed(world, tmp_path):
    home, host, matches, clock = world
    submit(home, tmp_path)
    clock.seconds += NEWS_SECONDS
    host.step()
    assert matches.menus == [[], ["mine@1"]]


def test_nobody_looks_who_waits_until_something_is_committed(world, tmp_path):
    home, host, matches, clock = world
    for _ in range(10):
        host.step()
    assert matches.looks == 1
    submit(home, tmp_path)
    host.step()
    assert matches.looks == 2
    clock.seconds += LOOK_SECONDS
    host.step()
    assert matches.looks >= 3


def test_what_has_not_changed_is_written_to_say_that_somebody_is_here(world):
    _, host, matches, clock = world
    clock.seconds += NEWS_SECONDS
    host.step()
    assert matches.menus == [[]]
    clock.seconds = MENU_SECONDS / 12
    host.step()
    assert matches.menus == [[], []]


def test_files_that_were_missing_are_looked_for_again(world, tmp_path):
    home, host, matches, clock = world
    files = submit(home, tmp_path)
    files.rename(tmp_path / "away")
    clock.seconds += NEWS_SECONDS
    host.step()
    (tmp_path / "away").rename(files)
    clock.seconds += NEWS_SECONDS
    host.step()
    assert matches.menus == [[]]
    clock.seconds = MENU_SECONDS / 12
    host.step()
    assert matches.menus == [[], ["mine@1"]]


class StuckProcess:
    def __init__(self, clock):
        self.clock, self.exitcode = clock, None

    def is_alive(self):
        return self.exitcode is None

    def terminate(self):
        pass

    def close(self):
        pass

    def join(self, timeout=0.0):
        self.clock.seconds += timeout

    def kill(self):
        self.exitcode = -9


def test_what_a_killed_process_could_not_release_is_released_and_matches_that_do_not_end_are_killed_together(world):
    _, host, matches, clock = world
    for number, exitcode in ((7, -9), (8, 0), (9, 1)):  # one that ends by itself has done that, or will fail again
        host._programs.running = {number: StuckProcess(clock)}
        host._programs.running[number].exitcode = exitcode
        host.step()
        assert (host._programs.running, matches.released) == ({}, [7])
    host._programs.running = {number: StuckProcess(clock) for number in range(4)}
    host.close()
    assert clock.seconds == SHUTDOWN_SECONDS
    assert [one.exitcode for one in host._programs.running.values()] == [-9] * 4


NAMES = ("you", "greedy@1")


def viewed(game, played, person=0, **options):
    rules = checked_game(make_game(game, **options), game)
    state = rules.initial_state()
    for one in played:
        state = rules.apply(state, one.action)
    return view_of(game, rules, state, played, NAMES, person, TimeControl())


def by_square(view):
    return {place.label.partition(":")[0]: place for place in view.places}


SQUARES = {
    "differences": ([(1, 1)], {"size": 4}, {"a3": "column a already has a mark (rule 3)", "c1": "row 1 already"}),
    "plusminus": (
        ["+", "-", "+", "-", "+", "-", (2, 2)],
        {"size": 4},
        {"b4": "column b already has a mark (rule 3)", "d2": "row 2 already has a mark (rule 3)"},
    ),
    "multiplication": (
        [(x, x) for x in range(1, 8)],
        {"size": 7, "players": 2},
        {"b1": "there is no mark on this square (rule 4)", "a1": "this mark already has a number (rule 4)"},
    ),
    "coprimality": ([(2, 4)], {"size": 4, "players": 2}, {"a1": "3 must be beside 2 on b4 (rule 3)"}),
}


@pytest.mark.parametrize("person", [0, 1])
@pytest.mark.parametrize("game", SQUARES)
def test_squares_that_can_not_be_played_say_why_whoever_is_to_act(game, person):
    actions, options, refusals = SQUARES[game]
    places = by_square(viewed(game, [Played(ply % 2, action) for ply, action in enumerate(actions)], person, **options))
    for square, refusal in refusals.items():
        assert places[square].refusal.startswith(refusal)
        assert not places[square].action
    rules = make_game(game, **options)
    state = rules.initial_state()
    for action in actions:
        state = rules.apply(state, action)
    legal = {rules.format_action(action) for action in rules.legal_actions(state)}
    assert {square for square, place in places.items() if not place.refusal} == legal
    assert {place.action for place in places.values()} - {""} == (
        legal if rules.seat_to_act(state) == person else set()
    )


def test_lines_have_places_only_where_none_is_drawn():
    view = viewed("plaid", [Played(0, ("v", 2)), Played(1, ("h", 3))], width=4, height=4, lines=6)
    assert sorted(place.action for place in view.places) == ["h1", "h2", "v1", "v3"]


def test_sentences_are_for_who_plays():
    played = [Played(0, (1, 1)), Played(1, (2, 3))]
    assert viewed("differences", played, size=4).shown.positions[-1].said.endswith(". It is your turn.")
    assert viewed("differences", played[:1], size=4).shown.positions[-1].said == (
        "You play a1; scores 0 : 0; greedy@1 is to act."
    )
    place = by_square(viewed("differences", played, size=4))
    found = (place["a1"].label, place["b3"].label)
    assert found == ("a1: column 1, row 1, your 1", "b3: column 2, row 3, 2 of greedy@1")


def test_who_plays_reads_how_it_ended_and_after_a_forfeit_it_is_nobody_s_turn():
    for changed, sentence in (
        ({"scores": (3, 2), "ranks": (1, 2)}, "You win 3 : 2."),
        ({"scores": (2, 3), "ranks": (2, 1)}, "greedy@1 wins 3 : 2."),
        ({"scores": (3, 3), "ranks": (1, 1)}, "You and greedy@1 tie 3 : 3."),
        ({"ranks": (1, 2), "faults": (fault(),)}, "You win: greedy@1 forfeits (timeout at ply 2)."),
    ):
        assert result_sentence(record(FULL, **changed), NAMES, 0) == sentence
    for faults, turn in (((), " It is your turn."), ((fault(),), "")):
        said = position_sentence(record(FULL, faults=faults), NAMES, 0, "", (0, 0), due=0, reader=0)
        assert said == f"The beginning; scores 0 : 0.{turn}"
