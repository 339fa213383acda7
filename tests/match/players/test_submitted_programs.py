import os
import re
import shutil
from dataclasses import replace

import pytest

from arena.base.enums import FaultKind
from arena.base.errors import BotDefinitionError, DefinitionError
from arena.community.submissions.submission import submit
from arena.match.players.building import build_bots
from arena.match.players.manifest import as_submitted, load_bot
from arena.match.single_match import play_match
from arena.sandbox.isolation import interpreters
from arena.sandbox.isolation.interpreters import arena_interpreter, resolve_program
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.home import ArenaHome
from arena.store.results.values import StoredBot
from arena.tournament.definition import load_definition
from arena.tournament.executors.dask_worker import pack_bot, unpack_bot
from tests import needs
from tests.cli.calls import calling

PATH = "/usr/bin:/bin"
DEPLOY = "#!/bin/sh\nKEY=s3cret\n. ./helper.sh\n"
HELPER = 'cat "$0" >&2\nset >&2\n'


@pytest.fixture
def operator(tmp_path):
    """What the operator has on his machine: a script that reads a file where it is started, tools, and a runtime."""
    for directory in ("tools/bin", "runtime/bin", "keys"):
        (tmp_path / directory).mkdir(parents=True)
    (tmp_path / "runtime/pyvenv.cfg").write_text("home = /usr/bin\n")
    (tmp_path / "keys/notes.txt").write_text("s3cret")
    for name in ("tools/bin/deploy", "runtime/bin/python3"):
        (tmp_path / name).write_text(DEPLOY)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def make_bot(directory, command, build="", name="mallory"):
    directory.mkdir(exist_ok=True)
    (directory / "bot.toml").write_text(f'name = "{name}"\ncommand = {command}\n{build}games = ["differences"]\n')
    (directory / "helper.sh").write_text(HELPER)
    for file in ("run", "build/run"):
        (directory / file).parent.mkdir(exist_ok=True)
        (directory / file).write_text("#!/bin/sh\n")
        (directory / file).chmod(0o755)
    return directory


REFUSED = [
    "{place}/tools/bin/deploy",
    "{place}/runtime/bin/python3",
    "../tools/bin/deploy",
    "./../bot/../tools/bin/deploy",
    "/usr/bin/../../{place}/tools/bin/deploy",
    "/proc/self/root{place}/tools/bin/deploy",
    "/proc/self/cwd/../tools/bin/deploy",
    "{place}/keys/notes.txt",
    "{place}/not/there",
]


@pytest.mark.parametrize("program", REFUSED)
def test_a_submission_that_starts_the_operators_programs_is_refused_in_a_sentence(operator, program):
    program = program.format(place=operator)
    for command, build in ((f'["{program}"]', ""), ('["run"]', f'build = ["{program}"]\n')):
        bot = make_bot(operator / "bot", command, build)
        refusal = r"(?s)(command|build) = '.*a submitted bot may not start this"
        with ArenaHome(operator / "home") as home, pytest.raises(BotDefinitionError, match=refusal):
            submit(home, bot)
        assert not list((operator / "home").glob("bots/*"))


@pytest.mark.parametrize(
    "file",
    [
        "{place}/tools/bin/deploy",
        "{place}/runtime/bin/python3",
        "./linked",
        "linked_directory/bin/deploy",
        "./first_line",
        "./first_line_by_a_link",
        "/proc/self/root{place}/tools/bin/deploy",
    ],
)
def test_nothing_of_the_operators_is_opened_for_a_submitted_bot(operator, file, monkeypatch):
    """Also where the arena's Python is beside the operator's own programs, which are then on the bots' PATH."""
    monkeypatch.setattr(interpreters, "arena_interpreter", lambda: str(operator / "tools/bin/python3"))
    bot = make_bot(operator / "bot", '["run"]')
    (bot / "linked").symlink_to(operator / "tools/bin/deploy")
    (bot / "linked_directory").symlink_to(operator / "tools")
    for name, line in (("first_line", f"#!{operator}/tools/bin/deploy"), ("first_line_by_a_link", "#!./linked")):
        (bot / name).write_text(line)
        (bot / name).chmod(0o755)
    found = resolve_program(file.format(place=operator), (str(bot),), PATH, submitted=True)
    assert found.paths == ()
    assert found.refused
    on_path = resolve_program("deploy", (str(bot),), f"{operator}/tools/bin", submitted=True)
    assert on_path.paths == ()
    assert on_path.refused == str(operator / "tools/bin/deploy")


@pytest.mark.parametrize("program", ["run", "./run", "build/../run", "python3", "sh", "/bin/sh", arena_interpreter()])
def test_what_every_bot_may_start_a_submitted_one_may(operator, program):
    assert as_submitted(load_bot(make_bot(operator / "bot", f'["{program}", "run"]'))).submitted


@pytest.mark.parametrize("level", ["limits", "landlock", "bubblewrap"])
def test_a_stored_bot_that_starts_the_operators_program_has_a_start_fault(operator, level):
    """As an earlier version has submitted it: its line in the list says nothing, but where it lies does."""
    needs.isolation(level)
    with ArenaHome(operator / "home") as home:
        bot = load_bot(make_bot(operator / "bot", f'["{operator}/tools/bin/deploy"]'))
        shutil.copytree(operator / "bot", operator / "home/bots" / bot.digest)
        home.store.add_bot(StoredBot("mallory", "1", bot.digest, ".", "2026-01-01T00:00:00+00:00"))
        stored = replace(home.bots.find("mallory"), submitted=False)
    record = play_match("differences", [stored, stored], isolation=level)
    fault = record.faults[0]
    assert fault.kind is FaultKind.START
    assert "tools/bin/deploy is a program that a submitted bot may not use: expected a file of the bot" in fault.detail
    assert "s3cret" not in record.seats[0].stderr
    (operator / "worker").mkdir()
    assert unpack_bot(pack_bot(stored), operator / "worker").submitted


def test_a_name_in_a_build_is_searched_on_the_path_of_submitted_bots(operator, monkeypatch):
    monkeypatch.setenv("PATH", f"{operator}/tools/bin:{os.environ['PATH']}")
    bot = load_bot(make_bot(operator / "bot", '["build/run"]', 'build = ["deploy"]\n'))
    with pytest.raises(
        BotDefinitionError, match=r"no program 'deploy' on the PATH of submitted bots, .*who can put a link"
    ):
        build_bots([as_submitted(bot)], choose_isolation("none"))
    build_bots([bot], choose_isolation("none"))  # in place it is started


def test_bots_in_place_may_start_other_programs_after_the_operator_has_said_so(operator, capfd):
    """By a path in his own tournament file, or by an option; what is in a folder that he collects from has neither."""
    bot = make_bot(operator / "bot", f'["{operator}/runtime/bin/python3", "run"]')
    make_bot(operator / "rival", '["run"]', name="rival")
    file = operator / "t.toml"
    file.write_text(f'game = "differences"\n[[entrants]]\nbot = "{bot}"\n[[entrants]]\nbot = "./rival"\n')
    assert [entrant.submitted for entrant in load_definition(file).entrants] == [False, False]
    file.write_text('game = "differences"\nentrants_from = "[br]*"\n')
    sentence = r"its program is \S+/runtime/bin/python3: expected a file of the bot.* --in-place"
    with pytest.raises(DefinitionError, match=sentence):
        load_definition(file)
    shutil.make_archive(str(operator / "bot"), "zip", bot)
    arena = calling(operator / "home", capfd)
    for path in (bot, operator / "bot.zip"):
        code, _, errors = arena("check", path)
        assert code == 2
        assert re.search(sentence, " ".join(errors.split()))
    code, out, _ = arena("check", bot, "--in-place", "--game", "differences")
    assert code == 1
    assert "FAILED  starts and says ready" in out
    code, _, errors = arena("check", operator / "bot.zip", "--in-place")
    assert (code, "was submitted; expected one that plays from where it lies" in errors) == (2, True)
