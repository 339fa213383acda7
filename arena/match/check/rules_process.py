"""Loads and checks the rules of a game in a process of their own, which may print, hang, crash or end as it likes.

The process answers with a file of JSON, which is read with bounds: whoever wrote the rules may have written it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import multiprocessing
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from arena.base.errors import GameError, OptionError, StoreError, UsageError
from arena.base.machine import HAS_PROC
from arena.base.programs.service_program import end_with, starting_process
from arena.base.stored import from_json_text, from_stored
from arena.games import Game, find_game, parse_options
from arena.games.conformance import CHECKS, CheckResult, run_checks
from arena.games.conformance.calls import guarded, time_limits
from arena.games.conformance.finding import Finding, MistakeError, as_json
from arena.games.conformance.walks import Difference, Place, walks
from arena.match.players.bot_files import open_at_once
from arena.match.players.game_location import find_external_game
from arena.sandbox.isolation.procfs import process_tag
from arena.sandbox.isolation.reaper import RULES_PREFIX

IMPORT_SECONDS = 10.0
"""Importing the module of a game may take this long."""

STALL_SECONDS = 20.0
"""A process in which no Python code has run for this long is stuck in a call that can't be interrupted."""

LOOK_SECONDS = 0.2

START_SECONDS = 60.0
"""The additional time that the process may take to start on a busy machine."""

MAX_ANSWER_BYTES = 4 * 1024**2

MAX_FILE_BYTES = 64 * 1024**2
"""The most of each file that the process writes, including what the rules print."""

SHOWN_BYTES = 8 * 1024
"""The most of the rules' stderr that is shown: half from its beginning, half from its end."""

MEMORY_BYTES = 4 * 1024**3
"""What the checks may use beyond what the process has at its start."""

CHECKS_SHARE = 0.6
"""The share of the time for the checks in one process; the walks of all others get the rest."""

WALK_SECONDS = 1.0
"""CPU time of the walks in each process."""

MAX_POSITIONS = 10**9
"""A larger count is false: the process may write anything into it."""

HASH_SEED = "PYTHONHASHSEED"

_FRAME = re.compile(r'File "(.+)", line (\d+) in (\S+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesStep:
    """One step of a check of rules.

    Attributes:
        check: its name in ``arena.games.conformance.CHECKS``, or "printing", "processes" or "bots".
        options: the options of the game that show a mistake.
        line: the line of play that shows it, as JSON types; an action None takes the seat to act out.
        line_text: the line in the game's own text.
    """

    check: str
    name: str
    is_passed: bool
    detail: str
    options: Mapping[str, Any] = field(default_factory=dict)
    line: Sequence[Any] = ()
    line_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    refused: str = ""
    steps: tuple[RulesStep, ...] = ()
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesCheck:
    """Which rules to check, and how.

    Attributes:
        given: options as text, such as "size=9".
        within_seconds: about how much CPU time all steps together may take; None for the default.
        tell: called with what the rules have written to stderr; if it is much, the beginning and the end.
        on_progress: called several times a second with the number of positions tried so far in a process.
    """

    game: str
    given: tuple[str, ...] = ()
    within_seconds: float | None = None
    tell: Callable[[str], None] = lambda text: None
    on_progress: Callable[[int], None] = lambda positions: None


def check_in_process(check: RulesCheck) -> tuple[RulesStep, ...]:
    """Return the steps of all checks of a game, without those that another mistake has made pointless.

    Raises:
        UsageError: if the game can't be loaded, an option is rejected, or bots can't read its module.
        GameError: if the process has ended without an answer, or is stuck.
    """
    return _answer_of(check, "check", check.within_seconds and CHECKS_SHARE * check.within_seconds, None).steps


def walk_in_process(check: RulesCheck, seconds: float, hash_seed: int) -> tuple[Place, ...]:
    """Return the answers of a game in seeded walks, in a process with a seed of hashes.

    It raises what ``check_in_process`` does.
    """
    return _answer_of(check, "walk", seconds, hash_seed).places


def _answer_of(check: RulesCheck, task: str, seconds: float | None, hash_seed: int | None) -> _Answer:
    game = check.game
    context = multiprocessing.get_context("spawn")
    signs = context.RawArray("d", [0.0, 0.0])
    with tempfile.TemporaryDirectory(prefix=f"{RULES_PREFIX}{process_tag()}-", ignore_cleanup_errors=True) as directory:
        arguments = (task, game, tuple(check.given), seconds, signs, directory, os.getpid())
        process = context.Process(target=_run, args=arguments, daemon=True)
        try:
            with starting_process(), _hash_seed(hash_seed):
                process.start()
            _wait(check, process, signs, Path(directory))
        finally:
            if process.pid is not None:
                with contextlib.suppress(ProcessLookupError):  # it had not begun
                    os.killpg(process.pid, signal.SIGKILL)  # with what the rules have started
                process.kill()
                process.join()
            check.tell(_start_and_end(Path(directory, "stderr"), SHOWN_BYTES))
        answer = _read_answer(game, Path(directory, "answer"), process.exitcode or 0)
    if answer.refused:
        raise UsageError(answer.refused)
    return answer


@contextlib.contextmanager
def _hash_seed(seed: int | None) -> Iterator[None]:
    """Give the process that is started a seed of hashes; None leaves it as it is."""
    earlier = os.environ.get(HASH_SEED)
    if seed is not None:
        os.environ[HASH_SEED] = str(seed)
    try:
        yield
    finally:
        if seed is not None:
            del os.environ[HASH_SEED]
        if earlier is not None:
            os.environ[HASH_SEED] = earlier


def _wait(check: RulesCheck, process: Any, signs: Any, directory: Path) -> None:
    game = check.game
    alive_at, silent_seconds, looked = 0.0, -START_SECONDS, time.monotonic()
    while not (wait([process.sentinel], LOOK_SECONDS) or (directory / "answer").exists()):
        earlier, (alive_at, positions), before = alive_at, signs, looked
        looked = time.monotonic()
        passed_seconds = min(looked - before, 2 * LOOK_SECONDS)  # a machine that stands still is no fault of the game
        silent_seconds = silent_seconds + passed_seconds if alive_at == earlier else 0.0
        check.on_progress(int(positions) if 0 <= positions < MAX_POSITIONS else 0)
        if silent_seconds > STALL_SECONDS:
            with contextlib.suppress(OSError):
                os.kill(process.pid, signal.SIGUSR1)
            time.sleep(0.5)  # the handler writes the stack without the interpreter's help
            method, location = _innermost(directory / "stack", game)
            raise GameError(
                game, method, f"did not return within {STALL_SECONDS:g} s, and can't be interrupted", location
            )


def _read_answer(game: str, path: Path, exit_code: int) -> _Answer:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            text = file.read(MAX_ANSWER_BYTES).decode()
        return from_stored(_Answer, from_json_text(text, "the answer"), "the answer")
    except FileNotFoundError:
        ending = f"by {signal.Signals(-exit_code).name}" if exit_code < 0 else f"with exit code {exit_code}"
        raise GameError(game, "its module", f"ended the process that checked it, {ending}") from None
    except (OSError, UnicodeDecodeError, StoreError):
        raise GameError(game, "its module", "wrote into the files of the process that checked it") from None


def _start_and_end(path: Path, max_bytes: int) -> str:
    """Return the text of an untrusted file that the process has written; of a long one only both ends."""
    half = max_bytes // 2
    try:
        with open(path, "rb", opener=open_at_once) as file:
            data = file.read(max_bytes + 1)
            if len(data) > max_bytes:
                file.seek(-half, os.SEEK_END)
                data = data[:half] + b"\n[...]\n" + file.read(half)
    except OSError:
        return ""
    return data.decode(errors="replace")


def _innermost(stack: Path, game: str) -> tuple[str, str]:
    frames = _FRAME.findall(_start_and_end(stack, MAX_ANSWER_BYTES))
    top = game.partition(":")[0].partition(".")[0]
    own_frames = [
        frame for frame in frames if top in (Path(frame[0]).stem, *(part.name for part in Path(frame[0]).parents))
    ]
    if not own_frames:
        return "a method", ""
    file, line, method = own_frames[0]
    return method, f"{Path(file).name}:{line}"


def _run(
    task: str, game: str, option_texts: tuple[str, ...], seconds: float | None, signs: Any, directory: str, parent: int
) -> None:
    end_with(parent, signal.SIGKILL)
    os.setpgid(0, 0)  # so it gets no Ctrl-C of the terminal
    with Path(directory, "stack").open("w") as stack:
        faulthandler.register(signal.SIGUSR1, file=stack, all_threads=False)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # so what interrupts comes from the rules

        def beat() -> None:
            signs[0] = time.monotonic()

        def count(positions: int) -> None:
            signs[1] = positions

        with time_limits(beat), _without_terminal(Path(directory)) as printed:
            _set_limits()
            beat()  # it has started
            try:
                rules = _loaded(game, option_texts, printed)
                if task == "walk":
                    answer = _Answer(places=walks(rules, seconds or WALK_SECONDS, count))
                else:
                    answer = _Answer(steps=_check(rules, seconds, count, printed))
            except UsageError as error:
                answer = _Answer(refused=str(error))
            except KeyboardInterrupt:
                answer = _Answer(refused=f"game {game!r} can't be used: it raised KeyboardInterrupt")
        unfinished = Path(directory, "unfinished")
        unfinished.write_text(json.dumps(asdict(answer)), encoding="ascii")
        unfinished.rename(Path(directory, "answer"))


@contextlib.contextmanager
def _without_terminal(directory: Path) -> Iterator[Path]:
    path = directory / "printed"
    with (
        Path(os.devnull).open() as nothing,
        path.open("w", encoding="utf-8", errors="replace", buffering=1) as output,
        (directory / "stderr").open("wb") as errors,
    ):
        os.dup2(nothing.fileno(), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        sys.stdin, sys.stdout = nothing, output
        yield path


def _set_limits() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit_bytes = MAX_FILE_BYTES if hard == resource.RLIM_INFINITY else min(MAX_FILE_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    if not HAS_PROC:  # nobody can tell what the process has at its start
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit_bytes = used + MEMORY_BYTES
    resource.setrlimit(
        resource.RLIMIT_AS, (limit_bytes if hard == resource.RLIM_INFINITY else min(limit_bytes, hard), hard)
    )


def _check(
    rules: Game[Any] | type[Game[Any]], seconds: float | None, count: Callable[[int], None], printed: Path
) -> tuple[RulesStep, ...]:
    results = [result for result in run_checks(rules, seconds=seconds, on_position=count) if result.is_tried]
    return *map(_step, results), _printing(printed)


def _loaded(game: str, option_texts: tuple[str, ...], printed: Path) -> Game[Any] | type[Game[Any]]:
    """Return the game with the given options; its class if none are given."""
    try:
        game_class = guarded(lambda: find_game(game), "importing it", game.partition(":")[0], IMPORT_SECONDS)
    except MistakeError as mistake:
        is_usage = isinstance(mistake.__cause__, UsageError)
        problem = mistake.__cause__ if is_usage else f"game {game!r} can't be loaded: {mistake.sentence}"
        raise UsageError(str(problem)) from mistake
    text = _start_and_end(printed, SHOWN_BYTES).strip()
    if text:
        raise UsageError(
            f"game {game!r} can't be used: its module prints {text.splitlines()[0][:60]!r} when it is imported, which"
            " every bot and worker does; put what is no rule under if __name__ == '__main__'"
        )
    _require_readable(game)
    options = parse_options(game, option_texts)
    try:
        rules: Game[Any] | type[Game[Any]] = (
            guarded(lambda: game_class(**options), "making it", game_class.__module__) if options else game_class
        )
    except MistakeError as mistake:
        if isinstance(mistake.__cause__, OptionError):
            raise mistake.__cause__ from None
        raise GameError(game, "__init__", mistake.sentence.removeprefix("making it ")) from mistake
    return rules


def _require_readable(game: str) -> None:
    """Raise UsageError if the module is no file that bots could read."""
    if ":" not in game:
        return
    top = find_game(game).__module__.partition(".")[0]
    if top == __name__.partition(".")[0]:
        return
    location = find_external_game(game)
    if location is None:
        raise UsageError(
            f"game {game!r} can't be used: bots can't read the module {top!r}, which has no file of its own; expected"
            " a .py file, or a package with an __init__.py"
        )
    if not Path(location[1]).exists():
        raise UsageError(
            f"game {game!r} can't be used: bots can't read the module {top!r} in {location[1]}; expected a .py file,"
            " or a package with an __init__.py"
        )


def _step(result: CheckResult) -> RulesStep:
    name = CHECKS[result.check]
    if result.finding is not None:
        return failed_step(result.check, name, result.finding)
    return RulesStep(check=result.check, name=name, is_passed=True, detail=result.detail)


def failed_step(check: str, name: str, finding: Finding | Difference) -> RulesStep:
    """Return the step of a check that found a mistake."""
    line = [as_json(action) for action in finding.line]
    shown: dict[str, Any] = {"options": finding.options, "line": line, "line_text": finding.line_text}
    return RulesStep(check=check, name=name, is_passed=False, detail=finding.sentence, **shown)


def _printing(printed: Path) -> RulesStep:
    sys.stdout.flush()
    text = _start_and_end(printed, SHOWN_BYTES).strip()
    detail = f"its methods print {text.splitlines()[0][:60]!r}" if text else ""
    return RulesStep(check="printing", name="prints nothing", is_passed=not text, detail=detail)
