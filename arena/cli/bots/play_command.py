"""``arena play``: one match, with the board and the score after every action, and a prompt for people who play."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import printable, printable_lines
from arena.base.bot_text import OPERATOR
from arena.base.errors import ArenaError, IllegalActionError, UsageError
from arena.base.text import counted
from arena.cli.bots.boards import listed, note_text, position_lines, rulebook_text, score_lines
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
from arena.cli.terminal.streams import FAILED, OK, terminal_width
from arena.games import Game, make_game, parse_options
from arena.games.checked_game import checked_game
from arena.match.players.player import (
    HUMAN,
    HumanPlayer,
    LeftMatchError,
    TakenBackError,
    kept_after_undo,
    read_action,
)

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
    name or name@version, or `human` to play yourself, without a clock: type an action such as c4, or ? for help: you
    can list the legal actions, ask for a hint, or take an action back.

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


def _played(game: Any, action: Any) -> str:
    return "is taken out" if action is None else f"plays {printable(game.format_action(action))}"


class _Drawer:
    def __init__(self, bots: list[str]) -> None:
        self._bots = bots

    def __call__(self, game: Any, state: Any, actions: list[list[Any]]) -> None:
        if actions:
            seat, last = actions[-1]
            click.echo(f"{len(actions)}. {printable(self._bots[seat])} (seat {seat}) {_played(game, last)}")
        click.echo("\n".join([*position_lines(game, state, actions, self._bots), ""]))


# People at the terminal: the board, the scores, and a prompt for an action or a command.

HELP = """\
an action   {example}
legal       list the legal actions
hint        ask {adviser} what it would do
undo        take your last action back
scores      show the scores so far
board       draw the whole board, however wide
rules       print the rules
quit        leave the match
help, ?     this list, and the legal actions"""

SHOWN_ACTIONS = 8
"""Up to this many legal actions are listed in the prompt itself."""


class Table:
    """Shows a match to the people at this terminal: every action, and the board before one of them acts."""

    def __init__(
        self,
        game: Any,
        labels: Sequence[str],
        suggest: Callable[[list[Any]], Any] | None,
        adviser: str,
        is_quiet: bool,
    ) -> None:
        self._game = game
        self._names = labels
        self._labels = [f"{printable(label)} (seat {seat})" for seat, label in enumerate(labels)]
        self._suggest = suggest
        self._adviser = adviser
        self._state: Any = game.initial_state()
        self._actions: list[Any] = []
        self._shown = 0
        self._is_quiet = is_quiet

    def observe(self, game: Any, state: Any, actions: list[list[Any]]) -> None:
        """Print the new actions, and the board when the match is over."""
        for ply in range(self._shown, len(actions)):
            seat, action = actions[ply]
            scores = " : ".join(f"{score:g}" for score in game.scores(state)) if ply == len(actions) - 1 else ""
            self._show_unless_quiet(
                f"{ply + 1}. {self._labels[seat]} {_played(game, action)}{f', {scores}' if scores else ''}"
            )
        self._shown = len(actions)
        self._state, self._actions = state, [list(pair) for pair in actions]
        if game.is_over(state):
            self._draw()

    def rewind(self, plies: int) -> list[Any]:
        self._shown = plies
        self._show_unless_quiet(f"Back to the position after {counted(plies, 'action')}.")
        return [action for _, action in self._actions[:plies]]

    def ask(self, seat: int, request: Any) -> Any:
        self._draw()
        legal = list(request.legal)
        texts = [printable(self._game.format_action(action)) for action in legal]
        few = f": {', '.join(texts)}" if len(texts) <= SHOWN_ACTIONS else ""
        while True:
            click.echo(f"{self._labels[seat]} acts{few} (? for help): ", nl=False, err=True)
            line = sys.stdin.readline()
            if not line:
                click.echo(err=True)
                plies = len(self._actions)
                raise LeftMatchError(
                    f"the input ended after {counted(plies, 'action')}, before the match was over; it has no result"
                )
            word = line.strip()
            command = {"?": "help"}.get(word, word.lower())
            if command in ("help", "legal", "hint", "undo", "scores", "board", "rules", "quit"):
                self._obey(command, seat, legal)
            elif word:
                action = self._read(word, legal)
                if action is not None:
                    return action

    def _read(self, text: str, legal: list[Any]) -> Any:
        try:
            return read_action(self._game, self._state, legal, text)
        except IllegalActionError as error:
            click.echo(printable(f"{text}: {error.reason}"), err=True)
        return None

    def _obey(self, command: str, seat: int, legal: list[Any]) -> None:
        if command == "quit":
            raise LeftMatchError("")
        if command == "undo":
            plies = kept_after_undo(self._actions, seat)
            if plies is not None:
                raise TakenBackError(plies)
            click.echo("You have no action to take back.", err=True)
        elif command == "hint":
            click.echo(self._hint(), err=True)
        elif command == "help":
            example = printable(self._game.format_action(legal[0]))
            click.echo(HELP.format(example=f"such as {example}", adviser=self._adviser or "a bot"), err=True)
            click.echo(listed(self._game, legal, terminal_width()), err=True)
        elif command == "legal":
            click.echo(listed(self._game, legal, terminal_width()), err=True)
        elif command == "scores":
            click.echo("\n".join(score_lines(self._game, self._state, self._names, terminal_width())), err=True)
        elif command == "rules":
            click.echo(printable_lines(rulebook_text(self._game)), err=True)
        else:
            click.echo(printable_lines(self._game.render_after(self._state, self._actions)), err=True)

    def _hint(self) -> str:
        if self._suggest is None:
            return "There is no bot to ask; name one with --hints BOT."
        try:
            answer = self._suggest(self._actions)
        except ArenaError as error:
            return printable(f"{self._adviser} has no hint: {error}")
        note = f" ({note_text(answer.note)})" if answer.note is not None else ""
        return f"{printable(self._adviser)} would play {printable(self._game.format_action(answer.action))}{note}"

    def _draw(self) -> None:
        self._show_unless_quiet(
            "\n".join(["", *position_lines(self._game, self._state, self._actions, self._names), ""])
        )

    def _show_unless_quiet(self, text: str) -> None:
        if not self._is_quiet:
            click.echo(text)
