import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.enums import FaultKind
from arena.base.errors import BotDefinitionError, DefinitionError, GameError
from arena.base.records import Bot, Fault
from arena.community.submissions.submission import submit
from arena.games import make_game
from arena.match.players import bot_files as excluded_files
from arena.match.players.bot_files import LEFT_OUT, describe_left_out
from arena.match.players.building import build_bots
from arena.match.players.diagnosis import Failure, hint_for
from arena.match.players.game_location import check_readable_game, find_external_game
from arena.match.players.manifest import as_submitted, load_bot
from arena.match.single_match import play_match
from arena.sandbox.isolation import interpreters
from arena.sandbox.isolation.interpreters import arena_interpreter, resolve_program
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.home import ArenaHome
from arena.store.results.values import StoredBot
from arena.tournament.definition import load_definition, make_definition
from arena.tournament.executors.dask_worker import pack_bot, unpack_bot
from arena.tournament.resumption import create_or_resume
from tests import mistaken_games, needs
from tests.cli.calls import calling, shown, told
from tests.conftest import BOTS, ROOT
from tests.deep_places import nested

PATH = "/usr/bin:/bin"
DEPLOY = "#!/bin/sh\nKEY=s3cret\n. ./helper.sh\n"
HELPER = 'cat "$0" >&2\nset >&2\n'


@pytest.fixture
def operator(tmp_path):
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


REFUSED = """{place}/tools/bin/deploy {place}/runtime/bin/python3 ../tools/bin/deploy ./../bot/../tools/bin/deploy
/usr/bin/../../{place}/tools/bin/deploy /proc/self/root{place}/tools/bin/deploy /proc/self/cwd/../tools/bin/deploy
{place}/keys/notes.txt {place}/not/there"""


@pytest.mark.parametrize("program", REFUSED.split())
def test_a_submission_that_starts_the_operators_programs_is_rejected_in_a_sentence(operator, program):
    program = program.format(place=operator)
    for command, build in ((f'["{program}"]', ""), ('["run"]', f'build = ["{program}"]\n')):
        bot = make_bot(operator / "bot", command, build)
        refusal = r"(?s)(command|build) = '.*a submitted bot may not start this"
        with ArenaHome(operator / "home") as home, pytest.raises(BotDefinitionError, match=refusal):
            submit(home, bot)
        assert not list((operator / "home").glob("bots/*"))


OPERATORS = """{place}/tools/bin/deploy {place}/runtime/bin/python3 /proc/self/root{place}/tools/bin/deploy
./linked linked_directory/bin/deploy ./first_line ./first_line_by_a_link"""


@pytest.mark.parametrize("file", OPERATORS.split())
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
    refusal = r"no program 'deploy' on the PATH of submitted bots, .*who can put a link"
    with pytest.raises(BotDefinitionError, match=refusal):
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
        errors = told(arena, 2, "check", path)
        assert re.search(sentence, " ".join(errors.split()))
    out = shown(arena, 1, "check", bot, "--in-place", "--game", "differences")
    assert "FAILED  starts and says ready" in out
    code, _, errors = arena("check", operator / "bot.zip", "--in-place")
    assert (code, "was submitted; expected one that plays from where it lies" in errors) == (2, True)


BOT = "from arena.botkit import run\nrun(lambda game, state, clock: game.legal_actions(state)[0])\n"


@pytest.fixture
def bot(tmp_path):
    directory = tmp_path / "bot"
    directory.mkdir()
    (directory / "bot.py").write_text(BOT)
    manifest = 'name = "b"\nversion = "1"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'
    (directory / "bot.toml").write_text(manifest)
    return directory


def put(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_bot_of_plain_files_leaves_out_nothing_hidden_ones_included(bot):
    put(bot / ".hidden")
    put(bot / "lib" / ".more" / "file.py")
    assert describe_left_out(bot) == describe_left_out(bot / "bot.py") == describe_left_out(bot / "none") == []


def test_what_is_left_out_is_named_once_with_how_often(bot):
    for place in (".git/HEAD", ".venv/bin/python", "__pycache__/a.pyc", "lib/__pycache__/b.pyc", "c.pyc"):
        put(bot / place)
    first, second = describe_left_out(bot)
    assert first == "left out, as no part of the bot: *.pyc, .git/, .venv/, __pycache__/ (2 times)"
    assert second.startswith(".venv: made for one place")
    assert "docs/dependencies.md" in second


def test_what_is_no_file_is_named_by_its_path(bot):
    (bot / "lib").mkdir()
    (bot / "lib" / "data").symlink_to("/usr/share")
    (bot / "gone").symlink_to("nowhere")
    os.mkfifo(bot / "pipe")
    (only,) = describe_left_out(bot)
    assert only.endswith(": gone (a link to no file), lib/data (a link to no file), pipe (not a file)")


@pytest.fixture
def deep(bot):
    """The bot's directory with more levels than Python may recurse; removed by a program that doesn't recurse."""
    os.close(nested(bot, ["d"] * 1500))
    yield bot
    subprocess.run(["rm", "-rf", str(bot / "d")], check=True)


def test_looking_knows_no_depth(deep):
    put(deep / ".venv" / "file")
    assert len(describe_left_out(deep)) == 2


def test_looking_is_bounded(bot, monkeypatch):
    for number in range(40):
        put(bot / f"{number}.pyc")
    monkeypatch.setattr(excluded_files, "MAX_ENTRIES", 10)
    assert sum(excluded_files._left_out(bot).values()) <= 10


def test_submit_says_it_before_it_tries_the_bot_and_where_it_refuses_it(bot, home):
    put(bot / ".venv" / "bin" / "python")
    said = []
    assert submit(home, bot, said.append).refusal is None
    assert said[0].startswith("left out, as no part of the bot: .venv/")
    assert said[-1].startswith("differences: a match of")


NO_PART = """__pycache__/a.pyc x.pyc .mypy_cache/x .pytest_cache/x .ruff_cache/x .git/HEAD .hg/x .svn/x .venv/x
node_modules/x .DS_Store ._bot.py __MACOSX/x Thumbs.db desktop.ini"""


@pytest.mark.parametrize("name", NO_PART.split())
def test_what_systems_put_beside_a_bot_changes_it_in_no_case_of_letters(bot, home, name):
    digest = load_bot(bot).digest
    for path in (name, f"lib/{name.upper()}", f"lib/more/{name.lower()}"):
        put(bot / path, "[core]")
    assert load_bot(bot).digest == digest
    copied = home.bots.copy_in(bot)
    assert sorted(path.name for path in Path(copied.directory).rglob("*")) == ["bot.py", "bot.toml"]
    assert describe_left_out(bot)[0].startswith("left out, as no part of the bot: ")
    page = (ROOT / "docs/packaging.md").read_text()
    assert {*re.findall(r"`(\S+)`", page.partition("its letters have:\n\n")[2].partition("\n\n")[0])} == {*LEFT_OUT}


def test_a_bot_that_was_stored_with_such_files_keeps_its_identity(bot, home):
    """In the home, in a tournament that is resumed from where the bot lies, and when it is submitted again."""
    for name in (".DS_Store", ".GIT/HEAD", "Thumbs.db"):
        put(bot / name)
    digest = hashlib.sha256()  # as versions before this rule have computed it: directories last, by name
    for name in (".DS_Store", "Thumbs.db", "bot.py", "bot.toml", ".GIT/HEAD"):
        content = (bot / name).read_bytes()
        digest.update(f"{name}\0{0}\0{len(content)}\0".encode() + content)
    stored = digest.hexdigest()[:16]
    shutil.copytree(bot, home.directory / "bots" / stored)
    home.store.add_bot(StoredBot("b", "1", stored, ".", "2026-01-01T00:00:00+00:00"))
    assert home.bots.find("b").digest == stored
    again = submit(home, bot)
    found = (again.is_old, again.bot.digest, again.bot.directory)
    assert found == (True, stored, f"{home.directory}/bots/{stored}")
    entrants = [replace(load_bot(bot), digest=stored), load_bot("arena:random_legal")]
    begun = make_definition("t", "differences", entrants)
    create_or_resume(begun, home.store)
    now = replace(begun, entrants=(load_bot(bot), entrants[1]))
    assert create_or_resume(now, home.store)[0].entrants[0].digest == stored
    put(bot / "bot.py", BOT + "#")
    with pytest.raises(BotDefinitionError, match="submitted with other files"):
        submit(home, bot)
    with pytest.raises(DefinitionError, match="differs"):
        create_or_resume(replace(begun, entrants=(load_bot(bot), entrants[1])), home.store)


GREEDY, MINIMAL = str(BOTS / "greedy"), str(BOTS / "minimal")
SOURCE = Path(mistaken_games.__file__).read_text(encoding="utf-8")


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    find_external_game.cache_clear()  # other tests have had files of the same names
    known = set(sys.modules)

    def write_files(**sources):
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(source)
        return tmp_path

    yield write_files
    for name in set(sys.modules) - known:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in sys.modules[name].__file__:
            del sys.modules[name]


def test_a_game_in_one_file_and_a_game_in_a_package_can_be_read(write):
    write(located_alone=SOURCE)
    check_readable_game("located_alone:Counting")
    check_readable_game("tests.mistaken_games:Counting")
    check_readable_game("differences")
    check_readable_game("arena.games.differences:Differences")


@pytest.mark.parametrize(
    "line", ["import located_helper", "from located_helper import GOAL", "import json, located_helper as helper"]
)
def test_a_file_that_imports_one_beside_it_is_named_before_the_first_match(write, line):
    write(located_helper="GOAL = 3\n", located_game=f"{SOURCE}\n{line}\n")
    with pytest.raises(GameError) as caught:
        check_readable_game("located_game:Counting")
    assert str(caught.value) == (
        "the game 'located_game:Counting' is at fault: its module imports 'located_helper' from beside it, which bots"
        f" can't read; make both one package (located_game.py:{SOURCE.count(chr(10)) + 2})"
    )
    with pytest.raises(GameError, match="imports 'located_helper'"):
        play_match("located_game:Counting", GREEDY, MINIMAL)


def test_a_tournament_of_such_a_game_is_refused_only_if_a_bot_needs_the_rules(write):
    write(located_helper="GOAL = 3\n", located_game=f"{SOURCE}\nimport located_helper\n")
    with pytest.raises(DefinitionError, match="the game 'located_game:Counting' is at fault: its module imports"):
        make_definition("t", "located_game:Counting", {"a": GREEDY, "b": MINIMAL})
    make_definition("t", "located_game:Counting", {"a": MINIMAL, "b": MINIMAL})


def test_a_module_without_a_file_is_named(monkeypatch):
    module = type(sys)("located_nowhere")
    exec(SOURCE, module.__dict__)
    monkeypatch.setitem(sys.modules, "located_nowhere", module)
    assert make_game("located_nowhere:Counting").players == 2
    with pytest.raises(GameError, match="its module is no file that bots could read; put it into a file of its own"):
        check_readable_game("located_nowhere:Counting")


@pytest.mark.skipif(os.geteuid() != 0, reason="bots of others than root run as the same user")
def test_a_file_that_only_its_owner_may_read_is_named(write):
    (write(located_private=SOURCE) / "located_private.py").chmod(0o600)
    with pytest.raises(GameError, match="its module may not be read by bots, which run as another user: chmod"):
        check_readable_game("located_private:Counting")


TRACEBACK = """\
Traceback (most recent call last):
  File "/bots/b/bot.py", line 7, in <module>
    run(choose)
  File "/bots/b/bot.py", line 4, in choose
    return game.apply(state, 1)
  File "{file}", line 41, in apply
    return table[3]
{below}KeyError: 3
"""


def hint(below="", after=""):
    bot = Bot(name="b", version="1", command=("python3", "bot.py"), directory="/bots/b")
    fault = Fault(seat=0, kind="exit", ply=2, detail="exit status 1")
    stderr = TRACEBACK.format(file=mistaken_games.__file__, below=below) + after
    return hint_for(Failure(bot, fault, stderr, game="tests.mistaken_games:ApplyRaises"))


def test_a_bot_that_ended_in_the_rules_points_at_the_game():
    assert hint() == (
        "the rules of tests.mistaken_games:ApplyRaises raised KeyError at mistaken_games.py, line 41: 3; unless the"
        " program called them with an action that is not legal, the game is at fault:"
        " arena check --rules tests.mistaken_games:ApplyRaises"
    )


def test_a_bot_that_ended_in_its_own_code_does_not():
    assert hint('  File "/bots/b/bot.py", line 9, in callback\n    return table[3]\n').startswith(
        "the program raised KeyError at bot.py, line 9"
    )


def test_what_python_suggests_is_not_cut_off():
    text = "'Plusminus' object has no attribute 'legal_action'. Did you mean: 'legal_actions'?"
    assert text in hint('  File "/bots/b/bot.py", line 4, in choose\n', f"AttributeError: {text}\n")
