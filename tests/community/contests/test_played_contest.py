import stat

import pytest

from arena.community.contests.contest_homes import open_embargoed_home
from arena.community.contests.contest_places import embargoed_home_path
from arena.store.home import delete_tournament
from arena.store.people.contest import ContestPhase, ContestStage
from arena.tournament.run import Order, RunControl
from tests.community.contests.samples import DEADLINE, FREEZE, OPEN, OPENS, SEALED
from tests.community.contests.world import Looking
from tests.store.results.samples import definition, line


def at_look(number, act):
    looks = iter(range(1, 10**6))
    return Looking(lambda: act() if next(looks) == number else None)


def entered(world):
    return [one.bot for one in world.people.contests.entries_of(world.contest())]


@pytest.mark.slow
def test_an_open_contest_from_the_opening_to_the_final(world):
    world.announce(**OPEN)
    world.three_authors()
    world.play()
    assert (world.phase, entered(world), world.results()) == (ContestPhase.ANNOUNCED, [], {})
    world.now.seconds = OPENS
    world.play(lambda stored: bool(world.results()))
    assert entered(world) == ["adabot@1", "bobbot@1", "evebot@1"]
    assert {name for name, _ in world.results()} == {"spring-qualification"}
    world.now.seconds = DEADLINE
    last = world.submit_bot("ada", "adabot", "2", index=1)
    world.now.seconds += 1
    world.submit_bot("bob", "bobbot", "2")  # a second late
    world.play(lambda stored: stored.closed_at is not None)
    world.now.seconds += 300
    assert (world.phase, world.contest().stage) == (ContestPhase.CLOSED, ContestStage.ENTRIES)
    assert "adabot@1" in entered(world)
    last()
    world.play()
    assert world.phase is ContestPhase.FINISHED
    assert entered(world) == ["bobbot@1", "evebot@1", "adabot@2"]
    final = world.home.store.tournament("spring")
    assert (len(final.definition.entrants), final.finished_at is not None) == (2, True)
    assert {bot.label for bot in final.definition.entrants} <= {"bobbot@1", "evebot@1", "adabot@2"}
    assert final.recorded == 4  # two encounters of two, in both seats
    assert not embargoed_home_path(world.directory, "spring").exists()
    world.verify()


@pytest.mark.slow(sample=True)
def test_a_sealed_contest_is_nowhere_until_it_is_revealed(world):
    world.executor = "in-process"
    world.announce(**SEALED, qualification='{ format = "swiss", places = 2, swiss = { rounds = 2 } }')
    world.three_authors()
    looks = []

    def look():
        looks.append(1)
        assert world.public_canaries() == set()
        assert world.home.store.tournaments() == []

    world.now.seconds = DEADLINE + 1
    world.play(controls=[Looking(look)])
    assert world.phase is ContestPhase.PLAYED
    assert len(looks) > 10
    look()
    assert len(world.embargoed_canaries()) >= 4
    place = embargoed_home_path(world.directory, "spring")
    assert stat.S_IMODE(place.stat().st_mode) == stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    with open_embargoed_home(world.directory, "spring") as hidden:
        before = world.results(hidden)
    world.people.contests.ask_to_reveal("dora", "spring")
    world.play()
    assert (world.phase, world.results()) == (ContestPhase.FINISHED, before)
    assert len(world.public_canaries()) >= 4
    assert not place.exists()
    world.verify()


@pytest.mark.slow(sample=True)
def test_frozen_results_stay_as_they_were_and_are_revealed_by_the_clock(world):
    world.announce(reveal_at="2027-01-22T12:00:00")
    world.three_authors()
    world.now.seconds = FREEZE - 10
    asked = []
    world.play(lambda stored: len(world.results()) >= 4)
    shown, public = world.results(), world.public_canaries()
    assert public

    def freeze():
        asked.append(1)
        if len(asked) == 3:
            world.now.seconds = FREEZE  # in the middle of a run
        if world.now.seconds < FREEZE:
            shown.update(world.results())
            public.update(world.public_canaries())
        else:
            assert world.results() == shown
            assert world.public_canaries() <= public

    world.submit_bot("zoe", "zoebot", index=3)()
    world.play(lambda stored: world.now.seconds >= FREEZE + 5, controls=[Looking(freeze)])
    assert len(asked) > 3
    world.now.seconds = DEADLINE + 1
    world.play(controls=[Looking(freeze)])
    freeze()
    assert world.phase is ContestPhase.PLAYED
    hidden = world.embargoed_canaries()
    assert hidden
    world.now.seconds += 2 * 86_400
    world.play()
    assert world.phase is ContestPhase.FINISHED
    assert hidden <= world.public_canaries()
    assert shown.items() <= world.results().items()
    assert {name for name, _ in world.results()} == {"spring-qualification", "spring"}
    world.verify()


def test_results_can_be_revealed_while_it_is_played_and_it_continues_in_the_open(world):
    world.announce(**SEALED, final="{ encounters = 6 }", qualification=None)
    world.three_authors()
    world.now.seconds = DEADLINE + 1
    ask = at_look(8, lambda: world.people.contests.ask_to_reveal("dora", "spring", "a test", before_played=True))
    world.play(lambda stored: stored.revealed_at is not None, controls=[ask])
    assert 0 < len(world.results()) < 36
    world.play()
    assert (world.phase, len(world.results())) == (ContestPhase.FINISHED, 36)
    world.verify()


def test_a_cancelled_contest_is_not_played_any_more(world):
    world.announce(**OPEN, final="{ encounters = 50 }", qualification=None)
    world.three_authors()
    world.now.seconds = DEADLINE + 1
    world.play(controls=[at_look(5, lambda: world.people.contests.cancel("dora", "spring", "a test"))])
    assert (world.phase, 0 < len(world.results()) < 100) == (ContestPhase.CANCELLED, True)


def test_too_few_entries_are_a_sentence_for_the_director(world):
    world.announce(**OPEN, qualification=None)
    world.submit_bot("ada", "adabot")()
    world.submit_bot("bob", "bobbot", games='["plaid"]')()
    world.now.seconds = DEADLINE + 1
    world.play(lambda stored: stored.stage_note != "")
    assert world.contest().stage_note == "1 bot plays in 'spring', and a match needs 2"
    assert entered(world) == ["adabot@1"]


def test_only_the_latest_bots_of_an_author_that_play_the_game_enter(world):
    world.announce(**OPEN, qualification=None, bots_per_author="2", final="{ encounters = 1 }")
    for name, version, games in (
        ("one", "1", "differences"),
        ("two", "1", "differences"),
        ("two", "2", "differences"),
        ("three", "1", "differences"),
        ("four", "1", "plaid"),
    ):
        world.submit_bot("ada", name, version, games=f'["{games}"]')()
    world.submit_bot("bob", "five")()
    world.now.seconds = DEADLINE + 1
    world.play()
    assert entered(world) == ["two@2", "three@1", "five@1"]
    assert len(world.results()) == 6


def test_a_tournament_of_somebody_else_is_neither_hidden_nor_replaced(world):
    """It was made after the contest was announced, which can't be refused: before the final, and before the reveal."""
    world.announce(**SEALED, qualification=None)
    world.three_authors()
    world.now.seconds = DEADLINE + 1
    world.play(lambda stored: stored.stage is ContestStage.FINAL)
    before = world.home.store.create_tournament(definition(name="spring"), [line(1)])
    world.play(lambda stored: bool(stored.stage_note))
    assert "there is a tournament 'spring' already that is not the contest's" in world.contest().stage_note
    assert (world.home.store.tournament("spring"), world.contest().stage) == (before, ContestStage.FINAL)
    delete_tournament(world.home, "spring")
    world.play()
    assert world.phase is ContestPhase.PLAYED
    before = world.home.store.create_tournament(definition(name="spring"), [line(1)])
    world.people.contests.ask_to_reveal("dora", "spring")
    world.play(lambda stored: bool(stored.stage_note))
    assert (world.home.store.tournaments(), world.contest().revealed_at) == ([before], None)


class Enough(RunControl):
    def __init__(self, world, matches):
        self._world, self._matches = world, matches

    def order(self):
        return Order.STOP if len(self._world.results()) >= self._matches else Order.PLAY


def test_an_open_contest_waits_while_it_would_tell_hidden_results_of_another_one(world):
    world.announce(**OPEN, qualification='{ format = "ladder", places = 2, ladder = { margin_95 = 0.5 } }')
    world.announce(**SEALED, name='"autumn"', qualification=None, opens_at="2027-01-15T09:00:00")
    world.announce(**SEALED, name='"winter"', qualification=None, game='"plaid"', options="{}")
    world.three_authors()
    world.now.seconds = OPENS

    def look():
        assert len(world.results()) < 20
        if len(world.results()) == 3:
            world.now.seconds = max(world.now.seconds, OPENS + 3600)

    world.play(lambda stored: bool(stored.stage_note), [Looking(look)])
    assert len(world.results()) == 3
    assert world.contest().stage_note == (
        "it waits until the results of the contest autumn are revealed, which it would tell"
    )
    world.people.contests.set_revealed(world.contest("autumn"))
    world.play(lambda stored: len(world.results()) > 3, [Enough(world, 8)])
    assert len(world.results()) >= 8
    assert world.contest().stage_note == ""
