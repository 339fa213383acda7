"""``arena play``: one match, with the board and the score after every action."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import printable
from arena.base.bot_text import OPERATOR
from arena.base.errors import UsageError
from arena.cli.bots.boards import position_lines
from arena.cli.bots.human_prompt import Table
from arena.cli.terminal.common import find_bots, show_result, warn_of_weak_isolation
from arena.cli.terminal.conditions import conditions, first_openings, like_option
from arena.cli.terminal.options import (
    isolation_option,
    json_option,
    options_option,
    ply_limit_option,
    quiet_option,
    rng_seed_option,
    seconds_option,
)
from arena.cli.terminal.streams import FAILED, OK
from arena.games import Game, make_game, parse_options
from arena.games.checked_game import checked_game
from arena.match.players.player import HUMAN, HumanPlayer, LeftMatchError, TakenBackError

if TYPE_CHECKING:
    from arena.base.records import Bot, MatchRecord


@click.command("play")
@click.argument("game")
@click.argument("bots", nargs=-1, required=True)
@options_option
@like_option
@ply_limit_option
@rng_seed_option
@seconds_option
@isolation_option
@click.option("--hints", metavar="BOT", help="The bot that gives hints to people [default: the first one in BOTS].")
@quiet_option
@json_option
def play_command(
    game: str,
    bots: tuple[str, ...],
    options: tuple[str, ...],
    like: str | None,
    hints: str | None,
    quiet: bool,
    as_json: bool,
    **_conditions: Any,
) -> int:
    """Play one match of GAME between BOTS, the first one in seat 0.

    A bot is a path (a directory with a bot.toml, a program or a .py file), an example such as arena:greedy, a submitted
    name or name@version, or `human` to play yourself, without a clock: type an action such as c4, or ? to see what else
    you can type: it lists the legal actions, asks for a hint, takes an action back.

    With --like, the match begins with the first opening of that tournament, as its matches do.

    On the board, A is seat 0, B seat 1 and so on; the last action is in brackets. The score so far is below it.
    """
    loaded = find_bots(bots)
    for_all = like is None and "players" not in parse_options(game, options) and len(loaded) != 2
    chosen = conditions(like, game, options, {"players": len(loaded)} if for_all else {})
    rules = checked_game(make_game(game, **chosen.games[0].options), game)
    warn_of_weak_isolation(chosen.isolation)
    settings: dict[str, Any] = {
        "options": dict(chosen.games[0].options),
        "rng_seed": chosen.rng_seed,
        "time_control": chosen.time_control,
        "limits": chosen.limits,
        "isolation": chosen.isolation,
    }
    ply_limit, opening = chosen.ply_limit, () if like is None else first_openings(chosen)[0]
    if HUMAN in loaded:
        adviser = find_bots([hints])[0] if hints is not None else next((bot for bot in loaded if bot.command), None)
        record = _play_with_people(game, rules, loaded, adviser, settings, ply_limit, opening, quiet or as_json)
        if record is None:
            return OK
    else:
        from arena.match.single_match import play_match

        observer = None if quiet or as_json else _Drawer([bot.label for bot in loaded])
        record = play_match(game, loaded, observer=observer, ply_limit=ply_limit, opening_actions=opening, **settings)
    if as_json:
        click.echo(json.dumps(record.to_json(OPERATOR)))
    else:
        show_result(record)
    return FAILED if record.faults else OK


def _play_with_people(
    game: str,
    rules: Game[Any],
    loaded: Sequence[Bot],
    adviser: Bot | None,
    settings: dict[str, Any],
    ply_limit: int,
    opening: Sequence[Any],
    is_quiet: bool,
) -> MatchRecord | None:
    from arena.match.single_match import ask_bot, play_match

    def suggest(actions: list[Any]) -> Any:
        assert adviser is not None
        return ask_bot(adviser, game, actions=actions, **settings)

    table = Table(
        rules,
        [bot.label if bot.command else "human" for bot in loaded],
        suggest if adviser is not None and adviser.command else None,
        adviser.label if adviser is not None else "",
        is_quiet,
    )
    while True:
        try:
            return play_match(
                game,
                loaded,
                ply_limit=ply_limit,
                observer=table.observe,
                people={seat: HumanPlayer(table.ask) for seat, bot in enumerate(loaded) if bot is HUMAN},
                opening_actions=opening,
                **settings,
            )
        except TakenBackError as undone:
            opening = table.rewind(undone.kept)
        except LeftMatchError as left:
            if str(left):
                raise UsageError(str(left)) from left
            click.echo("You left the match; it has no result.", err=True)
            return None


class _Drawer:
    def __init__(self, bots: list[str]) -> None:
        self._bots = bots

    def __call__(self, game: Any, state: Any, actions: list[list[Any]]) -> None:
        if actions:
            seat, last = actions[-1]
            played = "is taken out" if last is None else f"plays {printable(game.format_action(last))}"
            click.echo(f"{len(actions)}. {printable(self._bots[seat])} (seat {seat}) {played}")
        click.echo("\n".join([*position_lines(game, state, actions, self._bots), ""]))
