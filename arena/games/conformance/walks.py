"""Seeded walks through a game, which other processes repeat: rules must say the same in each of them.

Sets of texts, and whatever is hashed by its address, have another order in each process; and rules may read what
differs between processes, such as the working directory, a clock at import, or a generator of random numbers.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from arena.base.errors import IllegalActionError
from arena.base.text import shortened_text
from arena.games.conformance.calls import Calls
from arena.games.conformance.finding import MistakeError, as_json, exact, shown
from arena.games.conformance.game_checks import made
from arena.games.conformance.suite import variants
from arena.games.game import Game, Space

QUESTIONS = (
    "seat_to_act",
    "is_over",
    "legal_actions",
    "observation",
    "scores",
    "ranks",
    "seats_out",
    "render",
    "drawing",
)
"""The methods whose answers about a state are compared, in this order."""

_WALKS = 8
_WALKS_OF_VARIANT = 2
_PLACES = 200
"""The most positions of the game with its defaults, and of all others together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A position of a walk and what the game answered there.

    Attributes:
        walk: the number of its walk.
        ply: its number in the walk, from 0.
        action: the action that led here, as JSON types; None at the start.
        text: the action in the game's own text.
        answers: a digest of each answer and its beginning, by the method.
    """

    walk: int
    ply: int
    action: Any = None
    text: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def answers(calls: Calls, state: Any) -> dict[str, str]:
    """Return what a game says about a state: a digest of each answer and its beginning, by the method."""
    by_method = {method: _answer(partial(calls, method, state)) for method in QUESTIONS}
    if isinstance(calls.space, Space):
        by_method["encode of space"] = _answer(lambda: list(calls.space.encode(state)))
    if calls.game.players > 2:
        by_method["withdraw"] = _answer(partial(_without_seat, calls, state))
    return by_method


def _without_seat(calls: Calls, state: Any) -> Any:
    without = None if calls("seat_to_act", state) is None else calls("withdraw", state)
    return None if without is None else calls("observation", without)


def _answer(ask: Callable[[], Any]) -> str:
    try:
        value = ask()
        text, start = repr(exact(value)), shown(value)
    except Exception as error:  # MistakeError, or one of the values of the game
        text = start = shortened_text(f"an exception: {error}")
    return f"{hashlib.blake2b(text.encode(errors='replace'), digest_size=6).hexdigest()} {start}"


def walks(
    game: Game[Any] | type[Game[Any]], seconds: float, on_place: Callable[[int], None] = lambda number: None
) -> tuple[Place, ...]:
    """Walk through a game and its variants by the same random numbers in every process.

    Args:
        seconds: of CPU time, half of it for the variants.
        on_place: called with the number of positions so far.
    """
    plain = made(game, {}) if isinstance(game, type) else game
    if plain is None:
        return ()
    variant_games = [other for _, other in variants(plain.OPTIONS, lambda changed: _variant(plain, changed))]
    places: list[Place] = []
    number = 0
    for group, count in (([plain], _WALKS), (variant_games, _WALKS_OF_VARIANT)):
        for walked_game in group:
            end = time.process_time() + seconds / 2 / len(group)
            places_before = len(places)
            for draw in range(count):
                for place in _walk(Calls(walked_game), number + draw, end):
                    places.append(place)
                    on_place(len(places))
                    if len(places) - places_before >= _PLACES // len(group):
                        break
            number += count
    return tuple(places)


def _variant(game: Game[Any], changed: dict[str, Any]) -> Game[Any] | None:
    try:
        return made(type(game), {**game.options, **changed})
    except MistakeError:
        return None


def _walk(calls: Calls, number: int, end: float) -> Iterator[Place]:
    draw = random.Random(number)
    options = dict(calls.game.options)
    action, text, ply = None, "", 0
    try:
        state = calls("initial_state")
        while True:
            by_method = answers(calls, state)
            yield Place(walk=number, ply=ply, action=as_json(action), text=text, answers=by_method, options=options)
            legal = sorted(calls("legal_actions", state), key=lambda legal_action: repr(exact(legal_action)))
            if not legal or time.process_time() > end:
                return
            action = draw.choice(legal)
            text, state, ply = str(calls("format_action", action)), calls("apply", state, action), ply + 1
    except (MistakeError, IllegalActionError) as error:
        yield Place(walk=number, ply=ply + 1, answers={"apply": f"! an exception: {error}"}, options=options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An answer that differs from process to process, and the line of play to its position."""

    sentence: str
    options: Mapping[str, Any]
    line: Sequence[Any]
    line_text: str


def difference(walk: Sequence[Place], other_walk: Sequence[Place]) -> Difference | None:
    """Return the earliest difference between the same walks in two processes; None without one."""
    twins = {(place.walk, place.ply): place for place in other_walk}
    found: tuple[Place, Place] | None = None
    differing: set[int] = set()
    for place in walk:
        twin = twins.get((place.walk, place.ply))
        if twin is None or place.walk in differing:
            continue
        if (place.action, place.answers) != (twin.action, twin.answers):
            differing.add(place.walk)
            if found is None or place.ply < found[0].ply:
                found = place, twin
    return None if found is None else _described(walk, *found)


def _described(places: Sequence[Place], own: Place, twin: Place) -> Difference:
    path = [place for place in places if place.walk == own.walk and 0 < place.ply <= own.ply]
    return Difference(
        sentence=differing_answer(own.answers, twin.answers, "in another process"),
        options=own.options,
        line=[place.action for place in path],
        line_text=", ".join(place.text for place in path),
    )


def differing_answer(here: Mapping[str, str], there: Mapping[str, str], where: str) -> str:
    """Return which answer differs in two processes, and how, as a sentence; one that is missing there differs."""
    method = next((name for name in (*here, *there) if here.get(name) != there.get(name)), "apply")
    answer, other = (by_method.get(method, "").partition(" ")[2] for by_method in (here, there))
    shown_other = other if other and other != answer else "something else"  # only the beginning of answers is shown
    return (
        f"{method} returned {answer or 'nothing'}, and {shown_other} {where}; expected answers that depend on nothing"
        " but options and actions, not on the order of a set, a hash, a clock or a file"
    )
