"""Files of values, mapped into memory and searched in place."""

from __future__ import annotations

import hashlib
import inspect
import json
import mmap
import struct
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import msgpack

from arena.base.errors import KernelError, StoreError, UsageError, failing_as
from arena.base.folder import replace_file
from arena.base.names import as_file_name
from arena.base.shipped import TABLES
from arena.base.stored import from_json_text, from_stored
from arena.games import GAMES
from arena.games.game import Game
from arena.games.kernels.cache import base_directory, make_directory, open_own
from arena.games.pie import Pie
from arena.lab.solving.worth import OUTCOME_UNIT, PARTS

# Files of values: a line that names the kind, a line of JSON, the header, and the values, mapped into memory.
#
# The header has the game, its options, the version of the rules, the number of states and a checksum. Nothing of a file
# that is torn, damaged or made by other rules is used.

MAX_HEADER_BYTES = 65536
_ALIGNED_BYTES = 64
"""Values begin at a multiple of these, as kernels want them."""

_AGAIN = "solve the game again with --save"


class TableError(UsageError):
    """A table is torn, damaged, or one of other rules or options."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a table is of.

    ``rules`` is a digest of their source, ``states`` how many have a value, ``parts`` (1 or ``PARTS``) those of a point
    that a margin counts, ``checksum`` the SHA-256 of all values.
    """

    game: str
    options: Mapping[str, Any]
    rules: str
    states: int
    parts: int
    checksum: str
    sources: str = ""


def rules_version(game: Game[Any]) -> str:
    """Return a digest of the source of a game's rules; any change of them makes another version."""
    rules = game.rules if isinstance(game, Pie) else game
    classes = [
        rules_class
        for rules_class in (*type(rules).__mro__, *type(game).__mro__)
        if rules_class not in (object, Game) and issubclass(rules_class, Game)
    ]
    paths = {inspect.getsourcefile(rules_class) for rules_class in classes}
    if type(rules) in GAMES.values():
        paths |= {str(path) for path in Path(inspect.getfile(Game)).parent.glob("*.py")}
    digest = hashlib.sha256()
    for path in sorted(path for path in paths if path is not None):
        digest.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return digest.hexdigest()[:16]


def table_directory() -> Path:
    """Return where tables are kept, in the user's cache; TableError if this user has none."""
    try:
        return base_directory() / TABLES
    except KernelError as error:
        raise TableError(str(error)) from error


def table_path(game: Game[Any], path: str, directory: Path | None = None, suffix: str = "table") -> Path:
    """Return the file of a game's table with its options."""
    options = json.dumps(game.options, sort_keys=True)
    digest = hashlib.sha256(f"{path} {options}".encode()).hexdigest()[:12]
    return (directory or table_directory()) / f"{as_file_name(path)}-{digest}.{suffix}"


def write_table(file: Path, kind: bytes, header: Header, values: bytes | bytearray | mmap.mmap) -> None:
    """Write a file atomically; TableError if that fails."""
    stated = {name: value for name, value in asdict(header).items() if value != ""}
    head = kind + json.dumps(stated, sort_keys=True).encode()
    head += b" " * (-(len(head) + 1) % _ALIGNED_BYTES) + b"\n"
    with failing_as(TableError, f"table {file}: can't be written"):
        make_directory(file.parent)
        replace_file(file, head, values, mode=0o644, is_synced=True)  # bots that may read it can have other uids


class MappedTable:
    """A file of values that is mapped into memory. A context manager, or closed with ``close``."""

    def __init__(self, game: Game[Any], path: str, file: Path, kind: bytes) -> None:
        """Open a file that begins with ``kind``, and check all of it but the number of its values.

        Raises:
            TableError: if it is torn, damaged, or one of other rules or options.
            FileNotFoundError: if there is no such file.
        """
        self._game = game
        try:
            with open_own(file) as opened:
                self._map = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_COPY)
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as error:  # a directory, no permission, another user's; an empty file
            raise TableError(f"table {file}: can't be read: {getattr(error, 'strerror', error)}") from error
        try:
            self._read_header(file, kind)
            self._check(path, file)
        except TableError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Unmap the file."""
        self._map.close()

    def _problem(self) -> str:
        """Return what else is wrong with the header; empty if nothing is."""
        return ""

    def _values_bytes(self) -> int:
        raise NotImplementedError

    def _read_header(self, file: Path, kind: bytes) -> None:
        if self._map[: len(kind)] != kind:
            raise TableError(f"table {file}: this is no table of values; expected one that --save has written")
        end = self._map.find(b"\n", len(kind), len(kind) + MAX_HEADER_BYTES)
        if end < 0:
            raise TableError(f"table {file}: its header is torn; {_AGAIN}")
        try:
            text = self._map[len(kind) : end].decode()
            self.header = from_stored(Header, from_json_text(text, f"table {file}"), f"table {file}")
        except (StoreError, UnicodeDecodeError) as error:
            raise TableError(f"table {file}: its header is damaged ({error})") from error
        self._begin = end + 1

    def _check(self, path: str, file: Path) -> None:
        header = self.header
        if header.game != path or dict(header.options) != self._game.options:
            raise TableError(f"table {file}: it is of {header.game} {dict(header.options)!r:.200}; {_AGAIN}")
        if header.rules != rules_version(self._game):
            raise TableError(f"table {file}: it was made by other rules of {path}; {_AGAIN}")
        problem = self._problem()
        if problem:
            raise TableError(f"table {file}: {problem}; {_AGAIN}")
        size_bytes = self._begin + self._values_bytes()
        if len(self._map) != size_bytes or header.parts not in (1, PARTS):
            raise TableError(f"table {file}: it has {len(self._map):,} bytes, expected {size_bytes:,}; {_AGAIN}")
        with memoryview(self._map) as whole, whole[self._begin :] as values:
            if hashlib.sha256(values).hexdigest() != header.checksum:
                raise TableError(f"table {file}: its checksum is wrong, so it is damaged; {_AGAIN}")


# Tables of values as files: a record for each state, sorted, so that a file is searched in place.
#
# A record has the digest of a state's observation (16 bytes), the outcome for seat 0 and the margin.

KIND = b"arena lab table 1\n"
_KEY_BYTES = 16
_RECORD = struct.Struct(f"<{_KEY_BYTES}sbq")
_MAX_PARTS = 2**63 - 1


class Table(Protocol):
    """Values of states."""

    def value(self, state: Any) -> int | None:
        """Return the value of a state; None for one that is not in the table."""


def save_table(game: Game[Any], path: str, values: Iterable[tuple[Any, int]], file: Path) -> None:
    """Write the values of states atomically; TableError for too large margins, or two states with one observation."""
    pairs = list(values)
    margins = [value - _outcome(value) * OUTCOME_UNIT for _, value in pairs]
    parts = 1 if all(margin % PARTS == 0 for margin in margins) else PARTS
    scale = PARTS // parts
    if any(abs(margin) // scale > _MAX_PARTS for margin in margins):
        raise TableError(f"a table of {path}: expected margins of at most {_MAX_PARTS // parts}")
    records = sorted(
        _RECORD.pack(_key(game, state), _outcome(value), margin // scale)
        for (state, value), margin in zip(pairs, margins, strict=True)
    )
    if len({record[:_KEY_BYTES] for record in records}) < len(records):
        raise TableError(f"a table of {path}: two states have the same observation")
    body = b"".join(records)
    header = Header(
        game=path,
        options=game.options,
        rules=rules_version(game),
        states=len(records),
        parts=parts,
        checksum=hashlib.sha256(body).hexdigest(),
    )
    write_table(file, KIND, header, body)


class TableFile(MappedTable):
    """A table in a file."""

    def __init__(self, game: Game[Any], path: str, file: Path) -> None:
        """Open a table and check all of it; the errors are those of ``MappedTable``."""
        super().__init__(game, path, file, KIND)

    def __len__(self) -> int:
        return self.header.states

    def _values_bytes(self) -> int:
        return self.header.states * _RECORD.size

    def value(self, state: Any) -> int | None:
        """Return the value of a state; None for one that is not in the table."""
        key = _key(self._game, state)
        number = bisect_left(range(self.header.states), key, key=lambda index: self._record(index)[0])
        if number == self.header.states:
            return None
        found_key, outcome, margin = self._record(number)
        return int(outcome * OUTCOME_UNIT + margin * (PARTS // self.header.parts)) if found_key == key else None

    def _record(self, number: int) -> tuple[bytes, int, int]:
        key, outcome, margin = _RECORD.unpack_from(self._map, self._begin + number * _RECORD.size)
        return key, outcome, margin


def _key(game: Game[Any], state: Any) -> bytes:
    return hashlib.blake2b(msgpack.packb(game.observation(state)), digest_size=_KEY_BYTES).digest()


def _outcome(value: int) -> int:
    return (value > OUTCOME_UNIT // 2) - (value < -OUTCOME_UNIT // 2)
