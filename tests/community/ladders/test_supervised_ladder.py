import logging
import os
import signal
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from arena.base.enums import CorrectionKind
from arena.base.errors import DefinitionError
from arena.base.programs.service_program import ProblemNote, keep_trying
from arena.community.ladders import open_ladder
from arena.community.ladders.open_ladder import OpenLadder, SupervisedLadder
from arena.server.operating.service_programs import problems
from arena.store.home import ArenaHome, open_people
from arena.store.people.directors import DesiredState, DirectorState
from arena.tournament.corrections.corrected_tournament import void_matches
from arena.tournament.definition import load_definition
from arena.tournament.directors.supervised_run import Shutdown, SupervisedRun
from arena.tournament.fair_scheduling import FairScheduling
from arena.tournament.resumption import create_or_resume
from tests.community.contests.samples import FREEZE, OPENS, SEALED
from tests.community.ladders.conftest import LADDER, recorded
from tests.leftovers import own_errors
from tests.waiting import wait_until
from tests.written_bots import kit_bot

DEADLINE_SECONDS = 60.0
LOG = logging.getLogger("arena.ladder")


@pytest.fixture
def people(home):
    with open_people(home.directory) as opened:
        opened.directors.report_state("open", "ladder", DirectorState.IDLE)
        yield opened


@pytest.fixture
def supervised(home, people, file):
    ladder = OpenLadder(file, home)
    return SupervisedLadder(ladder, SupervisedRun("open", "ladder", home, people, Shutdown()), home)


def want(people, desired):
    people.directors.set_desired_state("open", desired, reason="Because.", by="dora")


def correct(people, kind, **arguments):
    people.requests.add("open", kind, arguments, subject="", reason="Why.", by="dora")


def state(people):
    return people.directors.report("open").state


@pytest.mark.slow
def test_it_plays_while_there_is_something_to_learn_and_ends_when_only_a_change_would_help(home, people, file):
    commits, may_end = SimpleNamespace(are_new=lambda: True), SimpleNamespace(is_over=lambda is_busy: not is_busy)
    noted, run = [], SupervisedRun("open", "ladder", home, people, Shutdown())
    supervised = SupervisedLadder(OpenLadder(file, home), run, home, lambda: noted.append(recorded(home)))
    supervised.supervise(Shutdown(), commits, may_end)
    assert (noted[0], recorded(home), state(people)) == (0, 6, DirectorState.IDLE)
    figures = people.directors.report("open").figures
    assert (figures.recorded, figures.scheduled, figures.playing) == (6, 6, 0)
    want(people, DesiredState.PAUSE)
    void_matches(home.store, "open", [2], reason="The power went.")
    for _ in range(2):
        supervised.supervise(Shutdown(), commits, may_end)
        assert (state(people), recorded(home)) == (DirectorState.PAUSED, 5)
    want(people, DesiredState.PLAY)
    for corrected in ([], [3]):  # also by a command, while it waits
        if corrected:
            void_matches(home.store, "open", corrected, reason="The power went.")
        while supervised.step() == 0.0:
            pass
        assert recorded(home) == 6


def test_files_that_differ_from_what_was_recorded_are_a_problem_that_names_them(home, people, file, caplog):
    definition = OpenLadder(file, home).definition()
    first, *others = definition.entrants
    other_files = replace(definition, entrants=(replace(first, digest="0" * 64), *others))
    stored = home.store.create_tournament(other_files, [])
    shutdown, note = Shutdown(), ProblemNote(home.directory, "ladder", str(file))
    seen = []

    def work():
        open_ladder._supervise(str(home.directory), str(file), shutdown, note)

    def see(_):
        seen.extend(problems(home.directory, people))
        shutdown.is_asked = True

    keep_trying(work, LOG, f"{file} can't be played now", note, is_over=lambda: shutdown.is_asked, sleep=see)
    [problem] = seen
    assert problem.service == "ladder"
    for text in (str(file), "tournament 'open' is in the store", f"the bot '{first.label}'"):
        assert text in problem.sentence
    assert problem.sentence in caplog.text
    assert state(people) is DirectorState.UNABLE
    assert stored.recorded == 0


@pytest.mark.slow
def test_a_drained_ladder_finishes_the_round_that_is_scheduled(supervised, people, home):
    """Its first round is scheduled when it begins: two bots, in both seat orders."""
    want(people, DesiredState.DRAIN)
    supervised.step()
    assert recorded(home) == 2
    assert supervised.step() > 0
    assert state(people) is DirectorState.DRAINED
    want(people, DesiredState.PLAY)
    supervised.step()
    assert recorded(home) == 6


@pytest.mark.slow(sample=True)
def test_with_too_few_bots_it_says_so_once_and_continues_by_itself(supervised, people, home, caplog):
    supervised.step()
    correct(people, "withdraw", bot="minimal")
    for _ in range(4):
        supervised.step()
    report = people.directors.report("open")
    assert report.state is DirectorState.SHORT
    assert report.sentence == (
        "a match has 2 players, and 1 can be paired; submit 1 more bot for differences, or undo a disqualification or"
        " withdrawal, and it continues by itself"
    )
    assert [record.message for record in caplog.records if "can be paired;" in record.message] == [
        f"open: {report.sentence}"
    ]
    correct(people, "undo", correction=1)
    correct(people, "void", numbers=[2])
    supervised.step()
    supervised.step()
    assert (state(people), recorded(home)) == (DirectorState.IDLE, 6)
    kinds = [one.kind for one in home.store.tournament("open").corrections]
    assert kinds == [CorrectionKind.WITHDRAW, CorrectionKind.UNDO, CorrectionKind.VOID]


class Program:
    def __init__(self, home, file, **options):
        arguments = [str(os.getpid()), str(home.directory), str(file)]
        command = [sys.executable, "-m", "arena.community.ladders.open_ladder", *arguments]
        self.process = subprocess.Popen(command, text=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


@pytest.mark.slow
def test_a_killed_program_stays_paused_and_sigterm_ends_it_with_the_match_recorded(home, people, file):
    file.write_text(LADDER.replace("matches = 6", "matches = 100000"))
    with Program(home, file):
        wait_until(lambda: recorded(home) > 0)
        want(people, DesiredState.PAUSE)
        wait_until(lambda: state(people) is DirectorState.PAUSED)
    paused_at = recorded(home)
    people.directors.report_state("open", "ladder", DirectorState.IDLE)
    with Program(home, file) as program:
        wait_until(lambda: state(people) is DirectorState.PAUSED)
        assert recorded(home) == paused_at
        want(people, DesiredState.PLAY)
        wait_until(lambda: recorded(home) > paused_at)
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(DEADLINE_SECONDS) == 0
    assert home.store.tournament("open").finished_at is None
    matches = [record.match for record in home.store.records("open")]
    assert len(matches) == len(set(matches)) == recorded(home)


@pytest.mark.slow
def test_a_match_that_takes_too_long_does_not_keep_sigterm_waiting(home, people, file, tmp_path):
    """It is ended after some seconds, quietly, and played by the next run."""
    directory = tmp_path / "slow"
    directory.mkdir()
    bot = "import time\nfrom arena.botkit import run\n\nrun(lambda game, state, clock: time.sleep(600))\n"
    (directory / "bot.py").write_text(bot)
    (directory / "bot.toml").write_text('name = "slow"\nversion = "1"\ncommand = ["python3", "bot.py"]\n')
    limit = "[time_control]\nper_action_seconds = 600.0\n"
    file.write_text(LADDER.replace('"arena:minimal"', f'"{directory}"') + limit)
    with Program(home, file, stderr=subprocess.PIPE) as program:
        wait_until(lambda: (found := people.directors.report("open").figures).playing or found.recorded)
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(DEADLINE_SECONDS) == 0
        assert own_errors(program.process.stderr.read()) == ""
    assert recorded(home) == 0


RESTS = "bots that can enter the contest spring are suspended until its results are revealed"


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


def submit_bot(home, tmp_path, name, version, index=0, games='["differences"]'):
    directory = tmp_path / f"{name}-{version}"
    directory.mkdir()
    (directory / "bot.py").write_text(kit_bot(action=f"game.legal_actions(state)[{index}]"))
    (directory / "bot.toml").write_text(
        f'name = "{name}"\nversion = "{version}"\ncommand = ["python3", "bot.py"]\ngames = {games}\n'
    )
    home.bots.add(home.bots.copy_in(directory))


def labels(definition):
    return [bot.label for bot in definition.entrants]


def test_a_submitted_bot_enters_and_a_new_version_takes_its_place(home, file, tmp_path):
    ladder = OpenLadder(file, home)
    assert [label.split("@")[0] for label in labels(ladder.definition())] == ["random_legal", "minimal"]
    submit_bot(home, tmp_path, "other", "1", games='["plaid"]')
    assert ladder.refresh() is None
    submit_bot(home, tmp_path, "mine", "1")
    assert labels(ladder.refresh())[2:] == ["mine@1"]
    assert ladder.refresh() is None
    submit_bot(home, tmp_path, "mine", "2", index=-1)
    assert labels(ladder.refresh())[2:] == ["mine@2"]
    home.bots.remove("mine@2")
    assert labels(ladder.refresh())[2:] == ["mine@1"]


def test_neither_a_bot_with_the_name_of_one_of_the_file_nor_one_whose_files_have_gone_enters(home, file, tmp_path):
    submit_bot(home, tmp_path, "minimal", "99")
    submit_bot(home, tmp_path, "mine", "1", index=-1)
    assert labels(OpenLadder(file, home).definition())[2:] == ["mine@1"]
    (bot,) = (one for one in home.store.submitted_bots() if one.name == "mine")
    for path in (home.directory / "bots" / bot.digest).iterdir():
        path.unlink()
    assert len(OpenLadder(file, home).definition().entrants) == 2
    file.write_text(LADDER.replace('"ladder"', '"round-robin"').replace("[ladder]\nmatches = 6\n", ""))
    with pytest.raises(DefinitionError, match="expected 'ladder'"):  # nothing else is always open
        OpenLadder(file, home)


DIGESTS = {"random_legal@1": "7540272821baf649", "greedy@1": "a311474e9e584511", "mcts@2": "f47dc76ee0638f0e"}
"""Of the files of each version. A ladder that is played refuses other files under a version that it knows."""


def test_other_files_have_another_version():
    found = {bot.label: bot.digest for bot in load_definition("arena:open_ladder").entrants}
    assert found == DIGESTS, "give the bot that has changed another version in its bot.toml, and add its digest here"


def test_another_version_enters_a_ladder_that_is_played_in_place_of_the_one_before(tmp_path):
    with ArenaHome(tmp_path) as home:
        ladder = OpenLadder("arena:open_ladder", home).definition()
        *others, last = ladder.entrants
        before = replace(last, version="0", digest="0" * 16)
        create_or_resume(replace(ladder, entrants=(*others, before)), home.store)
        resumed, *_ = create_or_resume(ladder, home.store)
    assert resumed.entrants == (*others, before, last)
    assert resumed.active == frozenset({0, 1, 3})
