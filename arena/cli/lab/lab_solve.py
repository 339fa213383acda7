"""``arena lab solve``: what a game is worth with best play; ``arena lab prove``: a certificate of it."""

from __future__ import annotations

import json
import re
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import printable
from arena.base.errors import OptionError, UsageError
from arena.base.text import all_of, counted, duration_text, short_size_text
from arena.cli.terminal.common import check_directories, print_json, print_wrapped, show_line, waiting, write_file
from arena.cli.terminal.options import A_PATH, json_option, options_option, quiet_option, within_option
from arena.cli.terminal.streams import INTERRUPTED, OK

if TYPE_CHECKING:
    from arena.games import Game
    from arena.lab.certificate import Certificate, Claim
    from arena.lab.solving.tables import Table
    from arena.lab.solving.worth import By, Solution


WIDTH = 80
MAX_SWEPT = 1000
MAX_SHOWN = 12
_EVERY_SECONDS = 0.2
_FIRST_SHARE = 0.001
"""The share to be looked at before a time is shown: the first states of plusminus take longer than all others."""

_SWEEP = re.compile(r"\s*(\w+)\s*=\s*(\d{1,9})\.\.(\d{1,9})\s*")


@click.command("solve")
@click.argument("game")
@options_option
@click.option("--sweep", metavar="NAME=LOW..HIGH", help="Solve it with each value of an option, such as size=3..9.")
@within_option("Stop after 60s, 5m or 2h for each set of options, with bounds if it is not solved by then.")
@click.option(
    "--by",
    type=click.Choice(["proof", "kernel", "table", "search"]),
    help="Solve it in this way [default: proof, else kernel, table, search].",
)
@click.option("--save", "is_saved", is_flag=True, help="Keep a table of all states in a file.")
@quiet_option
@json_option
def solve(
    game: str,
    options: tuple[str, ...],
    sweep: str | None,
    within_seconds: float | None,
    by: str | None,
    is_saved: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Say what GAME is worth with best play, and how that is known.

    \b
    arena lab solve plusminus -o size=5
    arena lab solve coprimality --sweep size=3..12
    arena lab solve plaid -o width=20 -o height=20 --within 60s

    The margin is the score of seat 0 minus that of the other seat. It is `proved` by a strategy, read from a `table` of
    all states, or found by a `search`, which says between which bounds it lies when the time is up. For three and more
    seats there is no such value: `shares` is each seat's share of rivals beaten when every seat plays for its own, and
    `paranoid` what it can hold against all others together. A table that --save has kept is used again.

    A terminal shows how far a long solution is. Ctrl-C ends it with what is known by then.

    With --json, each set of options is an object in a line of its own.
    """
    from arena.games import parse_options
    from arena.lab.solving.worth import By

    if is_saved and by not in (None, "table"):
        raise UsageError(f"--save and --by {by}: only a table can be saved")
    method = By.TABLE if is_saved else By(by) if by is not None else None
    values = parse_options(game, options)
    for rules in _games(game, values, sweep):
        solution = _solved(rules, game, within_seconds, method, is_saved, is_quiet=quiet or as_json)
        if as_json:
            click.echo(json.dumps(solution.to_json()))
        else:
            click.echo(_text(rules, solution))
        if solution.is_interrupted:
            return INTERRUPTED
    return OK


def _games(game: str, values: dict[str, Any], sweep: str | None) -> Iterator[Game[Any]]:
    from arena.games import find_game
    from arena.lab.solving.positions import rules_of

    if sweep is None:
        yield rules_of(game, values)
        return
    parsed = _SWEEP.fullmatch(sweep)
    if parsed is None or not int(parsed[2]) <= int(parsed[3]) < int(parsed[2]) + MAX_SWEPT:
        raise UsageError(f"--sweep {sweep!r}: expected NAME=LOW..HIGH of at most {MAX_SWEPT} values, such as size=3..9")
    name = parsed[1]
    if name in values or name not in {option.name for option in find_game(game).OPTIONS}:
        rules_of(game, {**values, name: int(parsed[2])})  # an unknown name is refused here
        raise UsageError(f"--sweep {sweep!r}: {name} is given by --option as well")
    refused: list[OptionError] = []
    for value in range(int(parsed[2]), int(parsed[3]) + 1):
        try:
            rules = rules_of(game, {**values, name: value})
        except OptionError as error:
            refused.append(error)
            click.echo(printable(f"arena: left out: {error}"), err=True)
            continue
        yield rules
    if len(refused) > int(parsed[3]) - int(parsed[2]):
        raise refused[-1]


class Looking:
    """Shows on stderr, if it is a terminal, how far a long computation is, and when it will have ended.

    Call it with the number of states looked at, as often as you like.

    Attributes:
        states: how many there are; 0 if that is not known.
    """

    def __init__(self, text: str, deadline: float, is_quiet: bool) -> None:
        """Begin; ``deadline`` is by ``time.monotonic``."""
        self.states = 0
        self._text, self._deadline = text, deadline
        self._begun: tuple[float, int] | None = None
        self._shown_at = 0.0
        self._is_shown = not is_quiet and sys.stderr.isatty()

    def __call__(self, looked_at: int) -> None:
        """Show it, unless it was shown a moment ago."""
        now = time.monotonic()
        if not self._is_shown or now < self._shown_at + _EVERY_SECONDS:
            return
        begun_at, first = self._begun = self._begun or (now, looked_at)
        self._shown_at = now
        parts = [f"{self._text}: {looked_at:,}"]
        left = [self._deadline - now]
        if first < looked_at <= self.states:
            parts[0] += f" of {self.states:,}"
            parts.append(f"{100 * looked_at / self.states:.0f} %")
            if looked_at >= _FIRST_SHARE * self.states:
                left.append((now - begun_at) * (self.states - looked_at) / (looked_at - first))
        else:
            parts[0] += " states"
        if min(left) < float("inf"):
            parts.append(f"{duration_text(min(left))} left")
        show_line(" · ".join(parts))

    def close(self) -> None:
        if self._is_shown:
            show_line()


def _solved(
    rules: Game[Any], path: str, within_seconds: float | None, by: By | None, is_saved: bool, is_quiet: bool
) -> Solution:
    from dataclasses import replace

    from arena.lab.solve import Solver
    from arena.lab.solving.limits import Limits, free_memory_bytes, memory_text, states_text
    from arena.lab.solving.tables import kernel_table_path, plan_of_kernel_table, save_kernel_table, saved_path

    if is_saved and rules.players != 2:
        raise UsageError(f"players = {rules.players}: only tables of games for two can be saved")
    begun = time.monotonic()
    deadline = float("inf") if within_seconds is None else begun + within_seconds
    looking = Looking(path, deadline, is_quiet)
    limits = Limits(deadline=deadline, memory_bytes=free_memory_bytes(), watch=looking)
    room = f"{short_size_text(limits.memory_bytes)} may be used"
    table = _saved_table(rules, path) if by in (None, "table") and rules.players == 2 else None
    made = plan_of_kernel_table(rules, path) if is_saved and table is None else None
    if made is not None:
        if not is_quiet:
            takes = f"its kernel makes a table of {states_text(made.states)} and takes {memory_text(made.memory_bytes)}"
            click.echo(_wrapped(f"{path} {_options_text(rules)}: {takes}; {room}"), err=True)
        looking.states = made.states
        with closing(looking):
            table = save_kernel_table(rules, kernel_table_path(rules), limits)
    solver = Solver(rules, path, limits, table)
    if not is_quiet and table is None and by in (None, "kernel", "table") and (by or not solver.is_proved):
        plan = solver.plan(by)
        looking.states = plan.states or 0
        is_too_large = plan.memory_bytes is not None and plan.memory_bytes > limits.memory_bytes
        if not (is_too_large and solver.kernel_problem):  # the refusal tells why there is no kernel
            but = ", but only" if is_too_large else ";"
            click.echo(_wrapped(f"{path} {_options_text(rules)}: {plan.text()}{but} {room}"), err=True)
    with closing(looking):
        solution = solver.solve(by)
    if made is not None:
        seconds = time.monotonic() - begun
        solution = replace(solution, states=made.states, memory_bytes=made.memory_bytes, seconds=seconds)
    if solver.kernel_problem:
        click.echo(_wrapped(f"The rules in Python are used, slower: {solver.kernel_problem}"), err=True)
    if is_saved and table is None:
        solver.save()
    if is_saved and not is_quiet:
        click.echo(f"The table is {printable(str(saved_path(rules, path)))}", err=True)
    return solution


def _saved_table(rules: Game[Any], path: str) -> Table | None:
    from arena.lab.solving.tables import TableError, saved_table

    try:
        return saved_table(rules, path)
    except TableError as error:
        click.echo(printable(f"arena: {error}"), err=True)
        return None


def _text(rules: Game[Any], solution: Solution) -> str:
    lines = [_wrapped(f"{solution.game} {_options_text(rules)}: {_verdict(solution)}")]
    rows = [("known", _known(solution)), ("best first", _best(rules, solution))]
    memory = short_size_text(solution.memory_bytes)
    actions = f", {counted(solution.edges, 'action')}" if solution.edges else ""
    used = f"{counted(solution.states, 'state')}{actions}, {duration_text(solution.seconds)}, {memory}"
    for name, text in (*rows, ("looked at", used)):
        if text:
            lines.append(_wrapped(f"  {name:<12}{printable(text)}", " " * 14))
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "  ") -> str:
    return textwrap.fill(printable(text), WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _options_text(rules: Game[Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in rules.options.items())


def _verdict(solution: Solution) -> str:
    worth = solution.worth
    if worth is None:
        shares = ", ".join(f"{share:g}" for share in solution.shares or ())
        paranoid = ", ".join(f"{share:g}" for share in solution.paranoid or ())
        return f"shares of rivals beaten, by seat: {shares}; held against all others together: {paranoid}"
    winner = {"win": "seat 0 wins", "draw": "a draw", "loss": "seat 1 wins"}.get(worth.outcome or "", "")
    if worth.margin is not None:
        return f"{winner}, margin {worth.margin:g}"
    bounds = [
        f"at least {worth.low:g}" if worth.low is not None else "",
        f"at most {worth.high:g}" if worth.high is not None else "",
    ]
    margin = " and ".join(filter(None, bounds))
    return ", ".join(filter(None, (winner, f"margin {margin}" if margin else ""))) or "not known"


def _known(solution: Solution) -> str:
    from arena.lab.solving.worth import TIE_RULE

    worth, names = solution.worth, all_of([f'"{name}"' for name in solution.proofs])
    if worth is None:
        by = "a table of all states" if solution.shares_known == "table" else "a search of all matches that matter"
        return f"by {by}; {TIE_RULE}"
    if worth.known == "proved":
        return f"proved, by the strategy {names}"
    if worth.known == "table":
        return "by a table of all states"
    if worth.is_exact and solution.depth is None:
        return "by a search to the ends of all matches that matter"
    depth = f"by a search of {counted(solution.depth or 0, 'action')} ahead"
    return f"{depth}, and a bound by the strategy {names}" if names else depth


def _best(rules: Game[Any], solution: Solution) -> str:
    from arena.lab.solving.positions import symmetries_of

    if not solution.best:
        return ""
    shown = " ".join(rules.format_action(action) for action in solution.best[:MAX_SHOWN])
    more = f" and {len(solution.best) - MAX_SHOWN} more" if len(solution.best) > MAX_SHOWN else ""
    symmetry = ", up to symmetry" if symmetries_of(rules, solution.game) else ""
    return f"{shown}{more}{symmetry}{'' if solution.has_all_best else '; others may be as good'}"


@click.command("prove")
@click.argument("game")
@options_option
@click.option("--out", type=A_PATH, required=True, help="The file to write.")
@click.option("--advice", "by_advice", is_flag=True, help="By the rules for people, where they hold as much as tables.")
@within_option("Write what can be proved within 60s, 5m or 2h.")
@quiet_option
@json_option
def prove(
    game: str,
    options: tuple[str, ...],
    out: Path,
    by_advice: bool,
    within_seconds: float | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Write a certificate of what GAME is worth with best play.

    It has strategies for both seats, which anybody can check.

    \b
    arena lab prove multiplication -o size=7 --out multiplication_7.txt
    arena lab prove coprimality -o size=12 --advice --out coprimality_12.txt

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
        limits = Limits(deadline=deadline, memory_bytes=free_memory_bytes())
        certificate = certificate_of(rules, game, limits, by_advice)
    text = certificate.text()
    write_file(out, text)
    if as_json:
        print_json(_certificate_json(certificate, game, out, text))
    else:
        _show_certificate(certificate, game, out, text)
    return OK


def _certificate_json(certificate: Certificate, game: str, out: Path, text: str) -> dict[str, Any]:
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


def _show_certificate(certificate: Certificate, game: str, out: Path, text: str) -> None:
    claims = all_of([f"seat {claim.seat} holds {claim.holds:+d} by {_held_by(claim)}" for claim in certificate.claims])
    exact = "" if certificate.value is None else f", so the value is {certificate.value:+d} for seat 0"
    print_wrapped(f"{game}: ", 2, f"{claims.replace('+0', '0')}{exact.replace('+0', '0')}.")
    if certificate.problem:
        print_wrapped("", 0, printable(f"It is not the whole value: {certificate.problem}."))
    click.echo(f"{short_size_text(len(text))} written: {printable(str(out))}", err=True)


def _held_by(claim: Claim) -> str:
    if claim.rule == "table":
        return f"a table of {counted(len(claim.actions), 'action')}"
    lines = claim.rule.split(",")
    return f"the rule {claim.rule}" if len(lines) == 1 else f"the rules {all_of(lines)}"
