"""Reading a contest from its TOML text: every mistake at once, each with its place, value and what is accepted."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from arena.base.checked_files import mistakes_of, parse_toml, read_toml
from arena.base.definition import GameChoice
from arena.base.enums import OpeningChoice
from arena.base.errors import DefinitionError, Mistake, OptionError, UsageError
from arena.base.records import Limits, TimeControl
from arena.base.stored import is_text
from arena.base.text import toml_value
from arena.base.until import Until
from arena.community.contests.contest_keys import (
    FIRST_YEAR,
    ContestKeys,
    StageKeys,
    challenger_mistakes,
    game_mistakes,
    house_bot_mistakes,
    opening_plies,
    stage_mistakes,
    tells_most,
)
from arena.games import make_game
from arena.store.people.contest import (
    TIMES,
    Contest,
    ContestEntrants,
    ContestReading,
    ContestResults,
    StageRules,
    utc_text,
)
from arena.tournament.executors.worker_start import workers_that_fit

MAX_TEXT_BYTES = 64 * 1024
MAX_DAYS = 400
DEFAULT_FROZEN_HOURS = 4.0
KNOCKOUT, QUALIFICATION = "knockout", "qualification"
WHERE = "contest"
"""What begins the mistakes of a text that is in no file."""
_STAND_IN_TIME = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)


def reading_of(text: str) -> ContestReading:
    """Return what can be read of a text, and every mistake; raise DefinitionError if it is no TOML, or too long."""
    if not is_text(text):
        raise DefinitionError(f"{WHERE}: expected a text that can be written in UTF-8, without halves of characters")
    data = text.encode()
    if len(data) > MAX_TEXT_BYTES:
        raise DefinitionError(f"{WHERE}: more than {MAX_TEXT_BYTES // 1024} KiB")
    return _reading_of(parse_toml(data, Path(WHERE), DefinitionError), WHERE)


def reading_of_file(path: Path) -> ContestReading:
    """Return what can be read of the TOML file of a contest, and every mistake in it."""
    return _reading_of(read_toml(path, DefinitionError), str(path))


def _reading_of(values: dict[str, Any], where: str) -> ContestReading:
    keys, wrong, mistakes = _keys_of(values)
    builder = _Builder(keys, wrong)
    contest = builder.build()
    return ContestReading(
        contest=contest, where=where, mistakes=(*mistakes, *builder.mistakes), wrong=tuple(sorted(builder.wrong))
    )


def _keys_of(values: dict[str, Any]) -> tuple[ContestKeys, set[str], list[Mistake]]:
    """Return the keys, with stand-ins for wrong values; the names of the wrong keys; and the mistakes."""
    try:
        return ContestKeys.model_validate(values), set(), []
    except ValidationError as error:
        wrong = {str(fault["loc"][0]) for fault in error.errors(include_url=False) if fault["loc"]}
        mistakes = mistakes_of(ContestKeys, error)
    valid = {key: value for key, value in values.items() if key not in wrong}
    if QUALIFICATION in wrong:
        valid[QUALIFICATION] = {"places": 2}  # it has a tournament with a name
    return ContestKeys.model_validate(_STAND_INS | valid), wrong, mistakes


_STAND_INS = {
    "name": "a",
    "title": "a",
    "game": "differences",
    "opens_at": datetime(FIRST_YEAR, 1, 1),
    "deadline_at": datetime(FIRST_YEAR, 1, 2),
    "time_zone": "UTC",
}
"""Stand-ins for wrong keys that have no default; no mistake is reported about them."""


_DEPENDENT_ATTRIBUTES = {
    "game": ("game", "options", "players"),
    "options": ("options", "players"),
    "time_zone": ("time_zone", "opens_at", "deadline_at", "reveal_at"),
    QUALIFICATION: ("stages",),
    "final": ("stages",),
}
"""The attributes of a contest that differ from its text if a key is wrong; by default, the one of the same name."""


class _Builder:
    """Makes a contest from keys that are each valid, and collects the mistakes in their combination."""

    def __init__(self, keys: ContestKeys, wrong: Collection[str] = ()) -> None:
        """Prepare; keys in ``wrong`` have stand-in values, and no check looks at what depends on them."""
        self._keys, self._wrong = keys, wrong
        self.mistakes: list[Mistake] = []
        self.wrong = {attribute for key in wrong for attribute in _DEPENDENT_ATTRIBUTES.get(key, (key,))}
        self._choice: GameChoice | None = None

    @property
    def _frozen_hours(self) -> float:
        return DEFAULT_FROZEN_HOURS if self._keys.frozen_hours is None else self._keys.frozen_hours

    def _are_valid(self, *keys: str) -> bool:
        return not any(key in self._wrong for key in keys)

    def build(self) -> Contest:
        keys = self._keys
        times = {key: self._instant(key) for key in TIMES}
        players, options = self._players_and_options()
        stages = tuple(self._stages())
        self.mistakes += self._contradictions()
        self.mistakes += self._time_mistakes(**times)
        values: dict[str, Any] = {part.name: getattr(keys, part.name, None) for part in fields(Contest)}
        values |= {key: None if at is None else utc_text(at) for key, at in times.items()}
        values |= {key: values[key] or utc_text(_STAND_IN_TIME) for key in ("opens_at", "deadline_at")}
        values |= {key: tuple(dict.fromkeys(values[key])) for key in ("invited", "house_bots")}
        values |= {
            "options": options,
            "players": players,
            "frozen_hours": self._frozen_hours,
            "time_control": TimeControl(**keys.time_control.model_dump()),
            "limits": Limits(**keys.limits.model_dump()),
            "stages": stages,
        }
        return Contest(**values)

    def _instant(self, key: str) -> datetime | None:
        """Return the time of a key in UTC; None if it is missing, or does not come exactly once in the time zone."""
        local: datetime | None = getattr(self._keys, key)
        if local is None or not self._are_valid(key, "time_zone"):
            return None
        times = instants(local, self._keys.time_zone)
        if len(times) == 1:
            return times[0]
        reason = "twice, for the clocks are put back" if times else "never, for the clocks are put forward"
        sentence = f"in {self._keys.time_zone} this time comes {reason}; expected one that comes once"
        self.mistakes.append(Mistake(key, sentence, local.isoformat()))
        self.wrong.add(key)
        return None

    def _time_mistakes(
        self, opens_at: datetime | None, deadline_at: datetime | None, reveal_at: datetime | None
    ) -> Iterator[Mistake]:
        keys = self._keys
        if opens_at is not None and deadline_at is not None:
            if not opens_at < deadline_at <= opens_at + timedelta(days=MAX_DAYS):
                sentence = f"expected a time after {{opens_at}}, and at most {MAX_DAYS} days after it"
                yield Mistake("deadline_at", sentence, keys.deadline_at.isoformat())
            hours = (deadline_at - opens_at) / timedelta(hours=1)
            is_frozen = keys.results is ContestResults.FROZEN and self._are_valid("results", "frozen_hours")
            if is_frozen and self._frozen_hours > hours > 0:
                sentence = f"expected at most {hours:.8g}, the hours from {{opens_at}} to {{deadline_at}}"
                yield Mistake("frozen_hours", sentence, f"{self._frozen_hours:g}")
        if reveal_at is not None and deadline_at is not None and reveal_at < deadline_at:
            sentence = "expected a time that is not before {deadline_at}"
            yield Mistake("reveal_at", sentence, toml_value(keys.reveal_at))

    def _contradictions(self) -> Iterator[Mistake]:
        keys = self._keys
        if keys.invited and keys.entrants is not ContestEntrants.INVITED and self._are_valid("entrants"):
            yield Mistake("invited", f"only with {{entrants=invited}}, but {{entrants={keys.entrants}}}")
        try:
            workers_that_fit(limits := Limits(**keys.limits.model_dump()))
        except UsageError as error:
            yield Mistake("limits.cores", str(error).partition(": ")[2], str(limits.cores))
        if not self._are_valid("results"):
            return
        if keys.frozen_hours is not None and keys.results is not ContestResults.FROZEN:
            yield Mistake("frozen_hours", f"only with {{results=frozen}}, but {{results={keys.results}}}")
        if keys.reveal_at is not None and keys.results is ContestResults.OPEN:
            yield Mistake("reveal_at", "only with {results=frozen} or {results=sealed}, but {results=open}")
        if keys.ladders and keys.results is ContestResults.OPEN:
            yield Mistake("ladders", "only with {results=frozen} or {results=sealed}, but {results=open}")

    def _players_and_options(self) -> tuple[int, dict[str, Any]]:
        if not self._are_valid("game", "options"):
            return 0, {}
        try:
            game = make_game(self._keys.game, **self._keys.options)
        except OptionError as error:
            self.mistakes.append(Mistake(f"options.{error.option}", error.accepted, toml_value(error.value)))
        except UsageError as error:
            self.mistakes.append(Mistake("game", str(error)))
        else:
            self._choice = GameChoice(game=self._keys.game, options=game.options, players=game.players)
            if self._are_valid("house_bots"):
                self.mistakes += house_bot_mistakes(self._keys.house_bots, self._keys.game)
            return game.players, dict(game.options)
        self.wrong |= {"options", "players"}
        return 0, {}

    def _stages(self) -> Iterator[StageRules]:
        keys = self._keys
        if keys.qualification is not None:
            yield self._stage(QUALIFICATION, keys.qualification, keys.qualification.places)
        yield self._stage("final", keys.final, None)

    def _stage_mistakes(self, keys: StageKeys, places: int | None) -> Iterator[Mistake]:
        yield from stage_mistakes(keys, is_final=places is None)
        if self._are_valid("house_bots"):
            yield from challenger_mistakes(keys, self._keys.house_bots)
        if self._choice is None:
            return
        yield from game_mistakes(keys, self._choice)
        players, house = self._choice.players, len(self._keys.house_bots)
        if places is not None and self._are_valid("house_bots") and places + house < players:
            yield Mistake("places", f"expected at least {players - house}, for a match of {players}", str(places))

    def _stage(self, stage: str, keys: StageKeys, places: int | None) -> StageRules:
        if self._are_valid(stage):
            mistakes = self._stage_mistakes(keys, places)
            self.mistakes += [replace(mistake, place=f"{stage}.{mistake.place}") for mistake in mistakes]
        settings = keys.format_settings()
        if keys.format == KNOCKOUT and settings.get("seeding") is None:  # else it needs a power of two
            is_ranked = places is None and self._keys.qualification is not None
            settings["seeding"] = "entrants" if is_ranked else "random"
        return StageRules(
            format=keys.format,
            places=places,
            encounters=keys.encounters,
            opening_plies=opening_plies(keys),
            opening_choice=OpeningChoice.INFORMATION if tells_most(keys) else None,
            ply_limit=keys.ply_limit,
            settings=settings,
            until=None if keys.until is None else Until(**keys.until.model_dump()),
        )


def instants(local: datetime, time_zone: str) -> list[datetime]:
    """Return the times (UTC) at which a wall clock of a time zone shows this time: usually one.

    No time if clocks are put forward over it, and two if they are put back over it.
    """
    zone = ZoneInfo(time_zone)
    times = {local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return sorted(at for at in times if at.astimezone(zone).replace(tzinfo=None) == local)
