"""Options over all commands: one name has one type, one default, one way to be written and one meaning."""

import re
from collections import defaultdict

import click
import pytest

from arena.cli.command_table import COMMANDS
from arena.cli.group import LazyGroup, arena

VARIANTS = {
    "--as": {"Its name from now on, in place of the one it had", "Its name in this tournament, in place of its own"},
    "--encounters": {"How many encounters each pairing has in the end", "To play in all rounds"},
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
        "With --rules: the time for the check, about",
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
    group = LazyGroup().get_command(click.Context(click.Group()), name)
    for command in (group, group.commands["list"]):
        assert any("--wide" in option.opts for option in command.params)


def commands():
    """Yield (name, command) for every command."""
    for name in COMMANDS:
        yield name, LazyGroup().get_command(click.Context(click.Group()), name)


def shown_options():
    """Return, for every spelling of an option, the commands that have it."""
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
    own = {spelling for parameter in arena.params for spelling in parameter.opts} - {"--version"}
    for name, command in commands():
        hidden = {spelling for one in command.params if getattr(one, "hidden", False) for spelling in one.opts}
        assert hidden == own | ({"--token"} if name == "login" else set()), name  # says why it takes no token


# --json prints JSON and nothing else
