"""A contest as its pages show it: times in its zone, rules in words, and who enters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from arena.base.records import DEFAULT_LIMITS
from arena.base.shipped import PREFIX
from arena.base.text import counted, score_text, size_text
from arena.community.contests.visibility import visible_phase
from arena.server.operations.contests_model import ContestLine, ContestRule, ContestTime
from arena.store.people.contest import (
    Contest,
    ContestEntrants,
    ContestPhase,
    ContestResults,
    StageRules,
    StoredContest,
)
from arena.store.people.values import Permission

CAN_BE_ENTERED = (ContestPhase.ANNOUNCED, ContestPhase.ENTERING)


def contest_time(contest: Contest, at: str, now: str) -> ContestTime:
    """Return a stored time as the people of a contest read it."""
    local = contest.local(at)
    left = (datetime.fromisoformat(at) - datetime.fromisoformat(now)).total_seconds()
    return ContestTime(
        at=at,
        local=f"{local:%a} {local.day} {local:%b %Y, %H:%M:%S}",
        zone=f"{contest.time_zone}, {_offset_text(local)}" if contest.time_zone != "UTC" else "UTC",
        seconds_left=left if left > 0 else None,
    )


def _offset_text(local: datetime) -> str:
    offset = local.utcoffset() or timedelta()
    hours, minutes = divmod(abs(int(offset.total_seconds())) // 60, 60)
    return f"UTC{'−' if offset < timedelta() else '+'}{hours:02}:{minutes:02}"


def contest_line(stored: StoredContest, entries: int, permissions: Collection[Permission], now: str) -> ContestLine:
    """Return what lists show of a contest to somebody."""
    contest = stored.contest
    return ContestLine(
        name=contest.name,
        title=contest.title,
        game=contest.game,
        phase=visible_phase(stored, permissions, now),
        opens_at=contest_time(contest, contest.opens_at, now),
        deadline_at=contest_time(contest, contest.deadline_at, now),
        entries=entries,
    )


def entrants_text(contest: Contest) -> str:
    """Return who may enter, in a sentence."""
    bots = "one bot" if contest.bots_per_author == 1 else f"up to {contest.bots_per_author} bots"
    if contest.entrants is ContestEntrants.INVITED:
        return f"{counted(len(contest.invited), 'person')} invited, with {bots} each"
    return f"Everybody with an account, with {bots} each"


def rules_of(contest: Contest) -> tuple[ContestRule, ...]:
    """Return the rules of a contest in words."""
    return tuple(ContestRule(about=about, text=text) for about, text in _rules(contest))


def _rules(contest: Contest) -> Iterator[tuple[str, str]]:
    options = _pairs(contest.options)
    yield "game", f"{contest.game}: {options}" if options else contest.game
    if contest.players > 2:
        yield "players", f"{contest.players} in a match"
    yield "time", _time_text(contest)
    yield "limits", _limits_text(contest)
    if contest.qualification is not None:
        yield "qualification", _stage_text(contest.qualification)
    yield "final" if contest.qualification is not None else "matches", _stage_text(contest.final)
    if contest.results is not ContestResults.OPEN:
        yield "elsewhere", _ladders_text(contest)
    if contest.house_bots:
        yield "play along", ", ".join(bot.removeprefix(PREFIX) for bot in contest.house_bots)


def _ladders_text(contest: Contest) -> str:
    if contest.ladders:
        return "bots that can enter also play on ladders and against people while results are hidden"
    return "while results are hidden, bots that can enter rest: on no ladder, and against nobody but their authors"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in values.items() if value is not None)


def _time_text(contest: Contest) -> str:
    rules = contest.time_control
    parts = []
    if rules.per_action_seconds is not None:
        parts.append(f"{rules.per_action_seconds:g} s for an action")
    if rules.bank_seconds is not None:
        parts.append(f"{rules.bank_seconds:g} s for a match")
    if rules.increment_seconds:
        parts.append(f"{rules.increment_seconds:g} s more after each action")
    return ", ".join(parts) + f" ({rules.clock} time)"


def _limits_text(contest: Contest) -> str:
    limits, defaults = asdict(contest.limits), asdict(DEFAULT_LIMITS)
    others = [
        _limit_text(key, value) for key, value in limits.items() if value != defaults[key] and key[:6] != "memory"
    ]
    return ", ".join([f"{size_text(contest.limits.memory_bytes)} memory", *others])


def _limit_text(key: str, value: float) -> str:
    if key.endswith("_bytes"):
        return f"{size_text(int(value))} {key.removesuffix('_bytes').replace('_', ' ')}"
    if key.endswith("_seconds"):
        return f"{value:g} s {key.removesuffix('_seconds').replace('_', ' ')}"
    return f"{value:,} {key.replace('_', ' ')}"


def _stage_text(stage: StageRules) -> str:
    parts = [stage.format.replace("-", " "), f"{counted(stage.encounters, 'encounter')} of each pairing"]
    if (margin := stage.settings.get("margin_95")) is not None:
        parts[1:] = [f"until every rating is known to ± {score_text(margin)}"]
    if stage.places is not None:
        parts.append(f"the first {stage.places} go on to the final")
    return ", ".join(parts)
