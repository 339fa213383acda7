"""Shared by commands: the home, bots and tournaments by their names, results on the terminal, and files."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, Row, fitted_table, printable, render_table
from arena.analysis.text.text_layout import wrapped
from arena.base.enums import IsolationLevel
from arena.base.errors import GameError, UsageError, failing_as
from arena.base.folder import write_new
from arena.base.text import counted
from arena.cli.terminal.global_options import global_option
from arena.cli.terminal.options import is_wide
from arena.cli.terminal.streams import has_colours, terminal_width

if TYPE_CHECKING:
    from arena.analysis.measures.standings import Standings
    from arena.base.definition import Definition
    from arena.base.records import MatchRecord
    from arena.store.home import ArenaHome
    from arena.store.results.values import StoredTournament
    from arena.tournament.formats.format import Placing
    from arena.tournament.progress import Progress


MAX_DIGITS = 18

MIN_TABLE_WIDTH = 20
"""In narrower terminals, tables and the sentences under them are as wide as this."""

_PLACE = re.compile(r"\(\S+:\d+\)")

NO_BREAK_SPACE = "\u00a0"


def open_home(must_exist: bool = False) -> ArenaHome:
    """Open the arena's home, where the global options or the environment say it is."""
    from arena.base.known_server import RESULTS, reminder
    from arena.store.home import ArenaHome

    arena_home = ArenaHome(global_option("home"), must_exist, store=global_option("store"))
    if arena_home.other_server:
        sentence = reminder(arena_home.directory, RESULTS, arena_home.other_server)
        click.echo(printable(f"arena: this shows a file in the home; {sentence}"), err=True)
    return arena_home


def named_or_latest(arena_home: ArenaHome, tournament: str | None, game: str | None = None) -> StoredTournament:
    """Return the tournament of that name, which must have the game; without a name the latest, named on stderr."""
    if tournament is not None:
        chosen = arena_home.store.tournament(tournament)
    else:
        chosen = arena_home.store.latest_tournament()
        click.echo(f"The latest tournament is {printable(chosen.name)}:", err=True)
    chosen.require_game(game)
    return chosen


def load_standings(arena_home: ArenaHome, tournament: str, game: str | None = None) -> Standings:
    """Return the standings of a tournament, of one game or of all, from the cache if it has them."""
    from arena.analysis.measures.standings_cache import standings_of

    return standings_of(arena_home.store, tournament, game, cache_directory=arena_home.cache_directory)


def match_of(text: str) -> tuple[str, int]:
    """Return the tournament and the number of a match.

    Raises:
        UsageError: if it is not written TOURNAMENT/NUMBER.
    """
    tournament, slash, number = text.rpartition("/")
    if not slash or not (number.isascii() and number.isdigit()):
        raise UsageError(f"match {text!r}: a match is written TOURNAMENT/NUMBER, such as quickstart/1")
    if len(number) > MAX_DIGITS:
        raise UsageError(f"match {text!r}: expected numbers of at most {MAX_DIGITS} digits")
    return tournament, int(number)


def warn_of_weak_isolation(asked_for: str) -> None:
    """Warn on stderr that bots are hardly confined here, unless that level was asked for."""
    from arena.sandbox.isolation.levels import choose_isolation

    level = choose_isolation(asked_for).level
    if asked_for == "auto" and level in (IsolationLevel.NONE, IsolationLevel.LIMITS):
        click.echo(f"arena: bots are hardly confined on this machine ({level}); arena home doctor says why", err=True)


def rules_hint(error: GameError) -> str:
    """Return where the author of an external game finds more about a mistake, as the end of a sentence."""
    return f"; arena check --rules {error.game} tries out all its rules" if ":" in error.game else ""


def warn_of_given_up(progress: Progress) -> None:
    """Say on stderr what may have disturbed a run, and which of its matches have no result, and why."""
    if progress.notice and progress.played:
        click.echo(f"arena: {progress.notice}", err=True)
    for match, reason in sorted(progress.given_up.items()):
        click.echo(printable(f"arena: match {match} has no result after several tries: {reason}"), err=True)
    reasons = {match: f"{error}{rules_hint(error)}" for match, error in progress.game_errors.items()}
    for sentence in no_result_sentences(reasons):
        click.echo(f"arena: {sentence}", err=True)


def no_result_sentences(reasons: Mapping[int, str]) -> list[str]:
    """Return a sentence for each reason why matches have no result, with their number and the first of them."""
    matches: dict[Hashable, list[int]] = {}
    for match in sorted(reasons):
        matches.setdefault(_without_values(reasons[match]), []).append(match)
    sentences = []
    for numbers in matches.values():
        first, count = numbers[0], len(numbers)
        which = f"match {first} has" if count == 1 else f"{counted(count, 'match')} have"
        since = "" if count == 1 else f" (the first is match {first})"
        sentences.append(printable(f"{which} no result{since}: {reasons[first]}"))
    return sentences


def _without_values(reason: str) -> Hashable:
    """Return a mistake of a game without what follows the colon in ``GameError.problem``; another reason as it is."""
    game, at_fault, mistake = reason.partition(" is at fault: ")
    return (game, mistake.partition(": ")[0], *_PLACE.findall(mistake)) if at_fault else reason


def print_wrapped(head: str, indent: int, text: str) -> None:
    """Print a head and a text, wrapped at the terminal's width into lines that begin below the text.

    A text that begins with spaces keeps them, as the lines of a traceback do.
    """
    lines = textwrap.wrap(
        text,
        max(20, line_width() - indent),
        drop_whitespace=True,
        replace_whitespace=False,
        subsequent_indent=text[: len(text) - len(text.lstrip())],
        break_on_hyphens=False,
    )
    click.echo(f"\n{' ' * indent}".join([head + (lines or [""])[0], *lines[1:]]))


def count_passed(passed: int, total: int, noun: str) -> str:
    return f"All {counted(total, noun)} passed." if passed == total else f"{passed} of {counted(total, noun)} passed"


def can_be_printed(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def line_width() -> int:
    """Return the maximum width of a line: that of the terminal; none in a file or a pipe, which may be searched."""
    return terminal_width() if _is_terminal() else sys.maxsize


def alarming(text: str) -> str:
    return click.style(text, fg="red", bold=True) if has_colours() else text


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2))


def print_done(as_json: bool, value: Any, *sentences: str) -> None:
    """Print what a command has done, as JSON or as sentences for people, each on a line."""
    if as_json:
        print_json(value)
    else:
        click.echo("\n".join(map(printable, sentences)))


def _is_terminal() -> bool:
    return sys.stdout.isatty() or bool(os.environ.get("COLUMNS"))


def print_table(
    columns: Sequence[Column], rows: Sequence[Row], table_format: str, footer: str = "", empty: str = ""
) -> None:
    """Print a table, as text with the sentences under it; those of ``empty`` if it has no rows."""
    if table_format == "text":
        click.echo(table_text(columns, rows, footer if rows else empty or footer))
    else:
        click.echo(render_table(columns, rows, table_format))


def table_text(columns: Sequence[Column], rows: Sequence[Row], footer: str = "", names_left_out: bool = True) -> str:
    """Return a table as text that fits the terminal, with the sentences under it and the names of left-out columns."""
    text, left_out = fitted_table(columns, rows, text_width())
    names = ", ".join(title.replace(" ", NO_BREAK_SPACE) for title in left_out)
    note = f"Left out at {_table_width()} columns: {names}; --wide shows all." if left_out and names_left_out else ""
    return "\n\n".join(filter(None, (text, sentences_text(footer), sentences_text(note))))


def text_width() -> int | None:
    """Return the maximum cells of a line of tables and drawings; None in a file or a pipe, and with ``--wide``."""
    return _table_width() if _is_terminal() and not is_wide() else None


def sentences_text(text: str) -> str:
    """Return sentences so that they fit the terminal, without breaking words or at no-break spaces."""
    width = _table_width() if _is_terminal() else sys.maxsize
    lines = [line for part in text.split("\n") for line in wrapped(printable(part), width)]
    return "\n".join(lines).replace(NO_BREAK_SPACE, " ")


def _table_width() -> int:
    return max(MIN_TABLE_WIDTH, shutil.get_terminal_size().columns)


def print_ranking(ranking: Sequence[tuple[str, Placing]], is_finished: bool, table_format: str) -> None:
    """Print the table of a format that ranks by itself, as text below what it says in a sentence."""
    from arena.analysis.text.standings_table import ranking_table
    from arena.analysis.text.verdict import ranking_verdict

    if table_format == "text" and ranking:
        click.echo(f"{sentences_text(ranking_verdict(ranking, is_finished))}\n")
    print_table(*ranking_table(ranking), table_format)


def print_standings(table: Standings, table_format: str) -> None:
    """Print standings, as text between what they say in a sentence and what they rest on."""
    from arena.analysis.text.standings_table import flat_standings_table, standings_table
    from arena.analysis.text.verdict import standings_footer, verdict

    if table_format == "text":
        click.echo(sentences_text(verdict(table)) + ("\n" if table.lines else ""))
        if not table.lines:
            return
    is_csv = table_format == "csv"
    columns, rows = flat_standings_table(table) if is_csv else standings_table(table, formatted=table_format != "json")
    print_table(columns, rows, table_format, standings_footer(table))


def find_bots(texts: Sequence[str], args: str = "") -> list[Any]:
    """Return the bots that are named on the command line: paths, ``arena:NAME``, submitted names, or ``human``."""
    from arena.match.players.player import HUMAN
    from arena.tournament.definition import find_entrant

    added = split_arguments(args)
    with open_home() as arena_home:
        return [
            HUMAN if text == HUMAN.name else find_entrant(text, added, Path.cwd(), arena_home.bots) for text in texts
        ]


def warn_of_rejected(definition: Definition) -> None:
    """Name on stderr what was left out of the entrants, as broken."""
    for rejected in definition.rejected:
        click.echo(f"arena: left out: {printable(rejected.name)}: {printable(rejected.reason)}", err=True)


def split_arguments(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--args {text!r}: expected arguments as in a shell ({str(error).lower()})") from error


def show_result(record: MatchRecord) -> None:
    """Print how a match ended: the ranks, each fault on a line of its own, and the stderr of bots with a fault."""
    bots, faults = record.bots, record.faults
    for bot, own in zip(bots, record.time_controls, strict=False):
        click.echo(f"{printable(bot)}: {own.shown}")
    order = sorted(range(len(bots)), key=lambda seat: (record.ranks[seat], seat))
    results = (f"{record.ranks[seat]}. {printable(bots[seat])} {record.scores[seat]:g}" for seat in order)
    print_wrapped("", 0, f"{', '.join(results)} ({record.termination})")
    for fault in faults:
        who = f"{bots[fault.seat]} (seat {fault.seat}) forfeits at ply {fault.ply}"
        click.echo(printable(f"{who}: {fault.kind}: {fault.detail.for_operator()}"))
    for seat in sorted({fault.seat for fault in faults}):
        show_stderr(bots[seat], record.seats[seat].stderr.for_operator())


def show_stderr(bot: str, text: str) -> None:
    """Print what a bot wrote on its stderr, if anything."""
    if text:
        click.echo(f"stderr of {printable(bot)}:", err=True)
        click.echo("\n".join(f"  {printable(line)}" for line in text.splitlines()), err=True)


# A line in the terminal about what a command is doing while it prints nothing; the line disappears at the end.

ERASE_LINE = "\r\x1b[K"


def show_line(text: str = "") -> None:
    """Show a line on stderr, if it is a terminal, in place of the one before; without a text, only remove that."""
    if sys.stderr.isatty():
        click.echo(f"{ERASE_LINE}{printable(text)}", nl=False, err=True)


@contextmanager
def waiting(text: str, is_quiet: bool = False) -> Iterator[None]:
    """Show on stderr, if it is a terminal, what is being done, as long as it takes."""
    if is_quiet:
        yield
        return
    show_line(f"{text} …")
    try:
        yield
    finally:
        show_line()


# Files that commands write: if one can't be written, the command fails before it computes anything.


def check_directories(*files: Path | None) -> None:
    """Check that files can be written before anything is computed."""
    for file in files:
        with failing_as(UsageError, f"{str(file)!r} can't be written"):  # a name may be too long
            if file is not None and (file.is_dir() or not file.parent.is_dir()):
                raise UsageError(f"{str(file)!r} can't be written: expected a file in a directory that exists")
            if file is not None and file.is_fifo():
                try:
                    os.open(file, os.O_WRONLY | os.O_NONBLOCK)  # it stays open for who reads it
                except OSError as error:
                    if error.errno == errno.ENXIO:
                        error.strerror = "nobody reads this pipe yet; start its reader first"
                    raise


def write_file(file: Path, content: str | bytes) -> None:
    """Write a file beside its target and rename it: readers never see half of it, and a full disk leaves the old one.

    What is no regular file, such as /dev/stdout, is written to.
    """
    data = content if isinstance(content, bytes) else content.encode()
    with failing_as(UsageError, f"{str(file)!r} can't be written"):
        if file.exists() and not file.is_file():
            file.write_bytes(data)
            return
        target = Path(os.path.realpath(file))  # a link stays, and its file is replaced; one to itself is no error
        unfinished = target.with_name(f".{target.name[:100]}.{os.getpid()}")
        try:
            write_new(unfinished, data)
            if target.exists():
                unfinished.chmod(target.stat().st_mode & 0o7777)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
