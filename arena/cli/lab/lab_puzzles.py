"""``arena lab puzzles``: positions of a tournament in which a bot has missed the only action that helps."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, printable, row_of
from arena.base.text import counted
from arena.cli.terminal.common import (
    check_directories,
    open_home,
    print_json,
    print_table,
    sentences_text,
    show_line,
    write_file,
)
from arena.cli.terminal.options import (
    A_PATH,
    MAX_COUNT,
    WholeNumber,
    json_option,
    quiet_option,
    wide_option,
    within_option,
)

if TYPE_CHECKING:
    from arena.base.definition import GameChoice
    from arena.lab.matches.puzzle import Puzzle
    from arena.lab.matches.puzzle_search import FoundPuzzles
    from arena.store.home import ArenaHome

COLUMNS = [
    Column("puzzle", "puzzle"),
    Column("game", "game", is_number=False, drop_order=2),
    Column("position", "match/ply", is_number=False),
    Column("seat", "seat"),
    Column("goal", "goal", is_number=False),
    Column("plies", "plies"),
    Column("theme", "theme", is_number=False),
    Column("choices", "choices", drop_order=4),
    Column("lines_log2", "lines, log2", 1, drop_order=3),
    Column("missed", "missed", is_number=False, drop_order=1),
    Column("by", "by", is_number=False, wraps=True),
]
SOLUTION = Column("solution", "solution", is_number=False)

PER_QUESTION_SECONDS = 30.0
"""The time for one position: for building a kernel's table, or else for a search."""

STEPS_SHOWN = 100


@click.command("puzzles")
@click.argument("tournament")
@click.option("--count", type=WholeNumber(1, 500), default=20, show_default=True, help="How many puzzles, at most.")
@click.option("--game", metavar="GAME", help="Only from matches of this game.")
@click.option("--max-matches", type=WholeNumber(1, MAX_COUNT), help="Only from the first matches.")
@within_option("Stop after 60s, 5m or 2h, with what was found by then.", default="5m")
@click.option("--html", "html_path", type=A_PATH, help="Write them as one HTML file.")
@click.option("--solutions", is_flag=True, help="Print the solutions as well.")
@quiet_option
@json_option
@wide_option
def puzzles(
    tournament: str,
    count: int,
    game: str | None,
    max_matches: int | None,
    within_seconds: float,
    html_path: Path | None,
    solutions: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find puzzles in the matches of TOURNAMENT.

    In a puzzle exactly one action keeps the win, or the draw, and the bot that had to act has missed it. Where again
    exactly one action keeps it after a reply, the puzzle continues: it has 1, 3, 5 or 7 plies, and the command
    prefers longer ones. The theme says what the solution does to the scores at once: sacrifice, greed fails, quiet or
    gain.

    What each action leads to with best play is exact. Positions that are the same up to symmetry are one puzzle. The
    list goes from easy to hard, by the number of lines of play from the position. The home keeps puzzles, and you can
    solve them on the site: arena serve.

    --json prints everything, with solutions.
    """
    from arena.lab.matches.puzzle import keep_puzzles
    from arena.lab.matches.puzzle_search import find_puzzles
    from arena.lab.solving.limits import Limits, free_memory_bytes

    check_directories(html_path)
    limits = Limits(deadline=time.monotonic() + within_seconds, memory_bytes=free_memory_bytes())
    is_shown = not (quiet or as_json)
    with open_home(must_exist=True) as arena_home:
        stored = arena_home.store.tournament(tournament)
        stored.require_game(game)
        _build_kernels(stored.definition.games)
        records = islice(iter(arena_home.store.records(stored, game)), max_matches)
        progress = _show_progress if is_shown else lambda _done, _all: None
        found = find_puzzles(records, count, limits, PER_QUESTION_SECONDS, progress)
        keep_puzzles(arena_home.directory, stored, found.puzzles)
        arena_home.store.annotations.announce(stored)
        if html_path is not None:
            write_file(html_path, _page(arena_home, stored.name))
    if is_shown:
        show_line()
    if as_json:
        print_json({"tournament": stored.name, **asdict(found)})
        return
    click.echo(sentences_text(_summary(stored.name, found)))
    if found.puzzles:
        click.echo()
        columns = [*COLUMNS, SOLUTION] if solutions else COLUMNS
        note = f"To see a position: arena replay {stored.name}/MATCH --ply PLY"
        print_table(columns, [_row(*numbered) for numbered in enumerate(found.puzzles, 1)], "text", note)


def _build_kernels(games: Iterable[GameChoice]) -> None:
    from arena.base.errors import KernelError
    from arena.games import GAMES, make_game
    from arena.games.kernels.loading import has_solver, solver_of

    for choice in games:
        if choice.game in GAMES and has_solver(rules := make_game(choice.game, **choice.options)):
            with suppress(KernelError):
                solver_of(rules)


def _show_progress(done: int, count: int) -> None:
    if done % STEPS_SHOWN == 0 or done == count:
        show_line(f"{done:,} of {counted(count, 'position')}")


def _summary(tournament: str, found: FoundPuzzles) -> str:
    kept = f", of which {len(found.puzzles)} are kept" if len(found.puzzles) < found.found else ""
    parts = [f"{tournament}: {counted(found.found, 'puzzle')} in {counted(found.positions, 'position')}{kept}."]
    if found.looked_at < found.positions:
        parts.append(f"The time was up after {counted(found.looked_at, 'position')}.")
    if found.unknown:
        parts.append(f"Of {counted(found.unknown, 'position')} it is not known whether something was given away.")
    return printable(" ".join(parts))


def _row(number: int, puzzle: Puzzle) -> dict[str, Any]:
    first = puzzle.misses[0]
    return row_of(
        [*COLUMNS, SOLUTION],
        puzzle,
        puzzle=number,
        position=f"{first.match}/{first.ply}",
        goal=puzzle.goal_in_words,
        choices=len(puzzle.choices),
        missed=f"{puzzle.missed} of {puzzle.met}",
        by=" ".join(dict.fromkeys(miss.bot for miss in puzzle.misses)),
        solution=" ".join(f"{turn.reply} {turn.right.text}".strip() for turn in puzzle.turns),
    )


def _page(arena_home: ArenaHome, tournament: str) -> str:
    from arena.site.matches.game import build_puzzles
    from arena.site.matches.games_model import PuzzlesParameters
    from arena.site.publish.one_file import puzzles_file

    return puzzles_file(arena_home, build_puzzles(arena_home, PuzzlesParameters(tournament=tournament)))
