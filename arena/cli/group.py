"""The group of commands, each imported when it is used, and what happens when one fails."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.base.errors import ArenaError, GameError, NoHomeError, UsageError, exception_text, suggestion
from arena.base.names import GAMES_DIRECTORY_VARIABLE
from arena.base.version import __version__
from arena.cli.command_table import COMMANDS, LISTED, NOUNS
from arena.cli.terminal.global_options import COMPLETION, HelpContext, complete_command, global_options
from arena.cli.terminal.streams import FAILED, INTERRUPTED, OK, READER_GONE, WRONG_USE

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

TEMPORARY_VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""The environment variables that say where temporary files are."""


class LazyGroup(click.Group):
    """Lists its commands without importing them."""

    context_class = HelpContext

    def __init__(self, *args: Any, listed: Mapping[str, Mapping[str, str]] = LISTED, **settings: Any) -> None:
        """Take spellings under headings, each with its name in the tables."""
        super().__init__(*args, **settings)
        self._listed = listed
        self._names = {spelling: name for names in listed.values() for spelling, name in names.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; the arena itself takes every command by its plain name."""
        unlisted = COMMANDS if self._listed is LISTED else {}
        name = self._names.get(cmd_name) or (cmd_name if cmd_name in unlisted else None)
        if name is not None:
            return _import_command(name)
        if ctx.resilient_parsing:
            return None  # a shell completes the line
        nearest = suggestion(cmd_name, [*self._names, *(name for name in unlisted if name not in self._names)])
        raise UsageError(f"{f'arena {self.name}' if self.name in NOUNS else 'unknown command'} {cmd_name!r}: {nearest}")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Return the spellings and options that begin with a text, without importing any command."""
        from click.shell_completion import CompletionItem

        spellings = [name for name in self._names if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=_summary(self._names[name])) for name in spellings]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, without importing any, and the options."""
        width = max(map(len, self._names))
        for heading, names in self._listed.items():
            with formatter.section(heading):
                formatter.write_dl([(spelling.ljust(width), _summary(name)) for spelling, name in names.items()])
        is_first = self._listed is LISTED  # without --help, to fit a screen: its readers know that option
        options = [option for option in self.get_params(ctx) if not (is_first and "--help" in option.opts)]
        records = [option.get_help_record(ctx) for option in options]
        with formatter.section("Global options" if is_first else "Options"):
            formatter.write_dl([record for record in records if record is not None])


def _summary(name: str) -> str:
    return COMMANDS[name].summary if name in COMMANDS else NOUNS[name].summary


@cache
def _import_command(name: str) -> click.Command:
    if name in COMMANDS:
        command = COMMANDS[name].imported()
    else:
        command = LazyGroup(name, listed={"Commands": NOUNS[name].commands}, help=NOUNS[name].summary)
    complete_command(command)
    _complete_names(command)
    return command


def _complete_names(command: click.Command) -> None:
    if COMPLETION in os.environ:
        from arena.cli.completion import add_completions

        add_completions(command)


@click.group(
    cls=LazyGroup,
    params=global_options(hidden=False),
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", message="arena %(version)s")
@click.pass_context
def arena(context: click.Context) -> None:
    """Rate bots that play board games. Start with: arena quickstart."""
    if context.invoked_subcommand is None:
        _show_overview(context)
    import logging

    logging.raiseExceptions = False  # a log that can't be written must not print tracebacks


def _show_overview(context: click.Context) -> None:
    from arena.cli.results.tournaments import print_overview

    try:
        print_overview()
    except NoHomeError:
        raise click.exceptions.NoArgsIsHelpError(context) from None


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; every error is one sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        _check_text(arguments)
        _complete_names(arena)
        with contextlib.suppress(OSError):  # the working directory was removed
            os.environ[GAMES_DIRECTORY_VARIABLE] = str(Path.cwd())  # also for the programs that are started
        code = arena.main(arguments, prog_name="arena", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return WRONG_USE
    except click.ClickException as error:
        return _complain(" ".join(error.format_message().split()), WRONG_USE)
    except GameError as error:
        from arena.cli.terminal.common import rules_hint  # no other command needs it

        return _complain(f"{error}{'' if '--rules' in arguments else rules_hint(error)}", WRONG_USE)
    except UsageError as error:
        return _complain("\narena: ".join(error.lines), WRONG_USE)
    except ArenaError as error:
        return _complain(str(error), FAILED)
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        return READER_GONE
    except SystemExit:  # click exits so at a broken pipe, and after it has completed a line for the shell
        if COMPLETION in os.environ:
            raise
        return READER_GONE
    except MemoryError:
        return _complain("this machine has too little memory for that", FAILED)
    except Exception as error:  # the last resort: a defect of ours, as one sentence
        if COMPLETION in os.environ:
            return FAILED  # nothing may be printed into the line that is being typed
        return _complain(_about_defect(error), FAILED)
    return code if isinstance(code, int) else OK


def _check_text(arguments: list[str]) -> None:
    """Raise UsageError for an argument that is not UTF-8: no name in a store or in a file can be such an argument.

    Nor can the place of scratch directories be, which bots receive as text.
    """
    texts = [("argument", argument) for argument in arguments]
    for what, text in [*texts, *((name, os.environ.get(name, "")) for name in TEMPORARY_VARIABLES)]:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{what} {text!r}: expected text in UTF-8") from None


def _complain(sentence: str, code: int) -> int:
    from arena.analysis.text.tables import printable_lines

    click.echo(f"arena: {printable_lines(sentence)}", err=True)
    return code


def _about_defect(error: Exception) -> str:
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="arena-defect-", suffix=".txt", delete=False) as file:
        traceback.print_exception(error, file=file)
    return f"this is a defect of the arena ({exception_text(error)}); please report it with the file {file.name}"
