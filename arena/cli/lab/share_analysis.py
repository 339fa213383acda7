"""What ``arena lab analyse`` says of a position with three and more seats."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.cli.terminal.common import line_width, print_json

if TYPE_CHECKING:
    from arena.lab.shares import StateShares
    from arena.lab.solving.limits import Limits
    from arena.lab.solving.positions import Position

MAX_WIDTH = 10_000

Group = tuple[tuple[float, ...], tuple[float, ...]]
"""Shares and paranoid shares, which several actions may leave."""


def analyse_shares(position: Position, limits: Limits, within_seconds: float, *, as_json: bool) -> None:
    """Show what each seat gets in a position, and after each of its actions.

    Raises:
        TimeIsUpError: if that is not known in time.
        TooLargeError: if there is not enough memory.
        UsageError: if the match is over in the position.
    """
    from arena.lab.shares import ShareOracle

    seat = position.game.seat_to_act(position.state)
    if seat is None:
        raise UsageError("the match is over in this position: there is nothing to choose")
    oracle = ShareOracle(position.game, position.path, limits)
    oracle.needs()  # the kernel is built, which takes no time of the question
    if oracle.kernel_problem and not as_json:
        click.echo(printable(f"The rules in Python are used, slower: {oracle.kernel_problem}"), err=True)
    deadline = time.monotonic() + within_seconds
    found = oracle.of(position.state, deadline=deadline)
    line = oracle.best_line(position.state, deadline)
    if as_json:
        print_json(_as_json(position, seat, found, line))
    else:
        click.echo(_text(position, seat, found, line))


def _as_json(position: Position, seat: int, found: StateShares, line: Sequence[Any]) -> dict[str, Any]:
    from arena.lab.solving.retrograde import TIE_RULE

    return {
        "game": position.path,
        "options": dict(position.game.options),
        "ply": position.ply,
        "seat": seat,
        "shares": found.shares,
        "paranoid": found.paranoid,
        "known": found.known,
        "tie_rule": TIE_RULE,
        "actions": [
            {
                "action": one.action,
                "text": position.game.format_action(one.action),
                "shares": one.shares,
                "paranoid": one.paranoid,
            }
            for one in found.actions
        ],
        "best_line": list(line),
    }


def _text(position: Position, seat: int, found: StateShares, line: Sequence[Any]) -> str:
    """Return the actions by what they leave to the seat to act, the best ones first."""
    from arena.lab.solving.retrograde import TIE_RULE

    settings = " ".join(f"{name}={value}" for name, value in position.game.options.items())
    head = f"{position.path} {settings}, ply {position.ply}, seat {seat} to act"
    lines = [*_wrapped(f"{head}: {_shares_text((found.shares, found.paranoid))}; {TIE_RULE}"), ""]
    groups: dict[Group, list[str]] = {}
    for one in sorted(found.actions, key=lambda one: (-one.shares[seat], -one.paranoid[seat])):
        groups.setdefault((one.shares, one.paranoid), []).append(position.game.format_action(one.action))
    for group, actions in groups.items():
        lines += _wrapped(f"{' '.join(actions)}: {_shares_text(group)}", indent=4)
    return "\n".join([*lines, "", *_wrapped(f"Best line: {' '.join(map(position.game.format_action, line))}")])


def _shares_text(group: Group) -> str:
    shares, held = (", ".join(f"{share:g}" for share in one) for one in group)
    return f"shares {shares}; held against all others {held}"


def _wrapped(text: str, indent: int = 0) -> list[str]:
    width = min(line_width(), MAX_WIDTH)
    return textwrap.wrap(printable(text), width, subsequent_indent=" " * indent, break_on_hyphens=False)
