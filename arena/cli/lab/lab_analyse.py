"""``arena lab analyse``: what a position is worth, and every action in it."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.cli.terminal.common import line_width, match_of, open_home, print_json, waiting
from arena.cli.terminal.options import MAX_COUNT, WholeNumber, json_option, options_option, within_option

if TYPE_CHECKING:
    from arena.lab.matches.annotating import AnalysedAction, Analysis
    from arena.lab.shares import StateShares
    from arena.lab.solving.limits import Limits
    from arena.lab.solving.positions import Position


# The output of ``arena lab analyse`` for a position with three or more seats.

MAX_WIDTH = 10_000

Group = tuple[tuple[float, ...], tuple[float, ...]]
"""Shares and paranoid shares; several actions may lead to the same ones."""


def analyse_shares(position: Position, limits: Limits, within_seconds: float, *, as_json: bool) -> None:
    """Show what each seat gets in a position, and after each of its actions."""
    from arena.lab.shares import ShareOracle

    seat = position.game.seat_to_act(position.state)
    if seat is None:
        raise UsageError("the match is over in this position: there is nothing to choose")
    oracle = ShareOracle(position.game, position.path, limits)
    oracle.needs()  # the kernel is built, which takes no time of the question
    if oracle.kernel_problem and not as_json:
        click.echo(printable(f"The rules in Python are used, slower: {oracle.kernel_problem}"), err=True)
    deadline = time.monotonic() + within_seconds
    shares = oracle.of(position.state, deadline=deadline)
    line = oracle.best_line(position.state, deadline)
    if as_json:
        print_json(_shares_json(position, seat, shares, line))
    else:
        click.echo(_shares_page(position, seat, shares, line))


def _shares_json(position: Position, seat: int, shares: StateShares, line: Sequence[Any]) -> dict[str, Any]:
    from arena.lab.solving.worth import TIE_RULE

    known = {"shares": shares.shares, "paranoid": shares.paranoid, "known": shares.known, "tie_rule": TIE_RULE}
    actions = [(choice.action, {"shares": choice.shares, "paranoid": choice.paranoid}) for choice in shares.actions]
    return _as_json(position, seat, known, actions, line)


def _shares_page(position: Position, seat: int, shares: StateShares, line: Sequence[Any]) -> str:
    from arena.lab.solving.worth import TIE_RULE

    groups: dict[Group, list[str]] = {}
    for choice in sorted(shares.actions, key=lambda choice: (-choice.shares[seat], -choice.paranoid[seat])):
        groups.setdefault((choice.shares, choice.paranoid), []).append(position.game.format_action(choice.action))
    rows = [_wrapped(f"{' '.join(actions)}: {_shares_text(group)}", indent=4) for group, actions in groups.items()]
    return _page(position, seat, f"{_shares_text((shares.shares, shares.paranoid))}; {TIE_RULE}", rows, line)


def _shares_text(group: Group) -> str:
    shares, paranoid = (", ".join(f"{share:g}" for share in by_seat) for by_seat in group)
    return f"shares {shares}; held against all others {paranoid}"


def _wrapped(text: str, indent: int = 0) -> list[str]:
    width = min(line_width(), MAX_WIDTH)
    return textwrap.wrap(printable(text), width, subsequent_indent=" " * indent, break_on_hyphens=False)


SEARCH_SECONDS = 10.0


@click.command("analyse")
@click.argument("position", metavar="MATCH or GAME")
@click.argument("ply", type=WholeNumber(0, MAX_COUNT), required=False)
@click.option("--position", "file", metavar="FILE", help="The position of GAME, as JSON.")
@options_option
@within_option("How long to search [default: 10s, after up to 120s for a table of all that can follow].")
@json_option
def analyse(
    position: str,
    ply: int | None,
    file: str | None,
    options: tuple[str, ...],
    within_seconds: float | None,
    as_json: bool,
) -> None:
    """Say what each legal action of a position is worth.

    Then show a line of best play.

    \b
    arena lab analyse quickstart/1 4
    arena lab analyse differences --position FILE

    The position is that of MATCH, written TOURNAMENT/NUMBER, after PLY actions; or that of GAME in FILE, an object such
    as {"options": {"size": 6}, "actions": ["c4", [2, 5]]}. Without --position it is the first one of GAME.

    Margins are the score of seat 0 minus that of seat 1. `?` is an action that loses margin for certain, and `??` one
    that changes the outcome. Where only bounds are known, an action has a mark only if they prove it.

    With three and more seats, each action has what every seat gets after it, as in arena lab solve, and no mark.
    """
    from arena.lab.matches.annotating import analyse as analysed
    from arena.lab.oracle import PREPARE_SECONDS, Oracle
    from arena.lab.solving.limits import Limits, free_memory_bytes

    chosen = _of_match(position, ply, file, options) if "/" in position else _of_game(position, ply, file, options)
    limits = Limits(memory_bytes=free_memory_bytes())
    search_seconds = within_seconds or SEARCH_SECONDS
    if chosen.game.players > 2:
        analyse_shares(chosen, limits, search_seconds, as_json=as_json)
        return
    oracle = Oracle(chosen.game, chosen.path, limits, within_seconds=search_seconds)
    with waiting(f"{chosen.path}: what each action is worth", as_json):
        if within_seconds is None:
            oracle.prepare(PREPARE_SECONDS, chosen.state)
        analysis = analysed(chosen.game, oracle, chosen.state)
    if as_json:
        actions = [(choice.action, {"mark": choice.mark, **choice.worth.to_json()}) for choice in analysis.actions]
        print_json(_as_json(chosen, analysis.seat, analysis.worth.to_json(), actions, analysis.best_line))
    else:
        click.echo(_worth_page(chosen, analysis))


def _of_game(name: str, ply: int | None, file: str | None, options: tuple[str, ...]) -> Position:
    from arena.games import parse_options
    from arena.lab.solving.positions import Position, read_position, rules_of

    if ply is not None:
        raise UsageError(f"{name} {ply}: a ply belongs to a match, written TOURNAMENT/NUMBER; a game takes --position")
    values = parse_options(name, options)
    if file is not None:
        return read_position(name, Path(file), values)
    game = rules_of(name, values)
    return Position(game=game, path=name, state=game.initial_state(), ply=0)


def _of_match(text: str, ply: int | None, file: str | None, options: tuple[str, ...]) -> Position:
    from arena.lab.solving.positions import Position, rules_of
    from arena.match.replay import states_of

    tournament, number = match_of(text)
    if file is not None or options:
        raise UsageError(f"{text}: a match has its own options and positions; --position and --option are for a game")
    if ply is None:
        raise UsageError(f"{text}: which ply? for example: arena lab analyse {text} 4")
    with open_home(must_exist=True) as arena_home:
        record = arena_home.store.record_of(arena_home.store.tournament(tournament), number)
    if ply > len(record.actions):
        raise UsageError(f"ply {ply}: expected a ply of {text} from 0 to {len(record.actions)}")
    states = [state for _, state in states_of(record)]
    game = rules_of(record.game, dict(record.options))
    return Position(game=game, path=record.game, state=states[ply], ply=ply)


def _as_json(
    position: Position,
    seat: int,
    known: dict[str, Any],
    actions: Sequence[tuple[Any, dict[str, Any]]],
    line: Sequence[Any],
) -> dict[str, Any]:
    game = position.game
    head = {"game": position.path, "options": dict(game.options), "ply": position.ply, "seat": seat}
    shown = [{"action": action, "text": game.format_action(action), **about} for action, about in actions]
    return {**head, **known, "actions": shown, "best_line": list(line)}


def _page(position: Position, seat: int, worth: str, rows: Sequence[list[str]], line: Sequence[Any]) -> str:
    settings = " ".join(f"{name}={value}" for name, value in position.game.options.items())
    head = f"{position.path} {settings}, ply {position.ply}, seat {seat} to act"
    lines = [*_wrapped(f"{head}: {worth}"), "", *(text for row in rows for text in row)]
    if line:
        lines += ["", *_wrapped(f"Best line: {' '.join(map(position.game.format_action, line))}")]
    return "\n".join(lines)


def _worth_page(position: Position, analysis: Analysis) -> str:
    from arena.lab.solving.worth import KNOWN_TEXT, worth_text

    groups: dict[tuple[str, str], list[str]] = {}
    for action in sorted(analysis.actions, key=lambda action: _order(action, analysis.seat)):
        groups.setdefault((worth_text(action.worth), action.mark), []).append(action.text)
    width = max(len(text) for text, _ in groups)
    rows = [
        _wrapped(f"{mark:2s} {text:{width}s}  {' '.join(names)}", indent=width + 5)
        for (text, mark), names in groups.items()
    ]
    worth = f"{worth_text(analysis.worth)} ({KNOWN_TEXT[analysis.worth.known]})"
    return _page(position, analysis.seat, worth, rows, analysis.best_line)


def _order(action: AnalysedAction, seat: int) -> tuple[float, float, float]:
    from arena.lab.matches.annotation import points_for

    worth, sign = action.worth, -1 if seat == 0 else 1
    low = float("-inf") if worth.low is None else worth.low
    high = float("inf") if worth.high is None else worth.high
    sure, possible = (low, high) if seat == 0 else (high, low)
    return -points_for(seat, worth.least if seat == 0 else worth.most), sign * sure, sign * possible
