#!/usr/bin/env python3
"""What is known of the game: perfect play wherever an action's worth is known exactly.

The arena's lab answers what each action is worth (``arena.lab.oracle``): at the suggested sizes of four of the five
games exactly, from the first action on; of plaid in the last lines. Where it has only bounds, the bot takes the action
with the best ones, and of equal ones that with the largest lead. Among actions that are worth the same it draws one.

For three and more seats there is no such worth (``arena.lab.shares``). It takes the actions that leave it the largest
share if every seat plays for its own, of these the ones that let it hold most against all others together, and draws
one of them. Where the lab does not know the shares in time, it takes an action with the largest lead.

Kernels make it fast. It uses those that are there (``arena lab kernels --build``) and never builds one, which would
take the time of an action; without one it searches with the rules in Python, and is perfect on small boards only.

With ``--last D`` it knows only the last D actions of a match, and draws any legal action before: a handicap.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

from arena.base.errors import KernelError
from arena.botkit import Choice, Clock, run, until
from arena.games import GAMES, Game, make_game
from arena.lab.oracle import ActionWorth, Oracle
from arena.lab.shares import ActionShares, ShareOracle
from arena.lab.solving.limits import Limits, TimeIsUpError, TooLargeError
from arena.lab.solving.worth import Worth

MEMORY_BYTES = 768 << 20
MOST_ACTIONS = 10_000
SHARE_OF_TIME = 0.7
"""For what is known; the rest is for leads where it is not."""

OUTCOMES = {"win": 1.0, "draw": 0.0, "loss": -1.0}

oracles: dict[Any, Oracle] = {}
"""By game and options: what one match finds out, the next ones look up."""


def rules_of(game: Game[Any]) -> tuple[Game[Any], str]:
    """Return the rules and their path; --selfplay checks what rules return, which takes time."""
    path = game.path if isinstance(game.path, str) else game.path()
    return make_game(path, **game.options) if path in GAMES else game, path


def oracle_of(game: Game[Any]) -> Oracle:
    """Return the oracle of a game with its options."""
    rules, path = rules_of(game)
    key = path, tuple(game.options.items())
    if key not in oracles:
        oracles.clear()  # tables are large
        oracles[key] = Oracle(rules, path, Limits(memory_bytes=MEMORY_BYTES), builds_kernel=False)
    return oracles[key]


def shares_after(game: Game[Any], state: Any, seconds: float) -> tuple[ActionShares, ...]:
    """Return what each of three and more seats gets after each action; nothing if that is not known in time."""
    rules, path = rules_of(game)
    oracle = ShareOracle(rules, path, Limits(memory_bytes=MEMORY_BYTES), builds_kernel=False)
    try:
        return oracle.of(state, deadline=time.monotonic() + seconds).actions
    except (KernelError, TimeIsUpError, TooLargeError):
        return ()


def best_shares(found: tuple[ActionShares, ...], seat: int) -> list[ActionShares]:
    """Return the actions that leave a seat the largest share, and of these the ones of which it holds most."""
    most = max((one.shares[seat], one.paranoid[seat]) for one in found)
    return [one for one in found if (one.shares[seat], one.paranoid[seat]) == most]


def ends_within(game: Game[Any], state: Any, actions: int) -> bool:
    """Return whether the match is over after so many actions, each the first that is legal."""
    for _ in range(actions):
        if game.seat_to_act(state) is None:
            return True
        state = game.apply(state, next(iter(game.legal_actions(state))))
    return game.seat_to_act(state) is None


def outcome_of(worth: Worth) -> float:
    """Return the outcome for seat 0; where it is not known, the middle of those that are left."""
    if worth.outcome is not None:
        return OUTCOMES[worth.outcome]
    low = -1 if worth.low is None or worth.low < 0 else 0
    high = 1 if worth.high is None or worth.high > 0 else 0
    return (low + high) / 2


def margin_of(worth: Worth) -> float:
    """Return the margin for seat 0; where it is not known, the middle of its bounds."""
    bounds = [bound for bound in (worth.low, worth.high) if bound is not None]
    return sum(bounds) / max(1, len(bounds))


def leading(game: Game[Any], state: Any, actions: list[Any], seat: int, stop_at: float) -> list[Any]:
    """Return the actions after which a seat leads by most, as far as the time goes."""
    leads = []
    for action in until(stop_at, actions):
        scores = game.scores(game.apply(state, action))
        leads.append(scores[seat] - max(score for other, score in enumerate(scores) if other != seat))
    return [action for action, lead in zip(actions, leads, strict=False) if lead == max(leads)]


def best_of(found: list[ActionWorth], seat: int) -> list[ActionWorth]:
    """Return the actions that are worth most to a seat; among equal bounds and values, the values."""
    sign = 1 if seat == 0 else -1
    values = [(sign * outcome_of(one.worth), one.worth.is_exact, sign * margin_of(one.worth)) for one in found]
    return [one for one, value in zip(found, values, strict=True) if value == max(values)]


def choose(game: Game[Any], state: Any, clock: Clock, last: int | None = None) -> Any:
    """Return one of the best actions."""
    seconds = clock.time_for_this_action(actions_left=2)
    stop_at = time.monotonic() + seconds
    actions = list(game.legal_actions(state))
    seat = game.seat_to_act(state)
    assert seat is not None
    if len(actions) == 1:
        return actions[0]
    if last is not None and not ends_within(game, state, last):
        return random.choice(actions)
    if game.players != 2:
        shares = shares_after(game, state, SHARE_OF_TIME * seconds)
        if not shares:
            return random.choice(leading(game, state, actions, seat, stop_at))
        chosen_one = random.choice(best_shares(shares, seat))
        return Choice(chosen_one.action, {"share": chosen_one.shares[seat], "held": chosen_one.paranoid[seat]})
    best = best_of(oracle_of(game).actions(state, within_seconds=SHARE_OF_TIME * seconds), seat)
    worth, chosen = best[0].worth, [one.action for one in best]
    if not worth.is_exact:
        chosen = leading(game, state, chosen, seat, stop_at)
    told = {1: "won", 0: "drawn", -1: "lost"}
    value = told[int(outcome_of(worth)) * (1 if seat == 0 else -1)] if worth.is_exact else "unknown"
    return Choice(random.choice(chosen), {"value": value, "known": str(worth.known), "margin": worth.margin})


def number_of_actions(text: str) -> int:
    """Read the handicap."""
    if not text.isdecimal() or int(text) > MOST_ACTIONS:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of actions from 0 to {MOST_ACTIONS}")
    return int(text)


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Perfect play, as far as it is known")
    parser.add_argument("--last", type=number_of_actions, metavar="D", help="only in the last D actions of a match")
    last = parser.parse_known_args()[0].last  # --selfplay is for the kit
    run(lambda game, state, clock: choose(game, state, clock, last), name="oracle", version="1")


if __name__ == "__main__":
    main()
