"""``arena lab explore``: the tree of a game's first actions, played and solved, and opening books from it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, printable, row_of
from arena.base.errors import UsageError
from arena.base.text import all_of, counted
from arena.cli.terminal.common import check_directories, open_home, print_table, waiting, write_file
from arena.cli.terminal.options import (
    WholeNumber,
    json_option,
    options_option,
    quiet_option,
    wide_option,
    within_option,
)
from arena.cli.terminal.streams import OK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arena.games import Game
    from arena.lab.openings import ExploredLine, PlayedMatch
    from arena.store.home import ArenaHome

COLUMNS = [
    Column("line", "line", is_number=False, wraps=True),
    Column("worth", "worth", is_number=False),
    Column("best", "best", is_number=False),
    Column("played", "played"),
    Column("won", "won", drop_order=2),
    Column("drawn", "drawn", drop_order=1),
    Column("lost", "lost", drop_order=3),
]


@click.command("explore")
@click.argument("game")
@click.argument("tournament", required=False)
@options_option
@click.option("--plies", type=WholeNumber(1, 10), default=2, show_default=True, help="How many actions deep.")
@click.option(
    "--top", type=WholeNumber(1, 10_000), default=8, show_default=True, help="Show this many actions of each state."
)
@click.option("--book", type=click.Path(path_type=Path), help="Write the lines of that many plies as an opening book.")
@click.option(
    "--outcome",
    "outcomes",
    multiple=True,
    type=click.Choice(["win", "draw", "loss"]),
    help="Only lines for the book that end so for seat 0 with best play; may be repeated.",
)
@within_option("How long to find out what lines are worth.", default="60s")
@quiet_option
@json_option
@wide_option
def explore(
    game: str,
    tournament: str | None,
    options: tuple[str, ...],
    plies: int,
    top: int,
    book: Path | None,
    outcomes: tuple[str, ...],
    within_seconds: float,
    quiet: bool,
    as_json: bool,
) -> int:
    """Show the first actions of GAME as a tree, one line for all that are the same by symmetry: what they are worth
    with best play, and, with TOURNAMENT, how often they were played and what came of it for seat 0.

    \b
    arena lab explore differences -o size=6
    arena lab explore multiplication league --plies 3
    arena lab explore plusminus -o size=4 --plies 4 --outcome draw --book b.toml

    With TOURNAMENT the tree has what was played, and beside it the best actions; its options are the tournament's. With
    --book, the lines of --plies actions are written into a file that a tournament takes: openings = "b.toml".
    """
    from arena.games import parse_options
    from arena.games.pie import Pie
    from arena.lab.openings import Explorer
    from arena.lab.solving.limits import free_memory_bytes
    from arena.lab.solving.positions import rules_of
    from arena.lab.solving.solution import beyond_reach_reason
    from arena.tournament.openings import no_opening_reason

    if outcomes and book is None:
        raise UsageError(f"--outcome {outcomes[0]}: it chooses lines for a book; expected --book FILE as well")
    check_directories(book)
    values = parse_options(game, options)
    matches: Sequence[PlayedMatch] = ()
    if tournament is not None:
        with open_home() as home:
            values, matches = _played(home, tournament, game, values)
    rules = rules_of(game, values)
    if book is not None and isinstance(rules, Pie) and plies > rules.options["pie"]:
        raise UsageError(f"--plies {plies}: {no_opening_reason(rules, game)}")
    reason = beyond_reach_reason(rules, game, plies, free_memory_bytes())
    if reason and not matches and (book is None or outcomes):
        raise UsageError(f"{reason}; expected a smaller board, more --plies, or a TOURNAMENT whose matches are shown")
    explorer = Explorer(rules, game, matches, plies, 0.0 if reason else within_seconds)
    with waiting(
        f"{game}: the first {counted(plies, 'action')}, solved for {within_seconds:g} s at most",
        quiet or as_json or bool(reason),
    ):
        lines = explorer.lines()
    if reason:
        click.echo(f"arena: nothing is solved: {printable(reason)}", err=True)
    if as_json:
        _print_json(rules, game, tournament, explorer.matches, lines)
    else:
        _show(rules, lines, top, explorer.matches)
    if book is not None:
        _write(book, rules, game, [line for line in lines if len(line.actions) == plies], outcomes, tournament)
    return OK


def _played(
    home: ArenaHome, tournament: str, game: str, given: dict[str, Any]
) -> tuple[dict[str, Any], Sequence[PlayedMatch]]:
    """Return the options with which a tournament has played a game, and its matches."""
    from arena.lab.openings import PlayedMatch

    stored = home.store.tournament(tournament)
    own = [choice for choice in stored.definition.games if choice.game == game]
    if not own:
        others = all_of(list(dict.fromkeys(choice.game for choice in stored.definition.games)))
        raise UsageError(f"tournament {tournament!r} plays {others}, not {game}")
    fitting = [choice for choice in own if all(choice.options.get(name) == given[name] for name in given)]
    if not fitting:
        raise UsageError(
            f"tournament {tournament!r} plays {game} with {dict(own[0].options)!r:.200}, not with {given!r}"
        )
    options = dict(fitting[0].options)
    matches = [
        PlayedMatch(actions=[action for _, action in record.actions if action is not None], ranks=record.ranks)
        for record in home.store.records(stored, game)
        if dict(record.options) == options
    ]
    return options, matches


def _print_json(
    rules: Game[Any], game: str, tournament: str | None, matches: int, lines: Sequence[ExploredLine]
) -> None:
    head = {"game": game, "options": dict(rules.options), "tournament": tournament, "matches": matches}
    click.echo(json.dumps(head | {"lines": [_as_dict(rules, line) for line in lines]}))


def _as_dict(rules: Game[Any], line: ExploredLine) -> dict[str, Any]:
    worth = line.worth
    return {
        "actions": [rules.format_action(action) for action in line.actions],
        "outcome": worth and worth.outcome,
        "margin": worth and worth.margin,
        "low": worth and worth.low,
        "high": worth and worth.high,
        "known": worth and worth.known,
        "is_best": line.is_best,
        **asdict(line.results),
    }


def _show(rules: Game[Any], lines: Sequence[ExploredLine], top: int, matches: int) -> None:
    rows = list(_rows(rules, lines, top))
    has_matches = bool(matches)
    print_table(COLUMNS if has_matches else COLUMNS[:3], rows, "text")
    worths = [line.worth for line in lines if line.worth is not None and line.worth.is_exact]
    figures = [f"{len(worths):,} of {counted(len(lines), 'line')} solved"]
    if has_matches:
        figures.append(f"{counted(matches, 'match')} played")
    click.echo(f"\n{', '.join(figures)}. Worth is for seat 0, with best play.")


def _rows(rules: Game[Any], lines: Sequence[ExploredLine], top: int) -> Iterator[dict[str, Any]]:
    from arena.lab.openings import first_of_each_state

    for line, left_out in first_of_each_state(lines, top):
        indent = "  " * (len(line.actions) - 1)
        if left_out:
            yield {"line": f"{indent}… {left_out:,} more", "worth": "", "best": "", "played": None}
            continue
        text = indent + rules.format_action(line.actions[-1])
        yield row_of(COLUMNS, line.results, line=text, worth=_worth_text(line), best="best" if line.is_best else "")


def _worth_text(line: ExploredLine) -> str:
    worth = line.worth
    if worth is None:
        return "–"
    if worth.margin is None:
        return str(worth.outcome or "–")
    return f"{worth.outcome} {worth.margin:+g}" if worth.margin else str(worth.outcome)


def _write(
    book: Path,
    rules: Game[Any],
    game: str,
    lines: Sequence[ExploredLine],
    outcomes: Sequence[str],
    tournament: str | None,
) -> None:
    from arena.tournament.openings import book_text

    chosen = [line for line in lines if not _ends(rules, line) and (not outcomes or _outcome(line) in outcomes)]
    if not chosen:
        raise UsageError(f"--book {str(book)!r}: none of {counted(len(lines), 'line')} fits; nothing is written")
    played = f", played in {tournament}" if tournament is not None else ""
    about = f"{counted(len(chosen), 'opening')} of {game}, by arena lab explore{played}"
    text = book_text(rules, game, ((line.actions, _line_comment(line)) for line in chosen), about)
    write_file(book, text)
    click.echo(f"{counted(len(chosen), 'opening')} written: {printable(str(book))}", err=True)


def _outcome(line: ExploredLine) -> str | None:
    return None if line.worth is None else line.worth.outcome


def _ends(rules: Game[Any], line: ExploredLine) -> bool:
    state = rules.initial_state()
    for action in line.actions:
        state = rules.apply(state, action)
    return rules.is_over(state) or bool(rules.seats_out(state))


def _line_comment(line: ExploredLine) -> str:
    results = line.results
    played = (
        f"; played {results.played:,}: +{results.won:,} ={results.drawn:,} -{results.lost:,}" if results.played else ""
    )
    return f"{_worth_text(line)}{played}"
