"""The completion of command lines in a shell, and ``arena home completion``, which prints the script for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

from arena.base.enums import IsolationLevel
from arena.base.names import is_printable_text
from arena.base.shipped import PREFIX, example_bots, example_tournaments
from arena.cli.terminal.global_options import COMPLETION, global_option
from arena.games import GAMES
from arena.kits.languages import LANGUAGES
from arena.store.home import DATABASE_FILE, STORE_VARIABLE, home_path
from arena.store.results.known_names import KnownNames

# The arena imports this when a shell asks for completions, by ``_ARENA_COMPLETE`` in the environment; click does the
# rest. Completion writes nothing, and offers nothing for what it can't read.

Candidates = Callable[[KnownNames, str], Iterable[str]]
"""Returns values from the names in the home and the beginning of a value; others than those it begins are dropped."""


def _known_names(context: click.Context) -> KnownNames:
    """Return the names in the home's own database; a server would take too long to ask."""
    is_elsewhere = global_option("store", context) or os.environ.get(STORE_VARIABLE)
    return KnownNames(Path(os.devnull) if is_elsewhere else home_path(global_option("home", context)) / DATABASE_FILE)


def _tournaments(names: KnownNames, _: str) -> Iterable[str]:
    return names.tournaments()


def _matches(names: KnownNames, incomplete: str) -> Iterable[str]:
    tournament, slash, digits = incomplete.rpartition("/")
    if slash:
        return [f"{tournament}/{number}" for number in names.matches(tournament, digits)]
    chosen = [name for name in names.tournaments() if name.startswith(incomplete)]
    return [f"{name}/{number}" for name in chosen for number in names.matches(name, "")]


def _bots(names: KnownNames, _: str) -> Iterable[str]:
    return [*names.bots(), *(f"{PREFIX}{name}" for name in example_bots())]


CANDIDATES: dict[str, Candidates] = {
    "tournament": _tournaments,
    "tournaments": _tournaments,
    "deleted_tournament": lambda names, _: names.deleted_tournaments(),
    "season": lambda names, _: names.seasons(),
    "match": _matches,
    "bot": _bots,
    "bots": _bots,
    "new": _bots,
    "old": _bots,
    "hints": _bots,
    "remove": lambda names, _: names.bots(),
    "file": lambda *_: [f"{PREFIX}{name}" for name in example_tournaments()],
    "game": lambda *_: GAMES,
    "games": lambda *_: GAMES,
    "language": lambda *_: LANGUAGES,
    "isolation": lambda *_: ["auto", *IsolationLevel],
}
"""The candidates by the name of the parameter, which means the same in every command."""

PATHS = dict.fromkeys(("bot", "bots", "new", "old", "hints", "file"), "file") | {
    "home": "dir",
    "other_home": "dir",
    "out": "dir",
    "directory": "dir",
}
"""Parameters that may be paths too: "file" for any file, "dir" for a directory."""


class _Completed(click.ParamType[Any]):
    def __init__(self, parameter: click.Parameter) -> None:
        self.name = parameter.type.name
        self._type = parameter.type
        self._candidates: Candidates = CANDIDATES.get(parameter.name or "", lambda *_: ())
        self._path_type = PATHS.get(parameter.name or "")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self._type.convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        """Return the values that can be typed and shown as they are; paths are for the shell to complete."""
        values = dict.fromkeys(self._candidates(_known_names(ctx), incomplete))
        items = [CompletionItem(value) for value in values if value.startswith(incomplete) and _is_harmless(value)]
        return items + ([CompletionItem(incomplete, type=self._path_type)] if self._path_type else [])


def _is_harmless(value: str) -> bool:
    """Return whether every shell completes a value as it is; a comma ends it in what click sends them."""
    return is_printable_text(value) and "," not in value and not value.startswith("-")


def add_completions(command: click.Command) -> None:
    """Make the parameters of a command complete their values."""
    for parameter in command.params:
        is_file = isinstance(parameter.type, click.File)  # any file, and not a tournament file
        if not is_file and (parameter.name in CANDIDATES or parameter.name in PATHS):
            parameter.type = _Completed(parameter)


BASH_SCRIPT = """\
%(complete_func)s() {
    local type value quote=${COMP_WORDS[COMP_CWORD]:0:1}
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                if [[ $quote != [\\"\\'] ]]; then
                    printf -v value %%q "$value"
                elif [[ $value == *[\\"\\'\\$\\`\\\\\\!]* ]]; then
                    continue
                fi
                COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_WORDS="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1" 2>/dev/null)
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class ArenaBashComplete(BashComplete):
    """Completion in bash, of values with spaces and colons too, which bash would split."""

    source_template = BASH_SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        *args, last = split_arg_string(os.environ.get("COMP_WORDS", "") + "x")[1:] or [""]
        self._start = 0
        incomplete = last[:-1]
        if ":" in os.environ.get("COMP_WORDBREAKS", ":"):
            self._start = incomplete.rfind(":") + 1
        return args, incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Leave out what is before the last colon, for bash only replaces what is after it."""
        value = item.value[self._start :] if item.type == "plain" else item.value
        return f"{item.type},{value}"


add_completion_class(ArenaBashComplete)


SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script by which SHELL (bash, zsh or fish) completes commands, options, and the names of tournaments,
    matches, bots and games.

    \b
    Where to put it:
      bash  in ~/.bashrc:                eval "$(arena home completion bash)"
      zsh   in ~/.zshrc, after compinit: eval "$(arena home completion zsh)"
      fish  arena home completion fish > ~/.config/fish/completions/arena.fish

    It takes effect in the next shell. Names are those in the home that the line names, in $ARENA_HOME, or in .arena.
    """
    from click.shell_completion import get_completion_class

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    click.echo(shell_class(context.find_root().command, {}, "arena", COMPLETION).source())
