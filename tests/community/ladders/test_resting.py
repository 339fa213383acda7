import logging

import pytest

from arena.community.ladders.director_program import SupervisedLadder
from arena.community.ladders.open_ladder import OpenLadder
from arena.server.operating.service_programs import problems
from arena.store.people.directing import DesiredState, DirectorState
from arena.tournament.directors.supervised_run import Shutdown, SupervisedRun
from arena.tournament.fair_scheduling import FairScheduling
from tests.community.contests.samples import FREEZE, OPENS, SEALED
from tests.community.ladders.conftest import LADDER

RESTS = "bots that can enter the contest spring rest until its results are revealed"


def played(world):
    return {bot for (tournament, _), (bots, _) in world.results().items() if tournament == "open" for bot in bots}


def unplayed(world):
    return {one.match for one in world.home.store.unplayed(world.home.store.tournament("open"))}


def ladder_of(world, file, listen, wanted="0.1"):
    file.write_text(LADDER.replace("matches = 6", f"margin_95 = {wanted}").replace("size = 4", "size = 3"))
    supervised = SupervisedRun("open", "ladder", world.home, world.people, Shutdown())
    supervised.scheduling = FairScheduling(lambda: 0.0)  # on a busy machine, any bot may seem too slow to be paired
    return SupervisedLadder(OpenLadder(file, world.home), supervised, world.home, listen)


@pytest.mark.slow
def test_they_rest_from_the_freeze_on_until_the_results_are_revealed(world, file, caplog):
    """Each step is a run: the first ends with the freeze, in the middle of a round, the second with the reveal."""
    world.announce()
    for name in ("ada", "eve"):
        world.submit_bot(name, f"{name}bot")()

    def listen():
        count = len(world.results())
        if count == 3:
            world.now.seconds = FREEZE
        assert count < 40
        if count == 11:
            world.people.contests.set_revealed(world.contest())
        is_asked = ladder._supervised.desired_state is DesiredState.PAUSE
        if not is_asked and "adabot@2" in played(world) and not unplayed(world) & put_off:
            world.people.directors.set_desired_state("open", DesiredState.PAUSE, reason="Enough.", by="dora")

    put_off = {-1}
    ladder = ladder_of(world, file, listen)
    assert ladder.step() == 0.0
    at_freeze, put_off = world.results(), unplayed(world)
    assert {"adabot@1", "evebot@1"} <= played(world)
    assert len(at_freeze) == 3
    assert put_off
    world.submit_bot("ada", "adabot", version="2", index=1)()
    assert ladder.step() == 0.0
    since = [bots for match, (bots, _) in world.results().items() if match not in at_freeze]
    assert len(since) == 8
    assert not any(bot.startswith(("adabot@", "evebot@")) for bots in since for bot in bots)
    report = world.people.directors.report("open")
    assert report.sentence == RESTS
    assert report.figures.sitting_out == ()
    assert list(problems(world.directory, world.people)) == []
    assert [one for one in caplog.records if one.levelno > logging.INFO] == []
    assert ladder.step() == 0.0
    assert ladder.step() > 0
    assert not unplayed(world) & put_off
    assert world.people.directors.report("open").sentence == ""


def test_a_ladder_that_waits_says_why_bots_rest_and_continues_when_they_return(world, file):
    world.announce(**SEALED)
    world.submit_bot("ada", "adabot")()
    ladder = ladder_of(world, file, lambda: None, wanted="100")
    sentences = []
    for seconds in (OPENS - 1, OPENS):
        world.now.seconds = seconds
        while ladder.step() == 0.0:
            pass
        sentences.append((world.people.directors.report("open").state, world.people.directors.report("open").sentence))
    assert sentences == [(DirectorState.IDLE, ""), (DirectorState.IDLE, RESTS)]
    world.people.contests.cancel("dora", "spring", "Too few.")
    assert ladder.step() == 0.0  # there may be something to play again
