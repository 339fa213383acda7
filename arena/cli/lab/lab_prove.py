"""``arena lab prove``: a certificate of what a game is worth, which anybody can check."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import printable
from arena.base.text import all_of, counted, short_size_text
from arena.cli.terminal.common import check_directories, print_json, print_wrapped, waiting, write_file
from arena.cli.terminal.options import json_option, options_option, quiet_option, within_option
from arena.cli.terminal.streams import OK

if TYPE_CHECKING:
    from arena.lab.certificate import Certificate, Claim


@click.command("prove")
@click.argument("game")
@options_option
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write.")
@within_option("Write what can be proved within 60s, 5m or 2h.")
@quiet_option
@json_option
def prove(
    game: str, options: tuple[str, ...], out: Path, within_seconds: float | None, quiet: bool, as_json: bool
) -> int:
    """Write a certificate of what GAME is worth with best play: strategies for both seats, which anybody can check.

    \b
    arena lab prove multiplication -o size=7 --out multiplication_7.txt
    arena lab prove differences -o size=9 --out differences_9.txt

    A program in C of 300 lines, arena/lab/verify/verify.c, checks it: it knows the rules and nothing of the arena. The
    page beside it describes the format, so that you can write your own.
    """
    from arena.games import make_game, parse_options
    from arena.lab.certificate import prove as certificate_of
    from arena.lab.solving.limits import Limits, free_memory_bytes

    check_directories(out)
    rules = make_game(game, **parse_options(game, options))
    deadline = float("inf") if within_seconds is None else time.monotonic() + within_seconds
    with waiting(f"{game}: looking for strategies of both seats", quiet or as_json):
        certificate = certificate_of(rules, game, Limits(deadline=deadline, memory_bytes=free_memory_bytes()))
    text = certificate.text()
    write_file(out, text)
    if as_json:
        print_json(_as_dict(certificate, game, out, text))
    else:
        _show(certificate, game, out, text)
    return OK


def _as_dict(certificate: Certificate, game: str, out: Path, text: str) -> dict[str, Any]:
    return {
        "game": game,
        "options": dict(certificate.game.options),
        "value": certificate.value,
        "claims": [
            {"seat": claim.seat, "holds": claim.holds, "by": claim.rule, "actions": len(claim.actions)}
            for claim in certificate.claims
        ],
        "problem": certificate.problem,
        "file": str(out),
        "bytes": len(text),
    }


def _show(certificate: Certificate, game: str, out: Path, text: str) -> None:
    claims = all_of([f"seat {claim.seat} holds {claim.holds:+d} by {_by(claim)}" for claim in certificate.claims])
    exact = "" if certificate.value is None else f", so the value is {certificate.value:+d} for seat 0"
    print_wrapped(f"{game}: ", 2, f"{claims.replace('+0', '0')}{exact.replace('+0', '0')}.")
    if certificate.problem:
        print_wrapped("", 0, printable(f"It is not the whole value: {certificate.problem}."))
    click.echo(f"{short_size_text(len(text))} written: {printable(str(out))}", err=True)


def _by(claim: Claim) -> str:
    return f"a table of {counted(len(claim.actions), 'action')}" if claim.rule == "table" else f"the rule {claim.rule}"
