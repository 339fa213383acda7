import pytest

from arena.base.enums import CorrectionKind
from arena.base.shipped import example_bots
from arena.community.contests.contest_homes import ContestHomes
from arena.community.contests.played_contest import StageRuns
from arena.community.contests.stages import definition_of
from arena.community.contests.visibility import ContestHome
from arena.match.players.manifest import load_bot
from arena.store.people.contest import ContestStage
from arena.store.people.directing import DirectorState, RequestState
from arena.tournament.directors.supervised_run import Shutdown
from tests.community.contests.samples import DEADLINE, SEALED
from tests.tournament.test_director import Scripted

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
        self.runs = StageRuns(self.homes, world.people, Shutdown(), executor=self.executor)
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
        return self.runs.play(self.stored, definition_of(self.stored, self.stored.contest.final, "spring", self.bots))

    def correct(self, kind, **arguments):
        """Ask for a correction and let it be made; return what has become of that."""
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
