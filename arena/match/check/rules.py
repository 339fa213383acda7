"""The steps of ``arena check --rules``, in a process of their own; then bots load and play the rules, confined."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence

from arena.base.errors import GameError
from arena.base.records import MatchRecord, TimeControl
from arena.base.text import counted
from arena.games import make_game, parse_options
from arena.games.conformance.calls import Calls
from arena.games.conformance.walks import answers, difference, differing_answer
from arena.match.check.rules_process import (
    CHECKS_SHARE,
    WALK_SECONDS,
    RulesCheck,
    RulesStep,
    check_in_process,
    walk_in_process,
)
from arena.match.players.bot_output import last_error
from arena.match.players.game_location import find_external_game
from arena.match.replay import states_of
from arena.match.single_match import play_match
from arena.sandbox.isolation.interpreters import own_program

BOT_SECONDS = 10.0
"""For each action of the bots that read the rules; they need none."""

HASH_SEEDS = (0, 1, 2, 3, 4, 5)
"""Of the processes that walk through the game; the order of a set of two texts is not the same in all of them."""


def check_rules(wanted: RulesCheck, isolation: str = "auto") -> Iterator[RulesStep]:
    """Check the rules of a game, step by step; other processes and bots try them only if nothing else was found."""
    steps = check_in_process(wanted)
    yield from steps
    if not all(step.is_passed for step in steps):
        return
    step = _compare_processes(wanted)
    yield step
    if step.is_passed:
        with contextlib.redirect_stderr(_Nowhere()):  # the arena's process loads the rules too, and has shown enough
            step = _let_bots_play(wanted.game, wanted.given, isolation)
        yield step


def _compare_processes(wanted: RulesCheck) -> RulesStep:
    budget = wanted.within_seconds
    walk_seconds = WALK_SECONDS if budget is None else min(WALK_SECONDS, budget * (1 - CHECKS_SHARE) / len(HASH_SEEDS))
    name = "answers the same in every process"
    first = walk_in_process(wanted, walk_seconds, HASH_SEEDS[0])
    for seed in HASH_SEEDS[1:]:
        found = difference(first, walk_in_process(wanted, walk_seconds, seed))
        if found is not None:
            return RulesStep(
                check="processes",
                name=name,
                is_passed=False,
                detail=found.sentence,
                options=found.options,
                line=found.line,
                line_text=found.line_text,
            )
    detail = f"{counted(len(first), 'position')}, {counted(len(HASH_SEEDS), 'process')}"
    return RulesStep(check="processes", name=name, is_passed=True, detail=detail)


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
    problem = _what_failed(record) if record.faults else _what_bots_see_otherwise(record)
    detail = problem or f"{counted(len(record.actions), 'ply')}, isolation {record.isolation}"
    return RulesStep(check="bots", name=name, is_passed=problem is None, detail=detail)


def _what_bots_see_otherwise(record: MatchRecord) -> str | None:
    """Return the first answer of the rules that a bot noted and that is another one here; None without one."""
    noted = {note[0]: note[1] for note in record.notes.for_operator()}
    calls = Calls(make_game(record.game, **record.options))
    for ply, (_, state) in enumerate(states_of(record)):
        here = answers(calls, state)
        there = noted.get(ply)
        if not isinstance(there, dict):
            continue
        seen = {method: there.get(method) == answer.partition(" ")[0] for method, answer in here.items()}
        if not all(seen.values()):
            same = {method: answer for method, answer in here.items() if seen[method]}
            return f"at ply {ply} {differing_answer(here, same, 'in the process of a bot')}"
    return None


def _what_failed(record: MatchRecord) -> str:
    fault = record.faults[0]
    stderr = record.seats[fault.seat].stderr.for_operator().strip()
    error, text = last_error(stderr)
    last = f"{error}: {text}" if error else stderr.splitlines()[-1] if stderr else fault.detail.for_operator()
    return f"at ply {fault.ply} a bot ended with {last}"
