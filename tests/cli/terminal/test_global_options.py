import os
import re
import subprocess
import sys
from collections import defaultdict
from functools import partial

import click
import pytest

from arena.cli import group
from arena.cli.command_table import COMMANDS, LISTED, NOUNS
from arena.cli.group import LazyGroup
from arena.store.home import ArenaHome
from tests.cli.calls import called, printed, refusal, told


@pytest.fixture
def arena(capsys, monkeypatch, tmp_path):
    """Return a function that runs a command in an empty directory and returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_HOME", raising=False)
    monkeypatch.delenv("ARENA_STORE", raising=False)
    return partial(called, capsys)


def summary(name):
    return COMMANDS[name].summary if name in COMMANDS else NOUNS[name].summary


@pytest.mark.parametrize("columns", [80, 200])
def test_the_help_fits_a_screen_and_lists_commands_under_headings_without_a_wrapped_line(arena, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = printed(arena, "--help")
    assert max(map(len, text.splitlines())) <= columns
    assert len(text.splitlines()) <= 40
    sections = dict(re.findall(r"^(\w[^:\n]*):\n((?:  .*\n)+)", text, re.MULTILINE))
    assert list(sections)[:3] == ["Play", "Look", "Write a bot"]
    assert sections["Play"].split()[0] == "quickstart", "the first command of a first visit"
    for heading, names in LISTED.items():
        listed = re.findall(r"^  (\w+) +(.*)$", sections[heading], re.MULTILINE)
        assert listed == [(name, summary(name)) for name in names]
    assert re.findall(r"^  (--\w+)", sections["Global options"], re.MULTILINE) == ["--home", "--store", "--version"]


def test_every_command_is_listed_once_by_the_arena_or_by_a_noun():
    groups = [*LISTED.values(), *(noun.commands for noun in NOUNS.values())]
    listed = [name for names in groups for name in names.values()]
    assert sorted(listed) == sorted([*COMMANDS, *NOUNS])
    assert all(re.fullmatch(r"[A-Z][a-z]+,? .*[^.]\.", summary(name)) for name in listed), "sentences"


@pytest.mark.parametrize(
    ("noun", "spelling", "name"),
    [(noun, *names) for noun, one in NOUNS.items() for names in one.commands.items()],
    ids=lambda value: value,
)
def test_a_command_of_a_noun_is_the_one_by_its_plain_name(arena, noun, spelling, name):
    text = printed(arena, noun, spelling, "--help")
    assert f"  {spelling} " in arena(noun, "--help")[1]
    assert text.replace(f"Usage: arena {noun} {spelling}", f"Usage: arena {name}") == arena(name, "--help")[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_only_points_to_the_global_options(arena, name):
    text = printed(arena, name, "--help")
    assert text.count("--home") == text.count("--store") == 1
    assert text.splitlines()[-1].strip() == "Global options: --home, --store; see arena --help."


@pytest.mark.parametrize(
    "line", ["--home here bots", "bots --home here", "--home here bots --home here", "bots --home=here"]
)
def test_the_home_may_be_given_before_or_after_the_command(arena, tmp_path, line):
    assert arena(*line.split())[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_the_command_line_outweighs_the_environment(arena, monkeypatch, tmp_path):
    monkeypatch.setenv("ARENA_HOME", "theirs")
    assert arena("--home", "mine", "bots")[0] == 0
    assert arena("bots")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "theirs"]


HERE, THERE = "postgresql://me:secret@x/arena", "postgresql://me:other@y/arena"
REFUSED = [
    ("correct voidd", "arena correct 'voidd': did you mean 'void'?"),
    ("--home a bots --home b", "--home: 'b' after the command and 'a' before it; expected one of them"),
    (f"--store {HERE} bots --store {THERE}", "me:***@x"),
    ("--store mysql://x/y bots", "store 'mysql://x/y': expected a URL such as postgresql://"),
    ("bots --store mysql://x/y", "store 'mysql://x/y': expected a URL such as postgresql://"),
    *((line, f"Option '{line.split()[-1]}' requires an argument.") for line in ("--home", "bots --home", "--store")),
]


@pytest.mark.parametrize(("line", "sentence"), REFUSED)
def test_what_is_refused_opens_nothing_and_tells_no_password(arena, tmp_path, line, sentence):
    said = refusal(arena, *line.split())
    assert sentence in said and "secret" not in said
    assert not list(tmp_path.iterdir())


def test_what_one_command_line_says_does_not_outlast_it(arena, tmp_path):
    arena("--home", "a", "--store", "mysql://x/y", "bots")
    assert arena("bots")[0] == 0
    assert (tmp_path / ".arena").is_dir()


def test_a_command_that_only_reads_creates_no_home(arena, tmp_path):
    assert "nowhere: there is no tournament yet" in refusal(arena, "--home", "nowhere", "standings")
    assert not list(tmp_path.iterdir())
    ArenaHome(tmp_path / "somewhere").close()
    assert "there is no tournament yet" in refusal(arena, "--home", "somewhere", "standings")
    (tmp_path / "file").write_text("")
    for command in ("standings", "quickstart", "serve"):
        assert "Not a directory" in refusal(arena, "--home", "file", command)


def test_global_options_alone_are_no_command(arena, tmp_path):
    assert "Usage: arena" in told(arena, 2, "--home", "a")
    assert not list(tmp_path.iterdir())


PRINT_THREADS = """
import atexit, os, sys
from pathlib import Path

def say():
    import numpy
    numpy.linalg.inv(numpy.eye(200))
    print(os.environ["OPENBLAS_NUM_THREADS"], len(list(Path("/proc/self/task").iterdir())))

atexit.register(say)
sys.argv = ["arena", "--version"]
from arena.__main__ import main
main()
"""


@pytest.mark.parametrize(("given", "expected"), [({}, "1 1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2 ")])
def test_numpy_computes_on_one_core_unless_somebody_says_otherwise(given, expected):
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    shown = subprocess.check_output([sys.executable, "-c", PRINT_THREADS], env=environment | given, text=True)
    assert shown.splitlines()[-1].startswith(expected)


VARIANTS = {
    "--as": {"Its name from now on, in place of the one it had", "Its name in this tournament, in place of its own"},
    "--encounters": {"How many encounters each pairing has in the end", "Encounters in all rounds together"},
    "--game": {
        "Only the matches of this game",
        "The game they play",
        "Try this game instead of all that the bot claims",
        "Claim this game instead of all games",
        "Load this external game, which the bot claims",
    },
    "--max-matches": {"Matches to replay, at most", "Matches to replay, at most, of each tournament"},
    "--within": {
        "How long to find out what the openings are worth, such as 60s or 5m",
        "With --rules: about how long to check",
    },
}
"""What may differ in the help of options of one meaning, up to the default and to what stands after a semicolon."""

WITHOUT_JSON = {"backup", "completion", "contest", "lab", "ladder", "people", "protocol", "serve", "units"}
"""Commands whose output is a script or a text."""

EARLIER = {
    "compare": ("--limit", "--max-encounters", "7"),
    "report": ("--matches", "--max-matches", "7"),
    "repro": ("--bot", "--bot-path", "x"),
    "plot": ("-o", "--output", "x"),
}
"""Earlier spellings, which are accepted: the command, both spellings and a value."""


@pytest.mark.parametrize("name", ["contest", "ladder", "people"])
def test_a_command_that_lists_without_a_command_of_its_own_takes_wide_as_its_list_does(name):
    listing = LazyGroup().get_command(click.Context(click.Group()), name)
    for command in (listing, listing.commands["list"]):
        assert any("--wide" in option.opts for option in command.params)


def commands():
    for name in COMMANDS:
        yield name, LazyGroup().get_command(click.Context(click.Group()), name)


def shown_options():
    uses = defaultdict(dict)
    for name, command in commands():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                for spelling in parameter.opts:
                    uses[spelling][name] = parameter
    return uses


@pytest.mark.parametrize(("spelling", "uses"), shown_options().items(), ids=lambda value: value if value else None)
def test_a_name_has_one_meaning(spelling, uses):
    kinds = {
        (str(one.type.to_info_dict()), one.metavar, one.is_flag, one.required or one.multiple or repr(one.default))
        for one in uses.values()
    }
    helps = {re.split(r"; | \[default", one.help)[0].rstrip(".") for one in uses.values()}
    if spelling == "--matches":  # of a schedule, which lists them, and of what plays so many
        assert [*uses] == ["extend", "schedule"]
        return
    if spelling in ("--game", "--encounters", "--within"):
        kinds = {kind[:3] for kind in kinds}
    assert len(kinds) == 1, f"{spelling} in {', '.join(uses)}: {kinds}"
    assert len(helps) == 1 or helps <= VARIANTS.get(spelling, set()), f"{spelling} in {', '.join(uses)}: {helps}"


def test_a_short_name_belongs_to_one_option():
    long_names = defaultdict(set)
    for spelling, uses in shown_options().items():
        if not spelling.startswith("--"):
            long_names[spelling] |= {one.opts[-1] for one in uses.values()}
    assert long_names == {"-l": {"--language"}, "-o": {"--option"}, "-q": {"--quiet"}, "-v": {"--verbose"}}


def test_every_command_whose_output_a_program_could_read_has_json():
    assert set(COMMANDS) - set(shown_options()["--json"]) == WITHOUT_JSON


@pytest.mark.parametrize(("name", "spellings"), EARLIER.items())
def test_an_earlier_spelling_is_accepted_and_not_shown(name, spellings):
    earlier, now, value = spellings
    command = dict(commands())[name]
    required = {"compare": ["a", "b", "--game", "plaid"], "repro": ["t/1"]}.get(name, [])
    contexts = [command.make_context(name, [*required, spelling, value]) for spelling in (earlier, now)]
    assert contexts[0].params == contexts[1].params
    words = command.get_help(contexts[0]).replace(",", " ").split()
    assert now in words
    assert earlier not in words


def test_the_options_of_the_arena_itself_are_those_that_every_command_takes():
    own = {spelling for parameter in group.arena.params for spelling in parameter.opts} - {"--version"}
    for name, command in commands():
        hidden = {spelling for one in command.params if getattr(one, "hidden", False) for spelling in one.opts}
        assert hidden == own | ({"--token"} if name == "login" else set()), name  # says why it takes no token


# --json prints JSON and nothing else
