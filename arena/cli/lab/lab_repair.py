"""``arena lab repair``: the fairest form of a game; its first actions, played and solved; opening books from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from arena.analysis.text.tables import Column, printable, row_of
from arena.base.errors import UsageError
from arena.base.text import all_of, counted, toml_value
from arena.cli.terminal.common import check_directories, open_home, print_table, waiting, write_file
from arena.cli.terminal.options import (
    A_PATH,
    WholeNumber,
    json_option,
    options_option,
    quiet_option,
    wide_option,
    within_option,
)
from arena.cli.terminal.streams import INTERRUPTED, OK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arena.games import Game
    from arena.lab.openings import ExploredLine, PlayedMatch
    from arena.lab.repair import Repaired
    from arena.store.home import ArenaHome

FORM_COLUMNS = [
    Column("repair", "repair", is_number=False, wraps=True),
    Column("worth", "seat 0", is_number=False),
    Column("known", "known", is_number=False, drop_order=1),
    Column("keeping", "keeping"),
    Column("decided_at", "decided at", drop_order=2),
    Column("draws", "draws", drop_order=3),
]
LINE_COLUMNS = [
    Column("line", "line", is_number=False, wraps=True),
    Column("worth", "worth", is_number=False),
    Column("best", "best", is_number=False),
    Column("played", "played"),
    Column("won", "won", drop_order=2),
    Column("drawn", "drawn", drop_order=1),
    Column("lost", "lost", drop_order=3),
]
_PLIES = 2


@click.command("repair")
@click.argument("game")
@click.argument("tournament", required=False)
@options_option
@click.option("--plies", type=WholeNumber(1, 10), help=f"Show the first actions, this many deep [default: {_PLIES}].")
@click.option(
    "--top", type=WholeNumber(1, 10_000), default=8, show_default=True, help="Show this many actions of each state."
)
@click.option("--book", type=A_PATH, help="Write the lines of --plies actions as an opening book.")
@click.option(
    "--outcome",
    "outcomes",
    multiple=True,
    type=click.Choice(["win", "draw", "loss"]),
    help="Only lines for the book that end so for seat 0 with best play; may be repeated.",
)
@within_option("How long to solve all forms, or lines, in total, such as 60s or 5m.", default="60s")
@quiet_option
@json_option
@wide_option
def repair(
    game: str,
    tournament: str | None,
    options: tuple[str, ...],
    plies: int | None,
    top: int,
    book: Path | None,
    outcomes: tuple[str, ...],
    within_seconds: float,
    quiet: bool,
    as_json: bool,
) -> int:
    """Find the fairest form of GAME.

    It shows what the game is worth under its other rules, with a pie, or with a komi.

    \b
    arena lab repair multiplication -o size=7
    arena lab repair plaid -o width=9 -o height=6 -o lines=5 --within 5m
    arena lab repair multiplication league --plies 3
    arena lab repair plusminus -o size=4 --plies 4 --outcome draw --book b.toml

    The first line is the fairest; of equally fair forms, that with the most first actions that keep it so. With pie=1
    one player makes the first action, and the other then chooses a seat: the worth is that of seat 0 after the fairest
    first action. With pie=2 one player makes the first action of both seats. With begin_second=1, seat 1 begins the
    second part; with komi=9, it gets 9 points; with both_seats=1, two matches are played with seats exchanged, and
    points added; with order=1221, the first seat makes one mark or line, then each seat two in turn; with unseen=1,
    each writes its list of plusminus unseen, and the worth is the mean margin. Draws, and after how many actions a
    match is decided, come from 100 matches in which every fourth action is random.

    With --plies, TOURNAMENT or --book it shows the first actions of GAME in place of its forms, as a tree with one line
    for all that are the same by symmetry: what each is worth with best play. With TOURNAMENT the tree has what was
    played, what came of it for seat 0, and beside it the best actions; its options are the tournament's. With --book,
    the lines of --plies actions are written into a file that a tournament takes: openings = "b.toml".

    With --json, each form is an object in a line of its own; all first actions are one object.
    """
    from arena.games import parse_options

    if outcomes and book is None:
        raise UsageError(f"--outcome {outcomes[0]}: it chooses lines for a book; expected --book FILE as well")
    check_directories(book)
    values = parse_options(game, options)
    if tournament is None and plies is None and book is None:
        return _show_forms(game, values, within_seconds, quiet, as_json)
    depth = plies or _PLIES
    return _show_first_actions(
        game, values, tournament, depth, top, book, outcomes, within_seconds, quiet=quiet, as_json=as_json
    )


def _explored(**given: Any) -> int:
    return cast("Callable[..., int]", repair.callback)(**{**given, "plies": given["plies"] or _PLIES})


explore = click.Command("explore", callback=_explored, params=[*repair.params], help=repair.help, hidden=True)
"""The earlier spelling of ``repair --plies``."""


def _show_forms(game: str, values: dict[str, Any], within_seconds: float, quiet: bool, as_json: bool) -> int:
    from arena.games.kernels.loading import has_solver, kernel_status
    from arena.lab.repair import Repaired, repairs_of
    from arena.lab.solving.limits import free_memory_bytes
    from arena.lab.solving.positions import rules_of

    rules = rules_of(game, values)
    rows: list[Repaired] = []
    code = OK
    with waiting(f"{game}: solving its forms for {within_seconds:g} s at most", quiet or as_json):
        try:
            for row in repairs_of(rules, game, within_seconds, free_memory_bytes()):
                rows.append(row)
        except KeyboardInterrupt:
            if not rows:
                raise
            code = INTERRUPTED
    rows.sort(key=Repaired.order)
    if as_json:
        for row in rows:
            click.echo(json.dumps(asdict(row)))
        return code
    settings = ", ".join(f"{name}={value}" for name, value in rules.options.items())
    click.echo(f"{printable(f'{game} {settings}')}\n")
    print_table(FORM_COLUMNS, [_cells(row) for row in rows], "text")
    if code == INTERRUPTED:
        click.echo("Interrupted: forms that were not tried yet are left out.", err=True)
    if any(row.outcome is None for row in rows) and has_solver(rules) and kernel_status(rules.name).problem:
        click.echo(printable(f"The rules in Python are used, slower: {kernel_status(rules.name).problem}"), err=True)
    return code


def _cells(row: Repaired) -> dict[str, Any]:
    return {
        "repair": row.repair,
        "worth": _worth_text(row) or "not known",
        "known": row.known or "–",
        "keeping": f"{row.keeping_first} of {row.first}" if row.keeping_first is not None else "–",
        "decided_at": "–" if row.decided_at is None else f"{row.decided_at:.1f}",
        "draws": "–" if row.draws is None else f"{100 * row.draws:.0f} %",
    }


def _worth_text(known: Any) -> str:
    """Return what is known of the outcome and the margin of a form or a worth."""
    from arena.lab.solving.worth import number_text

    if known is None or known.outcome is None:
        return ""
    return f"{known.outcome} {number_text(known.margin)}" if known.margin else str(known.outcome)


def _show_first_actions(
    game: str,
    values: dict[str, Any],
    tournament: str | None,
    plies: int,
    top: int,
    book: Path | None,
    outcomes: Sequence[str],
    within_seconds: float,
    *,
    quiet: bool,
    as_json: bool,
) -> int:
    from arena.games.pie import Pie
    from arena.lab.openings import Explorer, beyond_reach_reason
    from arena.lab.solving.limits import free_memory_bytes
    from arena.lab.solving.positions import rules_of
    from arena.tournament.openings import no_opening_reason

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
        first_lines = explorer.lines()
    lines = [line for first in first_lines for line in first.all_lines()]
    if reason:
        click.echo(f"arena: nothing is solved: {printable(reason)}", err=True)
    if as_json:
        head = {"game": game, "options": dict(rules.options), "tournament": tournament, "matches": explorer.matches}
        click.echo(json.dumps(head | {"lines": [_as_dict(rules, line) for line in lines]}))
    else:
        columns = LINE_COLUMNS if matches else LINE_COLUMNS[:3]
        print_table(columns, list(_rows(rules, first_lines, top)), "text")
        solved = sum(line.worth is not None and line.worth.is_exact for line in lines)
        played = f", {counted(explorer.matches, 'match')} played" if matches else ""
        click.echo(
            f"\n{solved:,} of {counted(len(lines), 'line')} solved{played}. Worth is for seat 0, with best play."
        )
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
        played = toml_value(dict(own[0].options))
        raise UsageError(f"tournament {tournament!r} plays {game} with {played}, not {toml_value(given)}")
    options = dict(fitting[0].options)
    matches = [
        PlayedMatch(actions=[action for _, action in record.actions if action is not None], ranks=record.ranks)
        for record in home.store.records(stored, game)
        if dict(record.options) == options
    ]
    return options, matches


def _as_dict(rules: Game[Any], line: ExploredLine) -> dict[str, Any]:
    return {
        "actions": [rules.format_action(action) for action in line.actions],
        **{name: getattr(line.worth, name, None) for name in ("outcome", "margin", "low", "high", "known")},
        "is_best": line.is_best,
        **asdict(line.results),
    }


def _rows(rules: Game[Any], lines: Sequence[ExploredLine], top: int) -> Iterator[dict[str, Any]]:
    indent = "  " * (len(lines[0].actions) - 1) if lines else ""
    for line in lines[:top]:
        text, best = indent + rules.format_action(line.actions[-1]), "best" if line.is_best else ""
        yield row_of(LINE_COLUMNS, line.results, line=text, worth=_worth_text(line.worth) or "–", best=best)
        yield from _rows(rules, line.after, top)
    if len(lines) > top:
        yield {"line": f"{indent}… {len(lines) - top:,} more", "worth": "", "best": "", "played": None}


def _write(
    book: Path,
    rules: Game[Any],
    game: str,
    lines: Sequence[ExploredLine],
    outcomes: Sequence[str],
    tournament: str | None,
) -> None:
    from arena.tournament.openings import book_text

    going_on = [line for line in lines if not rules.is_over(line.state) and not rules.seats_out(line.state)]
    chosen = [line for line in going_on if not outcomes or (line.worth and line.worth.outcome) in outcomes]
    if not chosen:
        raise UsageError(f"--book {str(book)!r}: none of {counted(len(lines), 'line')} fits; nothing is written")
    played = f", played in {tournament}" if tournament is not None else ""
    about = f"{counted(len(chosen), 'opening')} of {game}, by arena lab repair{played}"
    text = book_text(rules, game, ((line.actions, _line_comment(line)) for line in chosen), about)
    write_file(book, text)
    click.echo(f"{counted(len(chosen), 'opening')} written: {printable(str(book))}", err=True)


def _line_comment(line: ExploredLine) -> str:
    results = line.results
    played = (
        f"; played {results.played:,}: +{results.won:,} ={results.drawn:,} -{results.lost:,}" if results.played else ""
    )
    return f"{_worth_text(line.worth) or '–'}{played}"
