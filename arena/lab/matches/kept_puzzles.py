"""The puzzles of a tournament, kept as a file of its home.

They are found by ``arena lab puzzles`` and shown by the site, which computes nothing. The file is named by the
tournament's key, so that a new name changes nothing; the time at which the tournament was created tells it from a later
one with the same key.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from arena.base.errors import StoreError, UsageError
from arena.base.folder import Folder
from arena.base.stored import from_json_text, from_stored
from arena.lab.matches.puzzle import Puzzle
from arena.store.results.values import StoredTournament

PUZZLES = "puzzles"
"""The directory in a home."""

MAX_PUZZLES = 500
"""Of a tournament."""

MAX_FILE_BYTES = 16 * 1024 * 1024
LAYOUT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPuzzles:
    """The file.

    Attributes:
        layout: of the file.
        created_at: when the tournament was created.
        puzzles: the easiest first.
    """

    layout: int
    created_at: str
    puzzles: tuple[Puzzle, ...]


def keep_puzzles(directory: Path, tournament: StoredTournament, puzzles: Sequence[Puzzle]) -> Path:
    """Write the puzzles of a tournament in place of earlier ones, and return the file, which is there as a whole.

    Args:
        directory: of the home.
        tournament: the tournament.
        puzzles: its puzzles.

    Raises:
        UsageError: if they can't be written.
    """
    kept = KeptPuzzles(layout=LAYOUT, created_at=tournament.created_at, puzzles=tuple(puzzles))
    text = json.dumps(asdict(kept), separators=(",", ":"))
    path = directory / PUZZLES / _file_name(tournament)
    if len(puzzles) > MAX_PUZZLES or len(text) > MAX_FILE_BYTES:
        raise UsageError(f"{len(puzzles):,} puzzles in {len(text):,} bytes are too many to keep; use a lower --count")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="ascii", dir=path.parent, delete=False) as file:
            file.write(text)
        Path(file.name).replace(path)
    except OSError as error:
        raise UsageError(f"{path}: can't be written: {error.strerror}") from error
    return path


def kept_puzzles(directory: Path, tournament: StoredTournament) -> tuple[Puzzle, ...]:
    """Return the puzzles of a tournament that were kept; none if there are none.

    Args:
        directory: of the home.
        tournament: the tournament.

    Raises:
        StoreError: if the file is malformed, or a newer arena has written it.
    """
    where = f"{PUZZLES}/{_file_name(tournament)}"
    try:
        with Folder(directory / PUZZLES) as folder, folder.open(_file_name(tournament)) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (UsageError, OSError):
        return ()
    if len(data) > MAX_FILE_BYTES:
        raise StoreError(f"{where} is malformed: it has more than {MAX_FILE_BYTES:,} bytes")
    kept = from_stored(KeptPuzzles, from_json_text(data.decode("ascii", "replace"), where), where)
    if kept.layout != LAYOUT:
        raise StoreError(f"{where} has the layout {kept.layout}, which this arena does not know")
    for number, puzzle in enumerate(kept.puzzles, 1):
        for fault in puzzle.faults():
            raise StoreError(f"{where} is malformed: puzzle {number}: {fault}")
    return kept.puzzles if kept.created_at == tournament.created_at else ()


def may_have_puzzles(directory: Path, tournament: StoredTournament) -> bool:
    """Return whether puzzles of a tournament were looked for, without reading them: none may have been found.

    Args:
        directory: of the home.
        tournament: the tournament.
    """
    return (directory / PUZZLES / _file_name(tournament)).is_file()


def _file_name(tournament: StoredTournament) -> str:
    return f"{tournament.number}.json"
