"""The keys of a contest's text, what each accepts, and whether its stages can be played."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model

from arena.base.definition import GameChoice
from arena.base.errors import DefinitionError, Mistake, UsageError, suggestion
from arena.base.names import is_printable_text
from arena.base.shipped import PREFIX, example_bots
from arena.base.text import any_of, counted, shortened_text, toml_value
from arena.base.until import Until, check_until
from arena.games import GAMES, make_game
from arena.store.people.contest import ContestEntrants, ContestResults
from arena.store.people.values import rule_of_name
from arena.tournament.definition import check_ply_limit
from arena.tournament.formats.format import FORMATS, table_key
from arena.tournament.opening_information import check_information
from arena.tournament.openings import has_opening, no_opening_reason
from arena.tournament.tournament_file import FORMAT_TABLES, MAX_OPENING_PLIES, LimitsTable, PlayKeys, TimeControlTable

MAX_NAME_CHARACTERS = 48
MAX_HOUSE_BOTS = 20
MAX_INVITED = 1000
RESERVED = ("new",)
"""Names that are addresses of pages."""
FIRST_YEAR, LAST_YEAR = 2000, 2999

UNTIL_FORMATS = ("round-robin", "gauntlet")
MAX_BOTS = 1_000_000

_NAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")


def _text(value: str) -> str:
    if not is_printable_text(value.replace("\n", "").replace("\t", "")):
        raise ValueError("expected a text without control characters and invisible ones")
    return value


def _line(value: str) -> str:
    if not value.strip() or not is_printable_text(value):
        raise ValueError("expected a line of visible characters")
    return value


def check_contest_name(value: str) -> str:
    """Return the name of a contest; ValueError, with what is accepted, for one that it can't have."""
    if len(value) > MAX_NAME_CHARACTERS or _NAME.fullmatch(value) is None or value in RESERVED:
        raise ValueError(
            f"expected 1 to {MAX_NAME_CHARACTERS} lower-case letters a-z and digits, with single '.', '_' or '-'"
            " between them, and not 'new'"
        )
    return value


def _time(value: Any) -> Any:
    accepted = f"expected a date and time of the years {FIRST_YEAR} to {LAST_YEAR}, to the second, such as"
    if not isinstance(value, datetime):
        raise ValueError(f"{accepted} 2026-12-01T23:59:59")
    if value.tzinfo is not None:
        raise ValueError(f"{accepted} 2026-12-01T23:59:59; it is one of time_zone, so without an offset or Z")
    if value.microsecond or not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise ValueError(f"{accepted} 2026-12-01T23:59:59")
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("expected a time zone of the IANA database, such as 'Europe/Berlin' or 'UTC'") from None
    return value


def _person(value: str) -> str:
    if rule := rule_of_name(value):
        raise ValueError(rule)
    return value


def _house_bot(value: str) -> str:
    known = [PREFIX + name for name in example_bots()]
    if value not in known:
        raise ValueError(f"expected an example bot; {suggestion(value, known)}")
    return value


def _game(value: str) -> str:
    if value not in GAMES:
        raise ValueError(f"expected {any_of(list(GAMES))}")
    return value


def _options(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError('expected a table such as { size = 6 }; in a form, a JSON object such as {"size": 6}')
    return value


LocalTime = Annotated[datetime, BeforeValidator(_time)]
Line = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_line)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class StageOpenings(_Strict):
    """``openings`` of a stage: ``plies`` actions before the bots take over, and how they are chosen."""

    plies: Annotated[int, Field(ge=1, le=MAX_OPENING_PLIES)]
    choose: Literal["random", "information"] = "random"


class StageKeys(PlayKeys):
    """``[qualification]`` and ``[final]``: keys of a tournament file, without a book of openings."""

    encounters: Annotated[int, Field(ge=1, le=100_000)] = 1
    openings: StageOpenings | None = None


class _QualificationKeys(StageKeys):
    """``[qualification]``: ``places`` is how many bots go on to the final."""

    places: Annotated[int, Field(ge=2, le=1000)]


FinalTable: type[StageKeys] = create_model("FinalTable", __base__=StageKeys, **FORMAT_TABLES)
QualificationTable: type[_QualificationKeys] = create_model(
    "QualificationTable", __base__=_QualificationKeys, **FORMAT_TABLES
)


class ContestKeys(_Strict):
    """The whole text of a contest."""

    name: Annotated[str, AfterValidator(check_contest_name)]
    title: Line
    description: Annotated[str, Field(max_length=10_000), AfterValidator(_text)] = ""
    game: Annotated[str, AfterValidator(_game)]
    options: Annotated[dict[str, Any], BeforeValidator(_options)] = {}
    opens_at: LocalTime
    deadline_at: LocalTime
    time_zone: Annotated[str, AfterValidator(_zone)]
    entrants: Annotated[ContestEntrants, Field(strict=False)] = ContestEntrants.EVERYBODY
    invited: Annotated[list[Annotated[str, AfterValidator(_person)]], Field(max_length=MAX_INVITED)] = []
    bots_per_author: Annotated[int, Field(ge=1, le=10)] = 1
    house_bots: Annotated[list[Annotated[str, AfterValidator(_house_bot)]], Field(max_length=MAX_HOUSE_BOTS)] = []
    results: Annotated[ContestResults, Field(strict=False)] = ContestResults.OPEN
    frozen_hours: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] | None = None
    reveal_at: LocalTime | None = None
    ladders: bool = False
    time_control: TimeControlTable = TimeControlTable(per_action_seconds=1.0)
    limits: LimitsTable = LimitsTable()
    qualification: QualificationTable | None = None  # type: ignore[valid-type]  # made at run time
    final: FinalTable = FinalTable()  # type: ignore[valid-type]


# Whether the stages of a contest can be played: after the deadline nobody could mend what can't.


def opening_plies(keys: StageKeys) -> int:
    """Return how many actions are played before the bots take over."""
    return keys.opening_plies if keys.openings is None else keys.openings.plies


def tells_most(keys: StageKeys) -> bool:
    """Return whether those openings are chosen that tell most about the bots."""
    return keys.openings is not None and keys.openings.choose == "information"


def stage_mistakes(keys: StageKeys, *, is_final: bool) -> Iterator[Mistake]:
    """Yield what is wrong with a stage in any game."""
    closed = [name for name, kind in FORMATS.items() if not kind.open_entry]
    accepted: Sequence[str] = closed if is_final else list(FORMATS)
    if keys.format not in accepted:
        yield Mistake("format", f"expected {any_of(accepted)}", shortened_text(repr(keys.format)))
    for key, sentence in keys.tables_of_others():
        yield Mistake(key, sentence)
    if keys.format in FORMATS and keys.format not in closed:
        settings = keys.format_settings()
        if "matches" in settings:
            sentence = "bots that enter late would play no match; expected margin_95, and hours if you want a limit"
            yield Mistake("ladder.matches", sentence)
        if "margin_95" not in settings:
            yield Mistake("ladder.margin_95", "missing (expected a number, at which the qualification ends)")
    if keys.until is not None:
        if keys.format not in UNTIL_FORMATS:
            yield Mistake("until", f"expected format = {any_of(UNTIL_FORMATS)}, whose encounters can go on")
        try:
            check_until(Until(**keys.until.model_dump()), MAX_BOTS)
        except UsageError as error:
            yield Mistake("until", str(error))
    try:
        check_ply_limit(keys.ply_limit, opening_plies(keys))
    except DefinitionError as error:
        yield Mistake("ply_limit", str(error).partition(": ")[2], str(keys.ply_limit))


def game_mistakes(keys: StageKeys, choice: GameChoice) -> Iterator[Mistake]:
    """Yield why a stage can't be played in a game: its number of players, and its openings."""
    kind = FORMATS.get(keys.format)
    if kind is not None and choice.players not in kind.players:
        players = counted(choice.players, "player")
        yield Mistake("format", f"expected a format for {players}, as the game has", repr(keys.format))
    if choice.players != 2 and keys.until is not None:
        yield Mistake("until", "only for games of two players")
    if choice.players == 2 and keys.format_settings().get("groups") is not None:
        yield Mistake(f"{table_key(keys.format)}.groups", "only for games of three or more players")
    plies = opening_plies(keys)
    game = make_game(choice.game, **choice.options)
    if not has_opening(game, plies):
        place = "opening_plies" if keys.openings is None else "openings.plies"
        yield Mistake(place, no_opening_reason(game, "the match"), str(plies))
    elif tells_most(keys):
        try:
            check_information(choice, plies)
        except DefinitionError as error:
            yield Mistake("openings", str(error).removeprefix("openings: "))


def house_bot_mistakes(house_bots: Sequence[str], game: str) -> Iterator[Mistake]:
    """Yield a mistake for each house bot that does not play the game."""
    directories = example_bots()
    for name in house_bots:
        manifest = tomllib.loads((directories[name.removeprefix(PREFIX)] / "bot.toml").read_text())
        games = manifest.get("games", ())
        if games and game not in games:
            yield Mistake("house_bots", f"expected bots that play {game}; {name} plays {', '.join(games)}")


def challenger_mistakes(keys: StageKeys, house_bots: Sequence[str]) -> Iterator[Mistake]:
    """Yield which challengers of a gauntlet are no bots of the house: the others are not known before the deadline."""
    settings = keys.format_settings()
    if "challengers" not in settings:
        return
    names = [name.removeprefix(PREFIX) for name in house_bots]
    accepted = f"expected names of {{house_bots}}, such as {toml_value(['greedy'])}"
    if not settings["challengers"]:
        yield Mistake("gauntlet.challengers", f"missing ({accepted})")
    elif not set(settings["challengers"]) <= set(names):
        yield Mistake("gauntlet.challengers", accepted, toml_value(settings["challengers"]))
