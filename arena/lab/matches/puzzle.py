"""A puzzle, and the puzzles of a tournament kept as a file of its home."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from arena.base.errors import StoreError, UnknownNameError, UsageError, failing_as
from arena.base.folder import Folder, replace_file
from arena.base.seeds import derived_seed
from arena.base.stored import from_json_text, from_stored
from arena.lab.solving.worth import Outcome
from arena.store.results.values import StoredTournament

# A puzzle: a position in which exactly one action keeps the outcome, and a bot has missed it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A legal action of a puzzle with outcome and margin for seat 0; no margin if only the outcome is known.

    ``refutation`` is a reply to a wrong one that proves it wrong; empty if it ends the match, or no reply is known.
    """

    text: str
    outcome: Outcome
    margin: float | None
    refutation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of the seat: the reply of the other seat before it, and of its choices the only one that helps."""

    reply: str
    choices: tuple[Choice, ...]
    solution: int

    @property
    def right(self) -> Choice:
        """The only one that helps."""
        return self.choices[self.solution]


class Theme(StrEnum):
    """What a solution does to the scores at once; of several, the first that holds."""

    SACRIFICE = "sacrifice"
    GREED_FAILS = "greed fails"
    QUIET = "quiet"
    GAIN = "gain"
    NONE = ""


MAX_TURNS = 4
"""The most turns of a puzzle: seven plies."""

MAX_TEXT_CHARACTERS = 200
"""The most of a refutation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """What ``name@version`` played instead of the solution; the position may be the same only up to symmetry."""

    bot: str
    match: int
    ply: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A position in which exactly one action keeps the outcome.

    Attributes:
        actions: ``[seat, action]`` each, from the beginning of the match to the position.
        goal: the outcome for seat 0 that the solution keeps.
        solution: the number of the choice that keeps the outcome.
        misses: some of the misses; the first is from the match of ``actions``.
        met: how often bots had to act in this position, up to symmetry.
        lines_log2: the logarithm to base 2 of about how many lines of play there are from here: the difficulty.
        tempting: how many other choices leave the seat at least as far ahead at once.
        line: the later turns of the seat, at each of which again exactly one action keeps the outcome.
        theme: empty in files of earlier versions.
    """

    game: str
    options: Mapping[str, Any]
    actions: tuple[Sequence[Any], ...]
    seat: int
    goal: Outcome
    choices: tuple[Choice, ...]
    solution: int
    misses: tuple[Miss, ...]
    missed: int
    met: int
    lines_log2: float
    tempting: int
    line: tuple[Turn, ...] = ()
    theme: Theme = Theme.NONE

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns of the seat."""
        return Turn(reply="", choices=self.choices, solution=self.solution), *self.line

    @property
    def plies(self) -> int:
        """How many actions there are from the position to the end of the line."""
        return 2 * len(self.line) + 1

    @property
    def goal_in_words(self) -> str:
        """What the seat to act can reach: "win" or "draw"."""
        return "draw" if self.goal is Outcome.DRAW else "win"

    @property
    def key(self) -> str:
        """A digest of the position, by which answers are kept: it is the same in a file that was made again."""
        position = [self.game, self.options, self.actions, self.seat]
        return sha256(json.dumps(position, sort_keys=True).encode()).hexdigest()

    def verb(self, outcome: Outcome) -> str:
        """Return an outcome as the seat to act sees it: "wins", "draws" or "loses"."""
        if outcome is Outcome.DRAW:
            return "draws"
        return "wins" if (outcome is Outcome.WIN) == (self.seat == 0) else "loses"

    def faults(self) -> list[str]:
        """Return what contradicts itself in a puzzle that was read, in a few words each."""
        win = Outcome.WIN if self.seat == 0 else Outcome.LOSS
        checks = {
            "solution is no choice": not all(0 <= turn.solution < len(turn.choices) for turn in self.turns),
            "an action is not of one of two seats": not all(
                len(pair) == 2 and type(pair[0]) is int and 0 <= pair[0] <= 1 for pair in self.actions
            ),
            "seat is not one of two": self.seat not in (0, 1),
            "there is nothing to keep": self.goal not in (win, Outcome.DRAW),
            "nobody has missed it": not self.misses,
            f"it has more than {MAX_TURNS} turns": len(self.line) >= MAX_TURNS,
        }
        for turn in self.turns if not any(checks.values()) else ():
            keeping = [number for number, choice in enumerate(turn.choices) if choice.outcome is self.goal]
            checks["another choice keeps the outcome"] = keeping != [turn.solution]
            checks["a refutation is too long"] = any(
                len(alternative.refutation) > MAX_TEXT_CHARACTERS for alternative in turn.choices
            )
            if any(checks.values()):
                break
        return [text for text, is_so in checks.items() if is_so]


# The puzzles of a tournament, kept as a file of its home.
#
# They are found by ``arena lab puzzles`` and shown by the site, which computes nothing. The file is named by the
# tournament's key, so that a new name changes nothing; the time at which the tournament was created tells it from a
# later one with the same key.

PUZZLES = "puzzles"
"""The directory in a home."""

MAX_PUZZLES = 500
"""The most puzzles of a tournament."""

MAX_FILE_BYTES = 16 * 1024 * 1024
LAYOUT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPuzzles:
    """The file of a tournament's puzzles, from easy to hard."""

    layout: int
    created_at: str
    puzzles: tuple[Puzzle, ...]


def keep_puzzles(directory: Path, tournament: StoredTournament, puzzles: Sequence[Puzzle]) -> Path:
    """Replace the puzzles of a tournament in the home, atomically; UsageError if the file can't be written."""
    text = _stored_text(tournament, puzzles)
    path = directory / PUZZLES / _file_name(tournament)
    if len(puzzles) > MAX_PUZZLES or len(text) > MAX_FILE_BYTES:
        raise UsageError(f"{len(puzzles):,} puzzles in {len(text):,} bytes are too many to keep; use a lower --count")
    with failing_as(UsageError, f"{path}: can't be written"):
        replace_file(path, text.encode())
    return path


def _stored_text(tournament: StoredTournament, puzzles: Sequence[Puzzle]) -> str:
    kept = KeptPuzzles(layout=LAYOUT, created_at=tournament.created_at, puzzles=tuple(puzzles))
    return json.dumps(asdict(kept), separators=(",", ":"))


def kept_puzzles(directory: Path, tournament: StoredTournament) -> tuple[Puzzle, ...]:
    """Read the puzzles of a tournament, if any; StoreError if the file is malformed or from a newer arena."""
    kept = _read(KeptPuzzles, directory, _file_name(tournament))
    return kept.puzzles if kept is not None and kept.created_at == tournament.created_at else ()


def numbered(puzzles: Sequence[Puzzle], number: int) -> Puzzle:
    """Return one of the puzzles of a tournament, numbered from 1; UnknownNameError if there are fewer."""
    if number > len(puzzles):
        raise UnknownNameError("puzzle", str(number), [f"1 to {len(puzzles)}"] if puzzles else [])
    return puzzles[number - 1]


PuzzleFile = TypeVar("PuzzleFile", KeptPuzzles, "DailyPuzzle")


def _read(kind: type[PuzzleFile], directory: Path, name: str) -> PuzzleFile | None:
    """Return what a file has; None if there is no such file. StoreError if it is malformed or from a newer arena."""
    where = f"{PUZZLES}/{name}"
    try:
        with Folder(directory / PUZZLES) as folder, folder.open(name) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (UsageError, OSError):
        return None
    if len(data) > MAX_FILE_BYTES:
        raise StoreError(f"{where} is malformed: it has more than {MAX_FILE_BYTES:,} bytes")
    kept = from_stored(kind, from_json_text(data.decode("ascii", "replace"), where), where)
    if kept.layout != LAYOUT:
        raise StoreError(f"{where} has the layout {kept.layout}, which this arena does not know")
    for number, puzzle in enumerate(kept.puzzles, 1):
        for fault in puzzle.faults():
            raise StoreError(f"{where} is malformed: puzzle {number}: {fault}")
    return kept


def is_searched(directory: Path, tournament: StoredTournament) -> bool:
    """Return whether a search for puzzles has taken place, which may have found none."""
    return (directory / PUZZLES / _file_name(tournament)).is_file()


def may_have_puzzles(directory: Path, tournament: StoredTournament) -> bool:
    """Return whether the file of a tournament has more than an empty list, without reading it."""
    with suppress(OSError):
        return (directory / PUZZLES / _file_name(tournament)).stat().st_size > len(_stored_text(tournament, ()))
    return False


def _file_name(tournament: StoredTournament) -> str:
    return f"{tournament.number}.json"


# The puzzle of a day: chosen once for everybody, by the date, and kept, since puzzles may be added or made again.

TODAY = "today.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyPuzzle:
    """The file of the puzzle of a date (UTC), with its number among those of a tournament, as they were then."""

    layout: int
    date: str
    tournament: int
    created_at: str
    number: int
    count: int
    puzzles: tuple[Puzzle, ...]


def puzzle_of_the_day(
    directory: Path, tournaments: Sequence[StoredTournament], date: str
) -> tuple[StoredTournament, DailyPuzzle] | None:
    """Return the puzzle of a date and its tournament, which is one of these; None if none of them has a puzzle."""
    by_key = {(stored.number, stored.created_at): stored for stored in tournaments}
    with suppress(StoreError):  # a new one takes its place
        daily = _read(DailyPuzzle, directory, TODAY)
        if daily is not None and daily.date == date and len(daily.puzzles) == 1:
            chosen = by_key.get((daily.tournament, daily.created_at))
            if chosen is not None:
                return chosen, daily
    having = [stored for stored in tournaments if may_have_puzzles(directory, stored)]
    for tournament in sorted(having, key=lambda stored: derived_seed("puzzle of the day", date, stored.number)):
        with suppress(StoreError):  # other puzzles can be solved
            puzzles = kept_puzzles(directory, tournament)
            if puzzles:
                numbers = [number for number, puzzle in enumerate(puzzles) if puzzle.line] or range(len(puzzles))
                number = numbers[derived_seed("puzzle of the day", date) % len(numbers)]
                daily = DailyPuzzle(
                    layout=LAYOUT,
                    date=date,
                    tournament=tournament.number,
                    created_at=tournament.created_at,
                    number=number + 1,
                    count=len(puzzles),
                    puzzles=(puzzles[number],),
                )
                text = json.dumps(asdict(daily), separators=(",", ":"))
                with suppress(OSError):  # a home that is only read
                    replace_file(directory / PUZZLES / TODAY, text.encode())
                return tournament, daily
    return None
