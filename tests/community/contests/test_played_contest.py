import stat

import pytest

from arena.base.enums import CorrectionKind
from arena.base.shipped import example_bots
from arena.community.contests.contest_places import embargoed_home_path
from arena.community.contests.played_contest import StageRuns
from arena.community.contests.stages import ContestHomes, definition_of, open_embargoed_home
from arena.community.contests.visibility import ContestHome
from arena.match.players.manifest import load_bot
from arena.store.home import delete_tournament
from arena.store.people.contest import ContestPhase, ContestStage
from arena.store.people.directors import DirectorState, RequestState
from arena.tournament.directors.supervised_run import Shutdown
from arena.tournament.run import Order, RunControl
from tests.community.contests.samples import DEADLINE, FREEZE, OPEN, OPENS, SEALED
from tests.community.contests.world import Looking, playing
from tests.store.results.samples import definition, line
from tests.tournament.test_director import Scripted


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        "it waits for the results of the contest autumn, which its own matches would give away"
    )
    world.people.contests.set_revealed(world.contest("autumn"))
    world.play(lambda stored: len(world.results()) > 3, [Enough(world, 8)])
    assert len(world.results()) >= 8
    assert world.contest().stage_note == ""


REASON = "correction-canary"


class Sealed:
    """A sealed contest of three bots whose matches have been played, without a process for any of them."""

    def __init__(self, world):
        self.world, self.people, self.public = world, world.people, world.home
        world.announce(**SEALED, qualification=None)
        world.now.seconds = DEADLINE + 1
        world.people.contests.set_stage(self.stored, ContestStage.FINAL)
        self.homes = ContestHomes(world.home, world.people)
        self.executor = Scripted()
        self.runs = StageRuns(self.homes, world.people, Shutdown())
        self.bots = [load_bot(example_bots()[name]) for name in ("greedy", "minimal", "random_legal")]
        assert self.play()

    @property
    def stored(self):
        return self.world.contest()

    @property
    def hidden(self):
        place, home = self.homes.of(self.stored)
        assert place is ContestHome.EMBARGOED
        return home

    def play(self):
        definition = definition_of(self.stored, self.stored.contest.final, "spring", self.bots)
        with playing(self.executor):
            return self.runs.play(self.stored, definition)

    def correct(self, kind, **arguments):
        self.people.requests.add("spring", kind, arguments, subject="it", reason=REASON, by="dora")
        self.runs.carry_out_requests(self.stored)
        return self.people.requests.of("spring")[0]

    def bytes_of_public(self):
        files = [path for path in self.world.directory.iterdir() if path.name.startswith("arena.sqlite3")]
        assert files
        return b"".join(path.read_bytes() for path in files)

    def made(self, home):
        return [(one.kind, one.reason) for one in home.store.tournament("spring").corrections]


@pytest.fixture
def sealed(world):
    made = Sealed(world)
    yield made
    made.homes.close()


def test_what_a_correction_takes_out_is_played_again_and_stays_hidden(sealed):
    played = sealed.executor.played
    first = {record.match: record for record in sealed.hidden.store.records(sealed.hidden.store.tournament("spring"))}
    assert sealed.correct("void", numbers=[1, 2]).state is RequestState.DONE
    assert sealed.made(sealed.hidden) == [(CorrectionKind.VOID, REASON)]
    voided = sealed.hidden.store.tournament("spring")
    assert (voided.recorded, voided.finished_at) == (len(first) - 2, None)
    assert sealed.play()
    again = sealed.hidden.store.tournament("spring")
    assert (again.recorded, sealed.executor.played) == (len(first), played + 2)
    for record in sealed.hidden.store.records(again):  # with the same opening and seats
        assert (record.bots, record.actions) == (first[record.match].bots, first[record.match].actions)
    assert sealed.public.store.find_tournament("spring") is None
    assert REASON.encode() not in sealed.bytes_of_public()


def test_who_is_disqualified_has_no_line_and_comes_back_when_that_is_undone_and_what_cannot_be_done_is_refused(sealed):
    refused = sealed.correct("disqualify", bot="nobody@1", rule="annul")
    assert refused.state is RequestState.REFUSED
    assert "entrant 'nobody@1'" in refused.outcome
    assert sealed.made(sealed.hidden) == []
    assert REASON.encode() not in sealed.bytes_of_public()
    assert sealed.correct("disqualify", bot="greedy@1", rule="annul").state is RequestState.DONE
    assert sealed.public.store.find_tournament("spring") is None
    assert REASON.encode() not in sealed.bytes_of_public()
    gone = sealed.hidden.store.tournament("spring").definition
    assert [gone.entrants[number].name for number in gone.gone] == ["greedy"]
    assert sealed.correct("undo", correction=1).state is RequestState.DONE
    assert sealed.hidden.store.tournament("spring").definition.gone == frozenset()
    assert sealed.play()


def test_everybody_sees_a_correction_once_results_are_revealed(sealed):
    sealed.correct("void", numbers=[1])
    assert sealed.play()
    sealed.correct("disqualify", bot="greedy@1", rule="annul")
    assert sealed.play()
    hidden = sealed.hidden.store.tournament("spring")
    sealed.people.contests.set_stage(sealed.stored, ContestStage.PLAYED)
    sealed.homes.reveal(sealed.stored)
    shown = sealed.public.store.tournament("spring")
    assert sealed.made(sealed.public) == [(CorrectionKind.VOID, REASON), (CorrectionKind.DISQUALIFY, REASON)]
    assert (shown.recorded, shown.scheduled) == (hidden.recorded, hidden.scheduled)
    assert not (sealed.world.directory / "contests" / "spring").exists()
    sealed.people.directors.report_state("spring", "contest", DirectorState.IDLE)
    assert sealed.correct("disqualify", bot="minimal@1", rule="annul").state is RequestState.DONE  # and one made later
    assert sealed.made(sealed.public)[2:] == [(CorrectionKind.DISQUALIFY, REASON)]
