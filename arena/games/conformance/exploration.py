"""The positions in which a game is checked, and the shortest line of play that shows a mistake."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from arena.base.errors import IllegalActionError
from arena.base.text import counted
from arena.games.conformance import action_checks, state_checks
from arena.games.conformance.calls import Calls
from arena.games.conformance.finding import Finding, MistakeError, exact, shown, unexaminable
from arena.games.conformance.position import Line, Position, breadth_first, first_position, random_match, shortest_loop
from arena.games.game import Game

SEARCH_SECONDS = 3.0
"""The CPU time of each of the two searches, so that a busy machine finds as much as an idle one."""

_STATES = 3000

Shown = tuple[MistakeError, Line]
"""A mistake, and the line that shows it."""

Examine = Callable[[Position], Shown | None]
"""Runs one check on a position."""


def shortest(calls: Calls, first_shown: Shown, check: str, examine: Examine, seconds: float) -> Shown:
    """Return the shortest line found that shows a mistake of a check, which ``examine`` makes.

    It tries all positions, the nearest first, while time allows. Then it leaves out actions of the line while that
    still shows a mistake of the same check.
    """
    if not first_shown[1] or first_shown[0].is_timeout:
        return first_shown
    nearest = _nearest(calls, len(first_shown[1]), check, examine, seconds)
    return nearest if nearest is not None else _without_detours(calls, first_shown, check, examine, seconds)


def _nearest(calls: Calls, length: int, check: str, examine: Examine, seconds: float) -> Shown | None:
    on_the_way: list[Shown] = []

    def note(mistake: MistakeError, line: Line) -> None:
        if mistake.check == check:
            on_the_way.append((mistake, line))

    end = time.process_time() + seconds
    try:
        for position in breadth_first(first_position(calls), _STATES, note):
            if on_the_way:
                return on_the_way[0]
            shown = examine(position)
            if shown is not None:
                return shown
            if len(position.line) > length or time.process_time() > end:
                return None
    except MistakeError:
        return None
    return on_the_way[0] if on_the_way else None


def _without_detours(calls: Calls, shortest_so_far: Shown, check: str, examine: Examine, seconds: float) -> Shown:
    """Leave out parts of a line, large ones first (delta debugging: Zeller and Hildebrandt, 2002)."""
    end = time.process_time() + seconds
    removed = len(shortest_so_far[1]) // 2
    while removed >= 1:
        begin = 0
        while begin < len(shortest_so_far[1]) and time.process_time() < end:
            line = shortest_so_far[1][:begin] + shortest_so_far[1][begin + removed :]
            shorter = _shown_by(calls, line, check, examine)
            if shorter is not None and len(shorter[1]) < len(shortest_so_far[1]):
                shortest_so_far = shorter
            else:
                begin += removed
        removed //= 2
    return shortest_so_far


def _shown_by(calls: Calls, line: Line, check: str, examine: Examine) -> Shown | None:
    """Return the mistake of a check that a line shows; None if it shows none, or can't be played."""
    try:
        position = first_position(calls)
        for ply, action in enumerate(line):
            if not _can_follow(position, action):
                return None
            try:
                position = position.then(action)
            except MistakeError as mistake:
                return (mistake, line[: ply + 1]) if mistake.check == check else None
    except MistakeError:
        return None
    return examine(position)


def _can_follow(position: Position, action: Any) -> bool:
    return position.seat is not None if action is None else exact(action) in map(exact, position.legal)


# The positions of one game in which checks are made: those near the start, and some of random matches.

_PER_MATCH = 12
"""How many positions of a random match get every check."""

_AT_POSITIONS: Sequence[tuple[str, Callable[[Position], None]]] = (
    ("legal_actions", action_checks.check_legal_actions),
    ("observation", state_checks.check_observation),
    ("repeatability", state_checks.check_answers),
    ("states", state_checks.check_states),
    ("repeatability", state_checks.check_lines),
    ("apply", action_checks.check_apply),
    ("restoring", state_checks.check_restoring),
    ("scores", state_checks.check_scores),
    ("ranks", state_checks.check_ranks),
    ("elimination", state_checks.check_elimination),
    ("text", action_checks.check_text),
    ("render", action_checks.check_render),
    ("drawing", action_checks.check_drawing),
    ("space", state_checks.check_space),
    ("pickling", state_checks.check_pickling),
)
"""The functions that examine each position, in this order, and the check that each belongs to."""

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "repeatability": ("states", "legal_actions", "scores"),
    "observation": ("legal_actions",),
    "states": ("legal_actions",),
    "apply": ("legal_actions",),
    "refusal": ("apply", "legal_actions", "seats"),
    "restoring": ("observation", "states", "legal_actions", "seats"),
    "ranks": ("scores",),
    "elimination": ("legal_actions", "seats", "apply"),
    "text": ("legal_actions",),
    "drawing": ("render",),
    "pickling": ("states",),
    "space": ("legal_actions",),
}
"""Checks that conclude nothing once another one has failed."""

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


@dataclass(slots=True, kw_only=True)
class Suite:
    """What the checks of a game share.

    Attributes:
        path: the game's name, or its dotted path.
        is_cut: whether some time was too short.
        has_ended: whether nothing else can be concluded about the game.
        found: the first mistake of each check, by its name.
    """

    path: str = ""
    rng_seed: int
    max_plies: int
    call_seconds: float
    search_seconds: float
    on_position: Callable[[int], None]
    is_cut: bool = False
    has_ended: bool = False
    found: dict[str, Finding] = field(default_factory=dict)
    count: Counter[str] = field(default_factory=Counter)

    def add(
        self, name: str, mistake: MistakeError, options: Mapping[str, Any] = NO_OPTIONS, line: Line = (), text: str = ""
    ) -> None:
        """Keep the first mistake of a check, with the options and the line of play that show it."""
        self.has_ended |= mistake.ends
        finding = Finding(
            game=self.path, check=name, sentence=mistake.sentence, options=dict(options), line=line, line_text=text
        )
        self.found.setdefault(name, finding)


class Exploration:
    """The positions of one game, with its options, in which checks are made."""

    def __init__(self, suite: Suite, game: Game[Any], near: int, matches: int, seconds: float) -> None:
        """Explore ``near`` positions near the start and ``matches`` random matches, within ``seconds`` of CPU time."""
        self._suite = suite
        self._game = game
        self._calls = Calls(game, suite.call_seconds)
        self._near = near
        self._matches = matches
        self._seconds = seconds
        self._end = time.process_time() + seconds
        self._known_actions: dict[Any, Any] = {}  # legal actions of any position, by what they are on the wire
        self._checks = [*_AT_POSITIONS, ("refusal", self._check_refusal)]

    def run(self) -> None:
        """Examine positions near the start, and those of random matches."""
        self._count("initial_state", "seats")
        try:
            start = first_position(self._calls)
        except MistakeError as mistake:
            self._report(mistake, ())
            return
        if start.seat is None:
            self._report(MistakeError("the match is over before the first action", check="initial_state"), ())
            return
        for position in breadth_first(start, self._near, self._report):
            self._examine(position)
            if self._is_done():
                return
        for number in range(self._matches):
            self._play(start, number)
            if self._is_done() or "end" in self._suite.found:
                return

    def _is_done(self) -> bool:
        is_late = time.process_time() > self._end
        self._suite.is_cut |= is_late
        return self._suite.has_ended or is_late

    def _count(self, *names: str) -> None:
        self._suite.count.update(names)

    def _play(self, start: Position, number: int) -> None:
        draw = random.Random(f"{self._suite.rng_seed} {number}")
        self._count("end")
        positions = []
        for position in random_match(start, draw, self._suite.max_plies, self._withdraws(start, number), self._report):
            positions.append(position)
            if time.process_time() > self._end + self._seconds:
                break
        if positions[-1].seat is not None and len(positions) > self._suite.max_plies:
            self._report_endless(start, number)
            del positions[_PER_MATCH:]
        sampled = draw.sample(range(len(positions)), min(_PER_MATCH, len(positions)))
        for index in sorted({*sampled, len(positions) - 1}):
            if self._is_done():
                return
            self._examine(positions[index])

    def _withdraws(self, start: Position, number: int) -> bool:
        """Return whether seats are taken out in a random match: in every other one of three or more players."""
        if number % 2 == 0 or self._game.players < 3:
            return False
        try:
            return self._calls("withdraw", start.state) is not None
        except MistakeError:  # another check names it
            return False

    def _report_endless(self, start: Position, number: int) -> None:
        plies = self._suite.max_plies
        sentence = f"a match of random actions (number {number}) had not ended after {counted(plies, 'ply')}"
        loop = shortest_loop(start, self._suite.search_seconds)
        if loop is None:
            self._report(MistakeError(sentence, check="end"), ())
            return
        earlier, line = loop
        earlier_text = f"after {counted(len(earlier), 'ply')}" if earlier else "at the start"
        sentence += f"; after {counted(len(line), 'ply')} the state is the same as {earlier_text}"
        self._report(MistakeError(sentence, check="end"), line)

    def _examine(self, position: Position) -> None:
        self._count("seats")
        self._suite.on_position(self._suite.count["seats"])
        for action in position.legal[:20] if len(self._known_actions) < 100 else ():
            with suppress(RecursionError):
                self._known_actions.setdefault(exact(action), action)
        for name, function in self._checks:
            needed = (name, *_NEEDS.get(name, ()))
            if self._suite.has_ended or any(check in self._suite.found for check in needed):
                continue
            if function is not state_checks.check_lines:  # counted with check_answers
                self._count(name)
            mistake_and_line = self._examine_by(name, function, position)
            if mistake_and_line is not None:
                self._report(*mistake_and_line, partial(self._examine_by, name, function))

    def _check_refusal(self, position: Position) -> None:
        action_checks.check_refusal(position, self._known_actions.values())

    def _examine_by(self, name: str, function: Callable[[Position], None], position: Position) -> Shown | None:
        try:
            function(position)
        except MistakeError as mistake:
            mistake.check = mistake.check or name
            return mistake, position.line if mistake.action is None else (*position.line, mistake.action)
        except IllegalActionError:
            raise
        except Exception as error:
            unknown_mistake = unexaminable(error, type(self._game).__module__)
            unknown_mistake.check = name
            return unknown_mistake, position.line
        return None

    def _report(self, mistake: MistakeError, line: Line, examine_again: Examine | None = None) -> None:
        """Keep a mistake with the shortest line of play that shows it.

        ``examine_again`` makes the check that met it at the end of the line; None if it was met on the way.
        """
        check = mistake.check
        if check is None or check in self._suite.found:
            return

        def examine(position: Position) -> Shown | None:
            shown_again = examine_again(position) if examine_again is not None else None
            return shown_again if shown_again is not None and shown_again[0].check == check else None

        if check != "end":
            mistake, line = shortest(self._calls, (mistake, line), check, examine, self._suite.search_seconds)
        self._suite.add(check, mistake, self._game.options, line, self._text(line))

    def _text(self, line: Line) -> str:
        return ", ".join("(seat taken out)" if action is None else self._text_of(action) for action in line)

    def _text_of(self, action: Any) -> str:
        try:
            text = self._calls("format_action", action)
        except (IllegalActionError, MistakeError):
            return shown(action)
        return text if isinstance(text, str) else shown(action)
