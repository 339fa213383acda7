"""A contest as its pages show it, and whether anything has changed that everybody may know."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from arena.base.errors import StoreError
from arena.base.records import DEFAULT_LIMITS
from arena.base.shipped import PREFIX
from arena.base.text import counted, score_text, size_text
from arena.community.contests.visibility import frozen_results, local_texts, visible, visible_phase
from arena.server.operations.contests_model import ContestLine, ContestRule, ContestTime
from arena.site.frame.model import Frozen
from arena.store.people.contest import Contest, ContestEntrants, ContestPhase, ContestResults, StageRules, StoredContest
from arena.store.people.people_store import PeopleStore
from arena.store.people.stored_contests import ContestRows
from arena.store.people.values import Permission

CAN_BE_ENTERED = (ContestPhase.ANNOUNCED, ContestPhase.ENTERING)


def contest_time(contest: Contest, at: str, now: str) -> ContestTime:
    """Return a stored time as the people of a contest read it."""
    local, zone = local_texts(contest, at)
    left = (datetime.fromisoformat(at) - datetime.fromisoformat(now)).total_seconds()
    return ContestTime(
        at=at,
        local=local,
        zone=zone,
        seconds_left=left if left > 0 else None,
    )


def contest_line(
    stored: StoredContest, entries: int, permissions: Collection[Permission], now: str, unseen: int = 0
) -> ContestLine:
    """Return what lists show of a contest to somebody."""
    contest = stored.contest
    return ContestLine.of(
        contest,
        phase=visible_phase(stored, permissions, now),
        opens_at=contest_time(contest, contest.opens_at, now),
        deadline_at=contest_time(contest, contest.deadline_at, now),
        entries=entries,
        unseen=unseen,
    )


def entrants_text(contest: Contest) -> str:
    """Return who may enter, in a few words."""
    bots = "one bot" if contest.bots_per_author == 1 else f"up to {contest.bots_per_author} bots"
    if contest.entrants is ContestEntrants.INVITED:
        people = "1 person" if len(contest.invited) == 1 else f"{len(contest.invited):,} people"
        return f"{people} invited, with {bots} each"
    return f"everybody with an account, with {bots} each"


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
    if contest.house_bots and any(stage.has_house_bots for stage in contest.stages):
        names = ", ".join(bot.removeprefix(PREFIX) for bot in contest.house_bots)
        yield "play along", names if contest.final.has_house_bots else f"{names}, not in the final"


def _ladders_text(contest: Contest) -> str:
    if contest.ladders:
        return "bots that can enter also play on ladders and against people while results are hidden"
    return "while results are hidden, bots that can enter are suspended: on no ladder, and only against their authors"


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
    if stage.until is not None:
        parts[1:] = [f"until the {stage.until.shown} decided, at an error of {100 * stage.until.error:g} %"]
    if stage.places is not None:
        parts.append(f"the first {stage.places} go on to the final")
    return ", ".join(parts)


# A number that changes with the public state of contests, which their pages follow.
#
# It depends on nothing else: the time of a change must not reveal embargoed matches, notes of programs or requests of
# directors.

_log = logging.getLogger("arena.server.http")


class ContestNews:
    """The public state of contests, as a number that changes with it."""

    def __init__(self, people: PeopleStore, result_path: Callable[[str], Path]) -> None:
        self._people, self._result_path = people, result_path
        self._signal = people.commit_signal()
        self._signalled = ""
        self._read_at = ""
        self._rows = ContestRows((), {}, ())
        self._number = 0
        self._is_lost = False

    def number(self) -> int:
        """Return the number. Cheap where nothing was committed since the last time, within the same second."""
        try:
            signalled, now = self._signal.read(), self._people.contests.now()
            if signalled != self._signalled:
                self._rows, self._signalled, self._read_at = self._people.contests.rows(), signalled, ""
        except StoreError as error:  # it is read again
            if not self._is_lost:
                _log.warning("%s", error)
            self._is_lost = True
            return self._number
        self._is_lost = False
        if now != self._read_at:
            self._read_at = now
            states = [self._public_state(stored, now) for stored in self._rows.contests]
            text = json.dumps([states, self._rows.unfinished])
            self._number = int.from_bytes(blake2b(text.encode(), digest_size=6).digest())
        return self._number

    def frozen(self, tournament: str) -> Frozen | None:
        """Return whether results of a tournament are embargoed now, and where its contest is; None outside contests.

        This reads nothing: it is as new as the number, which the watcher reads many times a second.
        """
        return frozen_results(self._rows.contests, tournament, self._people.contests.now())

    def close(self) -> None:
        """Close the connection that looks for commits."""
        self._signal.close()

    def _public_state(self, stored: StoredContest, now: str) -> list[Any]:
        contest, hidden_since = stored.contest, visible(stored, (), now).hidden_since
        return [
            repr(contest),
            visible_phase(stored, (), now),
            hidden_since,
            stored.closed_at is not None,
            stored.revealed_at,
            stored.cancelled_at,
            self._rows.entries.get(stored.number),
            hidden_since is None and self._result_path(contest.name).is_file(),
        ]
