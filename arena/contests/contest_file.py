"""Reading a contest from its TOML text: every mistake at once, each with its place, value and what is accepted."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from arena.checked import check_model, parse_toml, read_toml
from arena.contests.contest_keys import FIRST_YEAR, ContestKeys, StageKeys
from arena.definition import GameChoice
from arena.enums import OpeningChoice
from arena.errors import DefinitionError, OptionError, UsageError
from arena.games import make_game
from arena.people.contest import Contest, ContestEntrants, ContestResults, StageRules, utc_text
from arena.records import Limits, TimeControl
from arena.stored import is_text
from arena.text import any_of, shortened_text, toml_value
from arena.tournament.definition import check_ply_limit
from arena.tournament.formats import FORMATS, table_key
from arena.tournament.opening_information import check_information

MAX_TEXT_BYTES = 64 * 1024
MAX_DAYS = 400
DEFAULT_FROZEN_HOURS = 4.0
KNOCKOUT = "knockout"


def read_contest(text: str, where: str = "contest") -> Contest:
    """Return the contest of a TOML text.

    Args:
        text: the text.
        where: it comes from; begins the message.

    Raises:
        DefinitionError: with every mistake, each with its place, value and what is accepted.
    """
    if not is_text(text):
        raise DefinitionError(f"{where}: expected a text that can be written in UTF-8, without halves of characters")
    data = text.encode()
    if len(data) > MAX_TEXT_BYTES:
        raise DefinitionError(f"{where}: more than {MAX_TEXT_BYTES // 1024} KiB")
    return _contest_of(parse_toml(data, Path(where), DefinitionError), where)


def read_contest_file(path: Path) -> Contest:
    """Return the contest of a TOML file.

    Raises:
        DefinitionError: if it can't be read, or with every mistake.
    """
    return _contest_of(read_toml(path, DefinitionError), str(path))


def _contest_of(values: dict[str, Any], where: str) -> Contest:
    try:
        keys = check_model(ContestKeys, values, where, DefinitionError)
    except DefinitionError as error:
        others = _other_faults(values)
        raise DefinitionError("; ".join([str(error), *others])) from error
    builder = _Builder(keys)
    contest = builder.build()
    if builder.faults or contest is None:
        raise DefinitionError(f"{where}: " + "; ".join(builder.faults))
    return contest


def _other_faults(values: dict[str, Any]) -> list[str]:
    """Return what is wrong with the keys together that are right by themselves, where some others are not."""
    try:
        ContestKeys.model_validate(values)
    except ValidationError as error:
        wrong = {str(fault["loc"][0]) for fault in error.errors(include_url=False) if fault["loc"]}
    else:
        return []
    right = {key: value for key, value in values.items() if key not in wrong}
    builder = _Builder(ContestKeys.model_validate(_IN_PLACE_OF_WRONG | right), wrong)
    builder.build()
    return builder.faults


_IN_PLACE_OF_WRONG = {
    "name": "a",
    "title": "a",
    "game": "differences",
    "opens_at": datetime(FIRST_YEAR, 1, 1),
    "deadline_at": datetime(FIRST_YEAR, 1, 2),
    "time_zone": "UTC",
}
"""Values of keys without a default; nothing is said about them."""


class _Builder:
    """Makes a contest of keys, each of which is right by itself, and collects what is wrong with them together.

    Attributes:
        faults: what is wrong, in sentences.
    """

    def __init__(self, keys: ContestKeys, wrong: Collection[str] = ()) -> None:
        """Prepare.

        Args:
            keys: what was written.
            wrong: keys whose values are not those that were written; what depends on them is not checked.
        """
        self._keys, self._wrong = keys, wrong
        self.faults: list[str] = []
        self._choice: GameChoice | None = None

    @property
    def _frozen_hours(self) -> float:
        return DEFAULT_FROZEN_HOURS if self._keys.frozen_hours is None else self._keys.frozen_hours

    def _are_right(self, *keys: str) -> bool:
        return not any(key in self._wrong for key in keys)

    def build(self) -> Contest | None:
        keys = self._keys
        opens_at, deadline_at, reveal_at = map(self._instant, ("opens_at", "deadline_at", "reveal_at"))
        players, options = self._game()
        stages = tuple(self._stages())
        self.faults += self._contradictions()
        if opens_at is None or deadline_at is None:
            return None
        self.faults += self._order(opens_at, deadline_at, reveal_at)
        return Contest(
            name=keys.name,
            title=keys.title,
            description=keys.description,
            game=keys.game,
            options=options,
            players=players,
            opens_at=utc_text(opens_at),
            deadline_at=utc_text(deadline_at),
            time_zone=keys.time_zone,
            entrants=keys.entrants,
            invited=tuple(dict.fromkeys(keys.invited)),
            bots_per_author=keys.bots_per_author,
            house_bots=tuple(dict.fromkeys(keys.house_bots)),
            results=keys.results,
            frozen_hours=self._frozen_hours,
            reveal_at=None if reveal_at is None else utc_text(reveal_at),
            time_control=TimeControl(**keys.time_control.model_dump()),
            limits=Limits(**keys.limits.model_dump()),
            stages=stages,
        )

    def _instant(self, key: str) -> datetime | None:
        """Return a time of the text in UTC; None if it is left out, or is no time or two in its zone."""
        local: datetime | None = getattr(self._keys, key)
        if local is None or not self._are_right(key, "time_zone"):
            return None
        times = instants(local, self._keys.time_zone)
        if len(times) == 1:
            return times[0]
        why = "twice, for the clocks are put back" if times else "never, for the clocks are put forward"
        self.faults.append(
            f"{key} = {local.isoformat()}: in {self._keys.time_zone} this time comes {why};"
            " expected one that comes once"
        )
        return None

    def _order(self, opens_at: datetime, deadline_at: datetime, reveal_at: datetime | None) -> Iterator[str]:
        keys = self._keys
        if not opens_at < deadline_at <= opens_at + timedelta(days=MAX_DAYS):
            yield (
                f"deadline_at = {keys.deadline_at.isoformat()}: expected a time after opens_at, and at most {MAX_DAYS}"
                " days after it"
            )
        hours = (deadline_at - opens_at) / timedelta(hours=1)
        is_frozen = keys.results is ContestResults.FROZEN and self._are_right("results", "frozen_hours")
        if is_frozen and self._frozen_hours > hours > 0:
            yield (
                f"frozen_hours = {self._frozen_hours:g}: expected at most {hours:.8g}, the hours from opens_at to"
                " deadline_at"
            )
        if reveal_at is not None and reveal_at < deadline_at:
            yield f"reveal_at = {toml_value(keys.reveal_at)}: expected a time that is not before deadline_at"

    def _contradictions(self) -> Iterator[str]:
        keys = self._keys
        if keys.invited and keys.entrants is not ContestEntrants.INVITED and self._are_right("entrants"):
            yield f"invited: only with entrants = 'invited', but entrants = {str(keys.entrants)!r}"
        if not self._are_right("results"):
            return
        if keys.frozen_hours is not None and keys.results is not ContestResults.FROZEN:
            yield f"frozen_hours: only with results = 'frozen', but results = {str(keys.results)!r}"
        if keys.reveal_at is not None and keys.results is ContestResults.OPEN:
            yield "reveal_at: only with results = 'frozen' or 'sealed', but results = 'open'"

    def _game(self) -> tuple[int, dict[str, Any]]:
        """Return how many players the game has, and all its options."""
        if not self._are_right("game", "options"):
            return 0, {}
        try:
            game = make_game(self._keys.game, **self._keys.options)
        except OptionError as error:
            self.faults.append(f"options.{error.option} = {toml_value(error.value)}: {error.accepted}")
        except UsageError as error:
            self.faults.append(f"game: {error}")
        else:
            self._choice = GameChoice(game=self._keys.game, options=game.options, players=game.players)
            return game.players, dict(game.options)
        return 0, {}

    def _stages(self) -> Iterator[StageRules]:
        keys = self._keys
        if keys.qualification is not None:
            yield self._stage("qualification", keys.qualification, keys.qualification.places)
        yield self._stage("final", keys.final, None)

    def _opening_faults(self, keys: StageKeys) -> Iterator[str]:
        if _tells_most(keys) and self._choice is not None:
            try:
                check_information(self._choice, _opening_plies(keys))
            except DefinitionError as error:
                yield str(error)

    def _stage(self, place: str, keys: StageKeys, places: int | None) -> StageRules:
        if self._are_right(place):
            self.faults += [f"{place}.{fault}" for fault in _stage_faults(keys, is_final=places is None)]
            self.faults += [f"{place}.{fault}" for fault in self._opening_faults(keys)]
        settings = keys.settings()
        if keys.format == KNOCKOUT and settings.get("seeding") is None:  # else it needs a power of two
            is_ranked = places is None and self._keys.qualification is not None
            settings["seeding"] = "entrants" if is_ranked else "random"
        return StageRules(
            format=keys.format,
            places=places,
            encounters=keys.encounters,
            opening_plies=_opening_plies(keys),
            opening_choice=OpeningChoice.INFORMATION if _tells_most(keys) else None,
            ply_limit=keys.ply_limit,
            settings=settings,
        )


def _opening_plies(keys: StageKeys) -> int:
    return keys.opening_plies if keys.openings is None else keys.openings.plies


def _tells_most(keys: StageKeys) -> bool:
    return keys.openings is not None and keys.openings.choose == "information"


def _stage_faults(keys: StageKeys, *, is_final: bool) -> Iterator[str]:
    closed = [name for name, kind in FORMATS.items() if not kind.open_entry]
    accepted: Sequence[str] = closed if is_final else list(FORMATS)
    if keys.format not in accepted:
        yield f"format = {shortened_text(repr(keys.format))}: expected {any_of(accepted)}"
    for name in FORMATS:
        if name != keys.format and getattr(keys, table_key(name)) is not None:
            yield f"{table_key(name)}: this table belongs to format = {name!r}, but format = {keys.format!r}"
    if keys.format in FORMATS and keys.format not in closed:
        settings = keys.settings()
        if "matches" in settings:
            yield "ladder.matches: those who come late would play none; expected margin_95, and hours if you like"
        if "margin_95" not in settings:
            yield "ladder.margin_95: missing (expected a number, at which the qualification ends)"
    try:
        check_ply_limit(keys.ply_limit, _opening_plies(keys))
    except DefinitionError as error:
        yield str(error)


def instants(local: datetime, time_zone: str) -> list[datetime]:
    """Return which times a clock on a wall of a time zone shows as this one: usually one, in UTC.

    None where clocks are put forward over it, and two where they are put back over it.
    """
    zone = ZoneInfo(time_zone)
    times = {local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return sorted(at for at in times if at.astimezone(zone).replace(tzinfo=None) == local)
