"""Files of values, mapped into memory and searched in place."""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import json
import mmap
import struct
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from contextlib import suppress
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
from arena.games.kernels.build import sources_digest
from arena.games.kernels.cache import base_directory, make_directory, one_at_a_time, open_own
from arena.games.kernels.loading import has_solver, solver_of
from arena.games.kernels.solver import KernelSolver, TablePlan, parts_of
from arena.games.pie import Pie
from arena.lab.solving.limits import FEW_STATES, Limits, TimeIsUpError, count_states, states_text
from arena.lab.solving.worth import OUTCOME_UNIT, PARTS, value_of

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


def write_table(
    game: Game[Any], path: str, file: Path, kind: bytes, values: bytes | mmap.mmap, states: int, **about: Any
) -> None:
    """Write a file atomically; TableError if that fails. ``about`` has what else its header says."""
    checksum = hashlib.sha256(values).hexdigest()
    named = {"parts": 1, **about}
    header = Header(
        game=path, options=game.options, rules=rules_version(game), states=states, checksum=checksum, **named
    )
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
    write_table(game, path, file, KIND, b"".join(records), len(records), parts=parts)


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


# Tables that kernels make: the values of all states that can follow from a root, in memory or in a file.
#
# A file is of the first state. Its values lie as the kernel has left them, a byte or a few for each state, so that
# opening one takes no longer than its checksum.

_KERNEL_KIND = b"arena lab kernel table 1\n"


class KernelTable:
    """The values of all states that can follow from a root."""

    def __init__(self, root: KernelSolver, values: mmap.mmap, begin: int = 0) -> None:
        """Take the values, which begin at a byte of a map that can be written to."""
        self.root = root
        self.bytes = len(values) - begin
        self._values = values
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(values, begin))

    def after_actions(self, kernel: KernelSolver) -> list[tuple[int, int]] | None:
        """Return outcome and margin of the state after each legal action; None if the table does not have the state."""
        return kernel.look_up(self.root, self._address)


class KernelTableFile(MappedTable):
    """A table of the first state in a file."""

    def __init__(self, game: Game[Any], file: Path) -> None:
        """Open a table of one of the five games for two, and check all of it; KernelError without a kernel.

        The other errors are those of ``MappedTable``.
        """
        self._kernel = solver_of(game)
        super().__init__(game, game.name, file, _KERNEL_KIND)
        self.table = KernelTable(solver_of(game), self._map, self._begin)

    def value(self, state: Any) -> int | None:
        """Return the value of a state; None for one that is not in the table."""
        game = self._game
        if game.is_over(state):
            return value_of(game.scores(state), game.ranks(state))
        self._kernel.set_state(state)
        after = self.table.after_actions(self._kernel) or self._kernel.look_up(None, None)
        if after is None:
            return None
        values = values_of(game, after)
        return max(values) if game.seat_to_act(state) == 0 else min(values)

    def _problem(self) -> str:
        is_same = self.header.sources == sources_digest(self._game.name)
        return "" if is_same else f"it was made by another kernel of {self._game.name}"

    def _values_bytes(self) -> int:
        plan = self._kernel.table_plan()
        return plan.table_bytes if plan is not None else 0


def values_of(game: Game[Any], pairs: list[tuple[int, int]]) -> list[int]:
    """Return outcomes and margins of a kernel as values."""
    unit = PARTS // parts_of(game)
    return [outcome * OUTCOME_UNIT + margin * unit for outcome, margin in pairs]


def kernel_table_path(game: Game[Any]) -> Path:
    """Return the file of the table that a game's kernel has made."""
    return table_path(game, game.name, suffix="values")


def room_for(plan: TablePlan) -> mmap.mmap:
    """Return the memory that a kernel fills with a table."""
    return mmap.mmap(-1, plan.table_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def save_kernel_table(game: Game[Any], file: Path, limits: Limits) -> KernelTableFile:
    """Write the table of the first state to a file, unless another process has just done so; return the table.

    KernelError without kernel, memory or lock; TableError if the file can't be written; TimeIsUpError and TooLargeError
    by the limits.
    """
    root = solver_of(game)
    plan = root.table_plan()
    if plan is None:
        raise KernelError(f"the kernel of {game.name} makes no table with {game.options!r:.200}")
    limits.check_memory(plan.memory_bytes, f"a table of {game.name} of {states_text(plan.states)}")
    with failing_as(TableError, f"table {file}: can't be written"):
        make_directory(file.parent)
    with one_at_a_time(file.parent, game.name):
        with suppress(FileNotFoundError, TableError):
            return KernelTableFile(game, file)
        values = room_for(plan)
        if not root.fill(values, limits.deadline, limits.watch):
            raise TimeIsUpError("the time is up, and the table is not full; allow more, or a smaller board")
        write_table(game, game.name, file, _KERNEL_KIND, values, plan.states, sources=sources_digest(game.name))
    return KernelTableFile(game, file)


# The table that is kept for a game with its options: its kernel's, or one by the rules in Python.


def saved_table(game: Game[Any], path: str) -> Table | None:
    """Return the table that was saved, if any; TableError if it is invalid."""
    with suppress(FileNotFoundError, KernelError):
        if has_solver(game) and kernel_table_path(game).exists():
            return KernelTableFile(game, kernel_table_path(game))
    with suppress(FileNotFoundError):
        return TableFile(game, path, table_path(game, path))
    return None


def saved_path(game: Game[Any], path: str) -> Path:
    """Return the file of the table that was saved."""
    by_kernel = kernel_table_path(game) if has_solver(game) else None
    return by_kernel if by_kernel is not None and by_kernel.exists() else table_path(game, path)


def plan_of_kernel_table(game: Game[Any], path: str) -> TablePlan | None:
    """Return what the table takes, if the kernel is to make it."""
    states = count_states(game, path) if has_solver(game) else 0
    if states is not None and states <= FEW_STATES:
        return None
    try:
        return solver_of(game).table_plan()
    except KernelError:
        return None
