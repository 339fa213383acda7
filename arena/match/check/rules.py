"""The steps of ``arena check --rules``, in a process of their own; then bots load and play the rules, confined."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence

from arena.base.errors import GameError
from arena.base.records import MatchRecord, TimeControl
from arena.base.text import counted
from arena.games import make_game, parse_options
from arena.match.check.rules_process import RulesStep, check_in_process
from arena.match.players.bot_output import last_error
from arena.match.players.game_location import find_external_game
from arena.match.single_match import play_match
from arena.sandbox.isolation.interpreters import own_program

BOT_SECONDS = 10.0
"""For each action of the bots that read the rules; they need none."""


def check_rules(
    game: str,
    given: Sequence[str] = (),
    isolation: str = "auto",
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[RulesStep]:
    """Check the rules of a game, step by step; bots play only if nothing else was found.

    Args:
        given: options as text, such as "size=9".
        tell: called with what the rules have written to stderr, as it came, but bounded.
    """
    steps = check_in_process(game, given, tell)
    yield from steps
    if all(step.is_passed for step in steps):
        with contextlib.redirect_stderr(_Nowhere()):  # the arena's process loads the rules too, and has shown enough
            step = _let_bots_play(game, given, isolation)
        yield step


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


def _let_bots_play(game: str, given: Sequence[str], isolation: str) -> RulesStep:
    bot = own_program("arena.match.check.rules_reader", external_game=find_external_game(game))
    options = parse_options(game, given)
    bots = [bot] * make_game(game, **options).players
    name = "is the same in the processes of bots"
    try:
        record = play_match(
            game,
            bots,
            options=options,
            isolation=isolation,
            time_control=TimeControl(per_action_seconds=BOT_SECONDS),
        )
    except GameError as error:
        return RulesStep(check="bots", name=name, is_passed=False, detail=f"{error.method} {error.problem}")
    if record.faults:
        return RulesStep(check="bots", name=name, is_passed=False, detail=_what_failed(record))
    plies = counted(len(record.actions), "ply")
    return RulesStep(check="bots", name=name, is_passed=True, detail=f"{plies}, isolation {record.isolation}")


def _what_failed(record: MatchRecord) -> str:
    fault = record.faults[0]
    stderr = record.seats[fault.seat].stderr.for_operator().strip()
    error, text = last_error(stderr)
    last = f"{error}: {text}" if error else stderr.splitlines()[-1] if stderr else fault.detail.for_operator()
    return f"at ply {fault.ply} a bot ended with {last}"
