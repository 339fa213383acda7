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
    failed_step,
    walk_in_process,
)
from arena.match.players.bot_output import last_error
from arena.match.players.game_location import find_external_game
from arena.match.replay import states_of
from arena.match.single_match import play_match
from arena.sandbox.isolation.interpreters import own_program

BOT_SECONDS = 10.0
"""The time for each action of the bots that read the rules; they need hardly any."""

HASH_SEEDS = (0, 1, 2, 3, 4, 5)
"""The hash seeds of the processes that walk through the game, in which sets of texts have different orders."""


def check_rules(check: RulesCheck, isolation: str = "auto") -> Iterator[RulesStep]:
    """Check the rules of a game, step by step; other processes and bots try them only if nothing else was found."""
    steps = check_in_process(check)
    yield from steps
    if not all(step.is_passed for step in steps):
        return
    step = _compare_processes(check)
    yield step
    if step.is_passed:
        with contextlib.redirect_stderr(
            _NullOutput()
        ):  # the arena loads the rules here too, and has already shown what they print
            step = _let_bots_play(check.game, check.given, isolation)
        yield step


def _compare_processes(check: RulesCheck) -> RulesStep:
    budget = check.within_seconds
    walk_seconds = WALK_SECONDS if budget is None else min(WALK_SECONDS, budget * (1 - CHECKS_SHARE) / len(HASH_SEEDS))
    name = "answers the same in every process"
    first = walk_in_process(check, walk_seconds, HASH_SEEDS[0])
    for seed in HASH_SEEDS[1:]:
        finding = difference(first, walk_in_process(check, walk_seconds, seed))
        if finding is not None:
            return failed_step("processes", name, finding)
    detail = f"{counted(len(first), 'position')}, {counted(len(HASH_SEEDS), 'process')}"
    return RulesStep(check="processes", name=name, is_passed=True, detail=detail)


class _NullOutput(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


def _let_bots_play(game: str, option_texts: Sequence[str], isolation: str) -> RulesStep:
    bot = own_program("arena.match.check.rules_reader", external_game=find_external_game(game))
    options = parse_options(game, option_texts)
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
    """Return the first answer of the rules that differs between a bot and this process; None without one."""
    noted = {note[0]: note[1] for note in record.notes.for_operator()}
    calls = Calls(make_game(record.game, **record.options))
    for ply, (_, state) in enumerate(states_of(record)):
        own_answers = answers(calls, state)
        noted_answers = noted.get(ply)
        if not isinstance(noted_answers, dict):
            continue
        is_same = {
            method: noted_answers.get(method) == answer.partition(" ")[0] for method, answer in own_answers.items()
        }
        if not all(is_same.values()):
            same = {method: answer for method, answer in own_answers.items() if is_same[method]}
            return f"at ply {ply} {differing_answer(own_answers, same, 'in the process of a bot')}"
    return None


def _what_failed(record: MatchRecord) -> str:
    fault = record.faults[0]
    stderr = record.seats[fault.seat].stderr.for_operator().strip()
    error, text = last_error(stderr)
    last_line = f"{error}: {text}" if error else stderr.splitlines()[-1] if stderr else fault.detail.for_operator()
    return f"at ply {fault.ply} a bot ended with {last_line}"
