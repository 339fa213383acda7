"""``arena play``: one match, drawn as it goes."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from arena.cli.common import find_bots, home_option, parse_options, show_result, warn_of_weak_isolation
from arena.cli.group import FAILED, OK
from arena.report.tables import printable


@click.command("play")
@click.argument("game")
@click.argument("bots", nargs=-1, required=True)
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game.")
@click.option("--rng-seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Given to every bot.")
@click.option("--seconds", type=click.FloatRange(0.001, 86400), default=1.0, show_default=True, help="For each action.")
@click.option("--isolation", default="auto", show_default=True, help="The level bots run under.")
@click.option("-q", "--quiet", is_flag=True, help="Only the result.")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON, and nothing else.")
@home_option
def command(
    game: str,
    bots: tuple[str, ...],
    options: tuple[str, ...],
    rng_seed: int,
    seconds: float,
    isolation: str,
    quiet: bool,
    as_json: bool,
    home: str | None,
) -> int:
    """Play one match of GAME between BOTS, the first one in seat 0.

    A bot is a path (a directory with a bot.toml, a program or a .py file), a submitted name or name@version, or `human`
    to play yourself, without a clock.
    """
    from arena.games import make_game
    from arena.play import play_match
    from arena.players.human import HUMAN, HumanPlayer
    from arena.records import TimeControl

    values = parse_options(game, options)
    loaded = find_bots(bots, home)
    if "players" not in values and len(loaded) != 2:
        values["players"] = len(loaded)
    rules = make_game(game, **values)
    warn_of_weak_isolation(isolation)
    record = play_match(
        game,
        loaded,
        options=values,
        rng_seed=rng_seed,
        time_control=TimeControl(per_action_seconds=seconds),
        isolation=isolation,
        observer=None if quiet or as_json else _Drawer([bot.label for bot in loaded]),
        people={seat: HumanPlayer(_Prompt(rules)) for seat, bot in enumerate(loaded) if bot is HUMAN},
    )
    if as_json:
        click.echo(json.dumps(record.as_dict()))
    else:
        show_result(record.as_dict())
    return FAILED if record.faults else OK


class _Drawer:
    """Prints each action and the board after it."""

    def __init__(self, bots: list[str]) -> None:
        self._bots = bots

    def __call__(self, game: Any, state: Any, actions: list[list[Any]]) -> None:
        if actions:
            seat, action = actions[-1]
            played = "is taken out" if action is None else f"plays {game.format_action(action)}"
            click.echo(f"{len(actions)}. {printable(self._bots[seat])} {played}")
        click.echo(f"{game.render(state)}\n")


class _Prompt:
    """Asks the person in a seat until the answer is a legal action."""

    def __init__(self, game: Any) -> None:
        self._game = game

    def __call__(self, seat: int, request: Any) -> Any:
        from arena.errors import IllegalActionError

        legal = list(request.legal)
        while True:
            click.echo(f"seat {seat} acts (? lists the legal actions): ", nl=False, err=True)
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            if line.strip() == "?":
                click.echo(" ".join(self._game.format_action(action) for action in legal), err=True)
                continue
            try:
                action = self._game.parse_action(line)
            except IllegalActionError as error:
                click.echo(printable(str(error)), err=True)
                continue
            if action in legal:
                return action
            click.echo(f"{self._game.format_action(action)} is not legal here", err=True)
