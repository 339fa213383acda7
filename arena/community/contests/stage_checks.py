"""Whether the stages of a contest can be played: after the deadline nobody could mend what can't."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.base.definition import GameChoice
from arena.base.errors import DefinitionError, Mistake
from arena.base.shipped import PREFIX
from arena.base.text import any_of, counted, shortened_text, toml_value
from arena.community.contests.contest_keys import StageKeys
from arena.games import make_game
from arena.tournament.definition import check_ply_limit
from arena.tournament.formats.table import FORMATS, table_key
from arena.tournament.opening_information import check_information
from arena.tournament.openings import has_opening


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
    for name in FORMATS:
        if name != keys.format and getattr(keys, table_key(name)) is not None:
            sentence = f"this table belongs to format = {name!r}, but format = {keys.format!r}"
            yield Mistake(table_key(name), sentence)
    if keys.format in FORMATS and keys.format not in closed:
        settings = keys.settings()
        if "matches" in settings:
            sentence = "those who come late would play none; expected margin_95, and hours if you like"
            yield Mistake("ladder.matches", sentence)
        if "margin_95" not in settings:
            yield Mistake("ladder.margin_95", "missing (expected a number, at which the qualification ends)")
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
    if choice.players == 2 and keys.settings().get("groups") is not None:
        yield Mistake(f"{table_key(keys.format)}.groups", "only for games of three or more players")
    plies = opening_plies(keys)
    if not has_opening(make_game(choice.game, **choice.options), plies):
        place = "opening_plies" if keys.openings is None else "openings.plies"
        sentence = "no random opening of that many plies leaves every seat in the match; expected fewer"
        yield Mistake(place, sentence, str(plies))
    elif tells_most(keys):
        try:
            check_information(choice, plies)
        except DefinitionError as error:
            yield Mistake("openings", str(error).removeprefix("openings: "))


def challenger_mistakes(keys: StageKeys, house_bots: Sequence[str]) -> Iterator[Mistake]:
    """Yield which challengers of a gauntlet are no bots of the house: the others are not known before the deadline."""
    settings = keys.settings()
    if "challengers" not in settings:
        return
    names = [name.removeprefix(PREFIX) for name in house_bots]
    accepted = f"expected names of {{house_bots}}, such as {toml_value(['greedy'])}"
    if not settings["challengers"]:
        yield Mistake("gauntlet.challengers", f"missing ({accepted})")
    elif not set(settings["challengers"]) <= set(names):
        yield Mistake("gauntlet.challengers", accepted, toml_value(settings["challengers"]))
