import fcntl
import io
import os
import re
import shlex
import shutil
import sqlite3
import sys
import termios
import time
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import click
import pytest

from arena.base.shipped import example_bots, example_tournaments
from arena.cli import completion, group
from arena.cli.command_table import COMMANDS, LISTED
from arena.cli.completion import CANDIDATES, PATHS
from arena.cli.group import LazyGroup, run
from arena.store.home import ArenaHome
from arena.store.results.known_names import KnownNames
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from benchmarks import zoo_bots as zoo
from tests.cli.calls import calling, printed, refusal
from tests.cli.typed_terminal import Terminal

TRICKS = "it's $(touch pwned); `touch pwned`"
HOSTILE = ("x\x1b[31m", "y\nz", "-rf", "a,b", "\u202egpj")
FILE = f"""
game = "differences"
options = {{ size = 3 }}
[[entrants]]
bot = "{zoo.BOTS / "minimal"}"
[[entrants]]
bot = "{zoo.BOTS / "minimal"}"
name = "some bot"
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("completion")
    program = directory / "bin" / "arena"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m arena "$@"\n')
    program.chmod(0o755)
    (directory / "tiny.toml").write_text(FILE)
    (directory / "empty").mkdir()
    with ArenaHome(directory / ".arena") as home:
        run_tournament(load_definition(directory / "tiny.toml"), home.store, executor="in-process")
    with closing(sqlite3.connect(directory / ".arena" / "arena.sqlite3")) as database:
        columns = "definition, created_at, format"
        for name in ("two words", TRICKS, "a:b", "*", "deleted", *HOSTILE):
            copy = f"INSERT INTO tournaments (name, {columns}) SELECT ?, {columns} FROM tournaments WHERE id = 1"
            database.execute(copy, (name,))
        database.commit()
    with ArenaHome(directory / ".arena") as home:
        home.store.delete(home.store.tournament("deleted"))
        home.store.seasons.add("spring", home.store.tournaments()[:2])
    return directory


def complete(directory, line, **variables):
    asked = {"_ARENA_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_WORDBREAKS": " :=", **variables}
    printed, errors = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(errors):
        for name in ("ARENA_HOME", "ARENA_STORE"):
            patch.delenv(name, raising=False)

        def completing(command, add=completion.add_completions):
            for parameter in command.params:
                patch.setattr(parameter, "type", parameter.type)  # put back at the end
            add(command)
            return command

        load = group._import_command  # once in a process
        patch.setattr(completion, "add_completions", completing)
        patch.setattr(group, "_import_command", lambda name: completing(load(name)))
        patch.chdir(directory)
        for name, value in asked.items():
            patch.setenv(name, value)
        with suppress(SystemExit):
            run([])
    assert errors.getvalue() == ""
    printed.flush()
    return printed.buffer.getvalue().decode().strip().splitlines()


def plain(items):
    return [item.removeprefix("plain,") for item in items if item.startswith("plain,")]


def test_what_may_stand_there_is_completed(directory):
    assert plain(complete(directory, "arena ")) == [name for names in LISTED.values() for name in names]
    assert plain(complete(directory, "arena correct re")) == ["replace"]
    assert plain(complete(directory, "arena st")) == ["standings", "stats"]
    assert plain(complete(directory, "arena --")) == ["--home", "--store", "--version", "--help"]
    assert "--workers" in plain(complete(directory, "arena run --w"))
    assert plain(complete(directory, "arena replay ")) == ["tiny/1", "tiny/2"]
    assert plain(complete(directory, "arena bot repro tiny/2")) == ["tiny/2"]
    assert complete(directory, "arena replay nobody/") == []
    bots = plain(complete(directory, "arena check "))
    assert bots[:4] == ["minimal", "minimal@1", "some bot", "some bot@1"]
    assert bots[4:] == [f"arena:{name}" for name in example_bots()]
    assert plain(complete(directory, "arena play differences arena:gre")) == ["greedy"]  # bash splits at the colon
    assert plain(complete(directory, "arena play p")) == ["plusminus", "plaid"]
    assert plain(complete(directory, "arena standings --game pla")) == ["plaid"]
    assert plain(complete(directory, "arena standings --game=pla")) == ["plaid"]
    assert plain(complete(directory, "arena run ")) == [f"arena:{name}" for name in example_tournaments()]
    assert complete(directory, "arena run t") == ["file,t"]
    assert plain(complete(directory, "arena standings --format c")) == ["csv"]
    assert plain(complete(directory, "arena new x --language p")) == ["python", "python-plain"]
    assert plain(complete(directory, "arena play --isolation l")) == ["limits", "landlock"]
    assert complete(directory, "arena --home e") == ["dir,e"]
    for line in ("arena tournament restore ", "arena tournament restore "):
        assert plain(complete(directory, line)) == ["deleted"]
    for line in ("arena tournament season ", "arena leaderboard --season "):
        assert plain(complete(directory, line)) == ["spring"]
    assert plain(complete(directory, "arena tournament season spring --add tin")) == ["tiny"]
    assert "some bot@1" in plain(complete(directory, "arena bot list --remove "))
    assert plain(complete(directory, "arena tournament rename tiny ")) == []


def test_tournaments_are_completed_but_not_the_deleted_nor_hostile_names(directory):
    expected = ["*", "a:b", TRICKS, "two words", "tiny"]  # the latest first
    for command in ("standings", "verify", "report", "crosstable"):
        assert plain(complete(directory, f"arena {command} ")) == expected
    assert plain(complete(directory, "arena standings t")) == ["two words", "tiny"]
    assert plain(complete(directory, "arena standings two\\ w")) == ["two words"]
    assert plain(complete(directory, 'arena standings "two w')) == ["two words"]


def test_names_come_from_the_home_that_the_line_names(directory):
    away = directory / "empty"
    assert plain(complete(away, "arena standings ")) == []
    assert "tiny" in plain(complete(away, f"arena --home {directory}/.arena standings "))
    assert "tiny" in plain(complete(away, f"arena standings --home {directory}/.arena "))
    assert "tiny" in plain(complete(away, "arena standings ", ARENA_HOME=f"{directory}/.arena"))
    assert plain(complete(directory, "arena standings ", ARENA_STORE="postgresql://nowhere/x")) == []


def test_without_a_home_nothing_is_said_and_nothing_written(directory, tmp_path):
    for home in ("missing", "/dev/null", "/proc/self/mem", "x" * 5000, str(tmp_path)):
        assert complete(tmp_path, f"arena --home {home} standings ") == []
    (tmp_path / "arena.sqlite3").write_bytes(b"no database")
    assert complete(tmp_path, f"arena --home {tmp_path} standings ") == []
    assert [path.name for path in tmp_path.iterdir()] == ["arena.sqlite3"]


def test_a_home_in_use_is_not_waited_for_and_not_changed(directory, tmp_path):
    shutil.copytree(directory / ".arena", tmp_path / "home")
    file = tmp_path / "home" / "arena.sqlite3"
    before = file.read_bytes()
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        started = time.monotonic()
        complete(directory, f"arena --home {tmp_path / 'home'} standings ")
        assert time.monotonic() - started < 25  # and not the half minute for which other commands wait
        database.execute("ROLLBACK")
    assert file.read_bytes() == before


@pytest.mark.parametrize("what", ["", "-journal", "view"])
def test_a_home_from_elsewhere_is_not_waited_for(tmp_path, what):
    ArenaHome(tmp_path / "home").close()
    path = tmp_path / "home" / "arena.sqlite3"
    if what == "view":
        endless = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)"
        with closing(sqlite3.connect(path)) as database:
            database.execute("ALTER TABLE tournaments RENAME TO hidden")
            database.execute(f"CREATE VIEW tournaments AS {endless} SELECT hidden.* FROM hidden, numbers WHERE n < 0")
    else:
        if not what:
            path.unlink()
        os.mkfifo(f"{path}{what}")
    started = time.monotonic()
    assert KnownNames(path).tournaments() == []
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "line", ["", "arena", "nonsense", "arena nobody x", "arena 'open", "arena \\", "arena run \udcff"]
)
def test_an_invalid_line_is_no_error(directory, line):
    complete(directory, line)


def test_every_argument_is_completed_or_is_a_word_of_its_own():
    own = {"matches", "name", "number", "path", "ply", "shell", "url"}
    for name in COMMANDS:
        for parameter in LazyGroup().get_command(click.Context(click.Group()), name).params:
            if isinstance(parameter, click.Argument) and not isinstance(parameter.type, click.Choice):
                assert parameter.name in own | CANDIDATES.keys() | PATHS.keys(), f"{name} {parameter.name}"


def test_the_script_of_a_shell_is_printed_and_an_unknown_shell_is_one_sentence(capsys, tmp_path):
    arena = calling(tmp_path, capsys)
    for shell in ("bash", "zsh", "fish"):
        assert f"_ARENA_COMPLETE={shell}_complete" in printed(arena, "completion", shell)
    for arguments in (["tcsh"], [""], ["bash", "zsh"], []):
        assert refusal(arena, "completion", *arguments)


# real shells


ZSH_WIDGET = 'shown() { print -r -- "<$BUFFER>" }; zle -N shown; bindkey "^G" shown'
SHELLS = {
    "bash": (["--norc", "--noprofile", "-i"], r"""bind -x '"\C-g": printf "<%s>\n" "$READLINE_LINE"'"""),
    "zsh": (["-f", "-i"], f"autoload -U compinit; compinit -u -D; {ZSH_WIDGET}"),
    "fish": (["--no-config", "-i"], r"""bind \cg 'printf "<%s>\n" (commandline)'"""),
}
"""The options of each shell, and what makes Ctrl-G print the line."""


class Shell(Terminal):
    """A shell at a terminal, in which Tab completes and Ctrl-G prints the line as ``<LINE>``."""

    def __init__(self, shell, directory):
        options, prepare = SHELLS[shell]
        path = f"{directory / 'bin'}:{os.environ['PATH']}"
        environment = {"PATH": path, "HOME": str(directory), "COLUMNS": "200", "LC_ALL": "C.UTF-8"}
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        own = lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # noqa: E731  # the terminal is that of the shell's session
        super().__init__([shell, *options], {"cwd": directory, "preexec_fn": own}, **environment)
        load = "arena home completion fish | source" if shell == "fish" else f'eval "$(arena home completion {shell})"'
        self.type(f"{prepare}; {load}; printf '%s\\n' rea''dy\r".encode())

    def __enter__(self):
        self.read_until(r"[\r\n]ready")
        return self

    def complete(self, text):
        self.type(f"{text}\t\x07".encode())
        shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.read_until(r"<[^>]*>"))
        self.type(b"\x15\x0c")
        return re.search(r"<([^>]*)>", shown)[1]


@pytest.fixture(params=["bash", "zsh", "fish"])
def terminal(request, directory):
    if shutil.which(request.param) is None:
        pytest.skip(f"needs {request.param}")
    with Shell(request.param, directory) as terminal:
        yield terminal


@pytest.mark.slow(only=("bash",), sample=True)
def test_a_shell_completes_commands_and_names(terminal, directory):
    assert terminal.complete("arena stand").rstrip() == "arena standings"
    assert terminal.complete("arena standings tin").rstrip() == "arena standings tiny"
    assert terminal.complete("arena replay t").rstrip() == "arena replay tiny/"
    assert terminal.complete("arena play differences arena:gree").rstrip() == "arena play differences arena:greedy"
    assert terminal.complete("arena run tin").rstrip() == "arena run tiny.toml"
    assert terminal.complete("arena --home emp").rstrip("/ ") == "arena --home empty"
    for name in ("two words", TRICKS, "a:b"):
        line = terminal.complete(f"arena standings {name[:2]}").strip()
        assert shlex.split(line) == ["arena", "standings", name]
    assert not (directory / "pwned").exists()
