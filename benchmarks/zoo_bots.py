"""The zoo: bad bots in tournaments against honest ones. ``tests/bad_bots/zoo.toml`` says what must come of each.

Used by the tests and by ``benchmarks/zoo.py``, which makes the table of levels and bots.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.base.records import MatchRecord
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import has_own_file_systems
from arena.store.results.store import Store
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from benchmarks.traces import traces, traces_since

BAD_BOTS = Path(__file__).parents[1] / "tests" / "bad_bots"
BOTS = Path(__file__).parents[1] / "bots"
ZOO: dict[str, dict[str, Any]] = tomllib.loads((BAD_BOTS / "zoo.toml").read_text(encoding="utf-8"))

_workshop: Path | None = None


def workshop() -> Path:
    """Return a directory for bots, open to all, that is removed at the end."""
    global _workshop
    if _workshop is None:
        _workshop = Path(tempfile.mkdtemp(prefix="arena-zoo-of-bots-"))
        _workshop.chmod(0o755)
        atexit.register(shutil.rmtree, _workshop, ignore_errors=True)
    return _workshop


def program_of(name: str) -> Path:
    """Return the file of a bot of ``zoo.toml``: in ``tests/bad_bots``, or made of the expression in the table."""
    if "program" not in ZOO[name]:
        return BAD_BOTS / f"{name}.py"
    file = workshop() / f"{name}.py"
    file.write_text(f"from _names import *\n\n{ZOO[name]['program']}\n")
    return file


def bad_bot(name: str, is_warm: bool = False) -> Path:
    """Return the directory of a bot of ``zoo.toml``, with a ``bot.toml``."""
    return _bot_directory(name, [program_of(name), *sorted(BAD_BOTS.glob("_*.py"))], is_warm)


def honest_bot(name: str) -> Path:
    """Return the directory of ``bots/minimal`` under another name."""
    return _bot_directory(name, [BOTS / "minimal" / "bot.py"])


def _bot_directory(name: str, files: list[Path], is_warm: bool = False) -> Path:
    """Return the directory of a bot with its files and nothing else: it may have written there at another level."""
    directory = workshop() / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    for file in files:
        shutil.copy(file, directory / file.name)
    warm = "warm = true\n" if is_warm else ""
    (directory / "bot.toml").write_text(f'name = "{name}"\ncommand = ["python3", "{files[0].name}"]\n{warm}')
    return directory


@dataclass
class Outcome:
    """What came of a bad bot's tournament."""

    faults: set[str] = field(default_factory=set)
    details: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    honest_faults: list[str] = field(default_factory=list)
    void: list[str] = field(default_factory=list)
    off_turn_shares: list[float] = field(default_factory=list)
    leftovers: set[str] = field(default_factory=set)
    seconds: float = 0.0
    records: list[MatchRecord] = field(default_factory=list)

    @property
    def got_through(self) -> bool:
        return any(note.startswith("got through") for note in self.notes)


def is_safe_inline(level: str) -> bool:
    """Return whether bots at this level can't hurt the process that plays with them."""
    return os.geteuid() == 0 or choose_isolation(level).level in ("landlock", "bubblewrap")


def play_zoo_bot(name: str, level: str, inline: bool, is_warm: bool = False) -> Outcome:
    """Play a bad bot's tournament at a level, in this process or in a worker."""
    with tempfile.TemporaryDirectory(prefix="arena-zoo-home-") as text, socket.socket() as listener:
        place = Path(text)
        place.chmod(0o755)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        open_directory = place / "open"
        open_directory.mkdir()
        open_directory.chmod(0o777)
        (open_directory / "precious").write_text("precious")
        secret = place / "secret"
        secret.write_text("the secret")
        opponent = honest_bot("honest_a")
        targets = {
            "opponent": str(opponent / "bot.py"),
            "secret": str(secret),
            "store": str(place / "zoo.sqlite3"),
            "open_directory": str(open_directory),
            "port": str(listener.getsockname()[1]),
        }
        definition = load_definition(_write_definition(name, level, place, targets, is_warm))
        before = traces()
        started = time.monotonic()
        with contextlib.closing(Store(place / "zoo.sqlite3")) as store:
            executor = "in-process" if inline else "local"
            progress = run_tournament(definition, store, workers=1, executor=executor)
            records = list(store.records(store.tournament("zoo")))
        outcome = _outcome(name, records)
        outcome.void = list(progress.given_up.values())
        outcome.seconds = time.monotonic() - started
        outcome.leftovers = traces_since(before)
        if (open_directory / "precious").read_text() != "precious" or len(list(open_directory.iterdir())) != 1:
            outcome.leftovers.add("the operator's directory was changed")
        return outcome


def _write_definition(name: str, level: str, place: Path, targets: dict[str, str], is_warm: bool) -> Path:
    entry = ZOO[name]
    honest = [honest_bot("honest_a"), honest_bot("honest_b")]
    if "opponent" in entry:
        honest = [bad_bot(entry["opponent"])]
    args = [targets[arg] for arg in entry.get("args", [])]
    limits = {"stderr_bytes": "16 MiB", **entry.get("limits", {})}
    lines = ['name = "zoo"', 'game = "differences"', "options = { size = 4 }", "opening_plies = 0"]
    lines += [f'isolation = "{level}"', f"fresh_bots = {str(entry.get('fresh_bots', False)).lower()}"]
    lines += [f"limits = {{ {', '.join(f'{key} = {value!r}' for key, value in limits.items())} }}", "[time_control]"]
    lines += [f"per_action_seconds = {entry.get('per_action_seconds', 0.5)}", "margin_seconds = 0.1"]
    lines += [f"startup_seconds = {entry.get('startup_seconds', 10.0)}"]
    lines += [f'[[entrants]]\nbot = "{bad_bot(name, is_warm)}"\nargs = {args!r}']
    lines += [f'[[entrants]]\nbot = "{bot}"' for bot in honest]
    path = place / "zoo.toml"
    path.write_text("\n".join(lines))
    return path


def _outcome(name: str, records: list[MatchRecord]) -> Outcome:
    outcome = Outcome(records=records)
    for record in records:
        seats = [seat for seat, bot in enumerate(record.bots) if bot.split("@")[0] == name]
        for fault in record.faults:
            told = f"{fault.kind}: {fault.detail.for_operator()}"
            if fault.seat in seats:
                outcome.faults.add(fault.kind)
                outcome.details.append(told)
            else:
                outcome.honest_faults.append(told)
        if not seats:
            continue
        seat = seats[0]
        others = sum(other.wall_seconds for k, other in enumerate(record.seats) if k != seat)
        outcome.off_turn_shares.append(record.seats[seat].off_turn_cpu_seconds / max(others, 1e-9))
        outcome.notes += [str(note) for ply, note in record.notes.for_operator() if record.actions[ply][0] == seat]
    return outcome


def judge(name: str, level: str, outcome: Outcome) -> str:
    """Return how a bad bot's tournament went: "held", "fault KIND", "got through", or "WRONG: …"."""
    entry = ZOO[name]
    expected = entry["expect"]
    through = is_expected_to_get_through(name, level)
    wrong = _what_is_wrong_anyway(entry, level, outcome, through)
    if wrong:
        return f"WRONG: {wrong}"
    if through:
        return _judge_got_through(entry, outcome)
    if outcome.faults - {expected, entry.get("or_fault")}:
        return f"WRONG: {outcome.details[:2]}"
    if expected in ("contained", "honest", "still"):
        if outcome.got_through:
            return f"WRONG: {outcome.notes[0]}"
        if expected == "still" and max(outcome.off_turn_shares) > 0.75:
            return f"WRONG: worked off turn: {outcome.off_turn_shares}"
        return "held" if expected == "contained" else "unharmed" if expected == "honest" else "kept still"
    if not outcome.faults:
        return "WRONG: no fault"
    message = entry.get("says", "")
    for detail in outcome.details:
        if detail.startswith(f"{expected}:") and not any(part in detail for part in message.split("|")):
            return f"WRONG: {detail!r} does not say {message!r}"
    return f"{outcome.details[0].split(':')[0]} fault"


def is_expected_to_get_through(name: str, level: str) -> bool:
    """Return whether a level is said not to hold a bot's deed."""
    isolation = choose_isolation(level)
    places = ZOO[name].get("gets_through", [])
    conditions = {isolation.level}
    if os.geteuid() != 0:
        conditions.add(f"{isolation.level} as user")
    if not isolation.groups:
        conditions.add(f"{isolation.level} without cgroup")
    if not has_own_file_systems(isolation):
        conditions.add(f"{isolation.level} without mounts")
    return bool(conditions & set(places))


def _what_is_wrong_anyway(entry: dict[str, Any], level: str, outcome: Outcome, through: bool) -> str:
    leftovers = outcome.leftovers
    if through and "leaves" in entry and not has_own_file_systems(choose_isolation(level)):
        leftovers = {left for left in leftovers if not left.startswith(entry["leaves"])}
    if leftovers:
        return f"left {sorted(leftovers)[:3]}"
    if through and entry.get("instead") == "void":
        return ""
    if outcome.void:
        return f"void: {outcome.void[:2]}"
    if outcome.honest_faults:
        return f"an honest bot was hurt: {outcome.honest_faults[:2]}"
    return ""


def _judge_got_through(entry: dict[str, Any], outcome: Outcome) -> str:
    instead = entry.get("instead")
    if entry["expect"] in ("contained",):
        return "gets through" if outcome.got_through or outcome.void or outcome.honest_faults else "held"
    if instead == "normal":
        return "gets through" if not outcome.faults else f"WRONG: {outcome.details[:2]}"
    return "gets through" if outcome.faults <= {instead, entry["expect"]} else f"WRONG: {outcome.details[:2]}"
