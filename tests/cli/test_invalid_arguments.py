"""Whatever is given on the command line, the answer is a sentence: no traceback, and no "defect of the arena"."""

import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import click
import pytest

from arena.base.programs.service_program import noted_problems
from arena.cli.command_table import COMMANDS
from arena.cli.group import LazyGroup, run
from arena.cli.terminal.options import FilePath, Number, WholeNumber
from benchmarks import zoo_bots as zoo
from tests.cli.calls import called, told

ARENA = [sys.executable, "-m", "arena"]
MINIMAL = str(zoo.BOTS / "minimal")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with one played tournament, in a directory with a file of every unfit kind.

    Above it is one more: ``arena check ..`` would try all bots that other tests have left beside it.
    """
    directory = tmp_path_factory.mktemp("odd") / "directory"
    directory.mkdir()
    entrants = "\n".join(f'[[entrants]]\nbot = "{zoo.BOTS / name}"' for name in ("minimal", "random_legal"))
    (directory / "t.toml").write_text(f'game = "differences"\noptions = {{ size = 3 }}\n{entrants}\n')
    (directory / "binary").write_bytes(b"\x7fELF\0\xff\xfe" * 20)
    (directory / "empty").touch()
    (directory / "loop").symlink_to("loop")
    os.mkfifo(directory / "pipe")
    (directory / "directory").mkdir()
    subprocess.run([*ARENA, "run", "t.toml", "-q", "--home", "home"], cwd=directory, check=True, capture_output=True)
    return directory / "home"


@pytest.fixture
def arena(home, capfd, monkeypatch):
    monkeypatch.chdir(home.parent)

    def call(*arguments):
        code, out, errors = called(capfd, *arguments, "--home", home)
        assert "defect" not in errors
        return code, out, errors

    return call


def parameters():
    for name in COMMANDS:
        command = LazyGroup().get_command(click.Context(click.Group()), name)
        for parameter in command.params:
            yield name, parameter


def test_every_number_has_two_bounds_and_nan_is_outside():
    numbers = 0
    for name, parameter in parameters():
        kind = parameter.type
        if isinstance(kind, click.types.FloatParamType | click.types.IntParamType):
            numbers += 1
            assert isinstance(kind, Number | WholeNumber), f"{name} {parameter.name}"
    assert numbers >= 20


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "1e400", "9" * 30, "9" * 5000, "", "x", "0x1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("play", "differences", MINIMAL, MINIMAL, "--seconds"),
        ("play", "differences", MINIMAL, MINIMAL, "--rng-seed"),
        ("check", MINIMAL, "--seconds"),
        ("compare", MINIMAL, MINIMAL, "--game", "differences", "--elo0"),
        ("compare", MINIMAL, MINIMAL, "--game", "differences", "--alpha"),
        ("compare", MINIMAL, MINIMAL, "--game", "differences", "--limit"),
        ("run", "t.toml", "--workers"),
        ("schedule", "t.toml", "--workers"),
        ("matches", "t", "--limit"),
        ("report", "t", "--matches"),
        ("repro", "t/1", "--seat"),
        ("repro", "t/1"),
        ("replay", "t/1"),
    ],
    ids=lambda arguments: " ".join(arguments[-1:]) if isinstance(arguments, tuple) else None,
)
def test_a_number_that_is_none_or_out_of_bounds_is_refused(arena, arguments, value):
    if arguments[-1] == "--elo0" and value == "-1":
        pytest.skip("a number like any other")
    if arguments[-1] == "t/1":
        arguments = (*arguments[:-1], "t/" + value.removeprefix("-") * 2 + "0" * 9)
        value = None
    assert told(arena, 2, *arguments, *([value] if value is not None else [])).startswith("arena: ")


INVALID = ["", ".", "..", "/", "-", "x" * 300, "x" * 5000, "a\nb", "\u202eabc", "\udcff", "t/1/2", "t/", "\x1b[31m"]
FILES = ["directory", "binary", "empty", "pipe", "loop", "nowhere/x", "/dev/null", "/dev/zero", "/proc/kmsg"]
OF_NAMES = ["standings @", "standings t --game @", "stats @", "matches t --bot @", "replay @", "repro @", "show @"]
OF_NAMES += ["leaderboard @", "export @", "play @ BOT BOT", "play differences BOT BOT -o @", "crosstable @"]
OF_FILES = ["repro t/1 --bot @", "verify @", "run @ -q", "schedule @", "submit @", "check @", "play differences @ BOT"]
OF_FILES += ["compare @ BOT --game differences", "plot t --kind ratings -o @", "run t.toml --name @@/ -q"]


@pytest.mark.parametrize(
    ("line", "invalid"),
    [*product(OF_NAMES + OF_FILES, INVALID), *product(OF_FILES, FILES)],
    ids=lambda text: f"{ascii(text)[:30]}-{len(text)}",
)
def test_an_invalid_word_is_answered_in_a_sentence(arena, line, invalid):
    arguments = [MINIMAL if part == "BOT" else part.replace("@", invalid) for part in line.split()]
    code, _, errors = arena(*arguments)
    assert code == 2
    assert errors.replace("The latest tournament is t:\n", "").startswith("arena: ")


OF_PATHS = ["submit @", "check @", "play differences @ BOT", "run @", "publish t @", "new @", "report t --output @"]
OF_PATHS += ["home backup make @", "site units @", "tournament merge @", "correct enter t @ --reason x"]


@pytest.mark.parametrize("line", OF_PATHS)
def test_an_empty_path_is_not_the_directory(arena, home, monkeypatch, line):
    """A variable of the shell that is not set is an empty argument."""
    here = home.parent / "bot here"
    shutil.copytree(MINIMAL, here, dirs_exist_ok=True)
    monkeypatch.chdir(here)
    before = sorted(here.iterdir())
    code, _, errors = arena(*[MINIMAL if part == "BOT" else part.replace("@", "") for part in line.split()])
    assert (code, sorted(here.iterdir())) == (2, before)
    assert "'': expected a path, such as . for this directory" in errors


OF_NEW_FILES = ["publish t @", "new @", "report t --output @", "home backup make @", "lab quality differences --json @"]


@pytest.mark.parametrize("line", OF_NEW_FILES)
def test_a_standard_stream_is_no_path(arena, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    code, _, errors = arena(*line.replace("@", "-").split())
    assert (code, (tmp_path / "-").exists()) == (2, False)
    assert "'-': expected a path, not a standard stream; ./- is a file of this name" in errors


def test_every_path_is_of_the_type_that_refuses_an_empty_one():
    paths = [(name, parameter) for name, parameter in parameters() if isinstance(parameter.type, click.Path)]
    assert [(name, one.name) for name, one in paths if not isinstance(one.type, FilePath)] == []
    assert len(paths) >= 10


@pytest.mark.parametrize("invalid", ["directory/../empty", "x" * 300, "/dev/null", "/proc/x", "loop"])
def test_an_invalid_home_is_answered_in_a_sentence(home, capfd, monkeypatch, invalid):
    monkeypatch.chdir(home.parent)
    of_people = (["site", "people", "list"], ["site", "people", "adopt"])
    for arguments in (["standings"], ["run", "t.toml", "-q"], ["bots"], ["serve", "--port", "0"], *of_people):
        assert run([*arguments, "--home", invalid]) == 2
        errors = capfd.readouterr().err
        assert errors.startswith("arena: ")
        assert "defect" not in errors


@pytest.mark.slow
def test_pipes_in_a_home_from_elsewhere_keep_nobody_waiting(home, tmp_path):
    copy = shutil.copytree(home, tmp_path / "home")
    pipes = ("results-server", "people-server", "keys/left_out_key", "keys/signing_key.pem", "locks/t.lock")
    for name in (*pipes, "parts/web.lock", "parts/checker-away.trouble"):
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).unlink(missing_ok=True)
        os.mkfifo(copy / name)
    for arguments, code in (
        (["standings"], 0),
        (["tournament", "list"], 0),
        (["home", "doctor", "--serve", "--port", "0"], 1),
        (["publish", "t", str(tmp_path / "out")], 2),
        (["publish", "t", "--with-logs", "--sign", str(tmp_path / "out")], 2),
        (["tournament", "rename", "t", "u"], 2),
    ):
        command = [*ARENA, *arguments, "--home", str(copy)]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert ended.returncode == code, (arguments, ended)
        assert b"defect" not in ended.stderr
    assert list(noted_problems(copy)) == []


@pytest.mark.parametrize("variable", ["TMPDIR", "TEMP", "TMP"])
def test_a_place_for_scratch_directories_that_is_no_text_is_refused(arena, monkeypatch, tmp_path, variable):
    monkeypatch.setenv(variable, f"{tmp_path}/\udcff")
    for arguments in (("check", MINIMAL), ("bots",)):
        code, out, errors = arena(*arguments)
        assert (code, out) == (2, "")
        assert errors == f"arena: {variable} '{tmp_path}/\\udcff': expected text in UTF-8\n"


def shell(line, arguments, home):
    """Run a command in a shell line that has ``arena`` in it; return (stdout, stderr)."""
    text = line.replace("arena", " ".join([*ARENA, *arguments, "--home", str(home)]))
    done = subprocess.run(
        ["bash", "-c", text], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert "Traceback" not in done.stderr
    assert "defect" not in done.stderr
    return done.stdout.strip(), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["standings"], ["export"]])
def test_a_closed_or_full_output_is_told_and_a_reader_that_has_left_is_not(home, arguments):
    out, errors = shell("arena > /dev/full; echo $?", arguments, home)
    assert out == "2"
    assert "arena: the output can't be written: No space left on device" in errors
    out, errors = shell("(arena >&-); echo $?", arguments, home)
    assert (out, errors) == ("2", "arena: the standard output is closed; expected one that can be written\n")
    assert shell("arena > /dev/null <&- 2>&-; echo $?", arguments, home)[0] == "0"
    out, errors = shell("arena | true; echo ${PIPESTATUS[0]}", arguments, home)
    assert out in ("141", "0")  # by then it may have printed all
    assert errors in ("", "The latest tournament is t:\n")
    assert run(["verify", "--home", str(home)]) == 0  # nothing went into it


@pytest.mark.slow(sample=True)
def test_a_reader_that_has_left_gives_141(home):
    reader, writer = os.pipe()
    os.close(reader)
    command = [*ARENA, "export", "--home", str(home)]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_one_is_singular(arena):
    assert "2 matches in 1 encounter and 1 round\n" in arena("schedule", "t.toml")[1]
