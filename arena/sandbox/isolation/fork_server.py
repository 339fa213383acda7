"""The fork server: a small program that launches and confines bots, and ends them if the arena's process dies.

Each process that launches bots runs one fork server, from the standard library alone, so it is small and cheap to fork.
It reads requests from a socket; ``arena.sandbox.isolation.sandbox_policy`` makes every decision, which this module and
``arena.sandbox.isolation.sandbox_calls`` only carry out.

A bot is cloned with CLONE_PARENT, so it is a child of the arena's process, which reaps it and sees how it ended.

When the other end of the socket closes, because the arena's process has exited or was killed, everything that bots have
left is ended and removed.
"""

from __future__ import annotations

import array
import contextlib
import json
import mmap
import os
import signal
import socket
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from arena.sandbox.isolation.bot_uids import LockedUid, kill_uid, remove_system_v_of_uid
from arena.sandbox.isolation.call_list import CLONE_PARENT, CallList, StepError, can_close_files
from arena.sandbox.isolation.procfs import note_session, remove_note
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.rulesets import Ruleset, take_ruleset
from arena.sandbox.isolation.sandbox_calls import add_confinement, add_files, add_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.sandbox.isolation.launch_spec import GroupSpec, LaunchOutline, LaunchSpec

    Starter = Callable[[Any, list[int], "LockedUid | None"], tuple[int, "RunningBot"]]

MAX_REQUEST_BYTES = 1 << 20

_UNTOUCHED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGTSTP", "SIGPIPE", "SIGXFSZ")
"""Signals that a fork server does not handle: they are for the arena's process, or system calls report them as well.

They are blocked rather than ignored, so that a bot, which unblocks all, has each at its default."""

GROUP_SECONDS = 1.0
"""How long to wait for the processes of a dead bot's control group: with many mappings they take seconds to die."""

LAST_SECONDS = 15.0
"""How long to wait for them when this program ends."""

_lingering: list[str] = []
"""Control groups of dead bots that still had processes; each request tries again to remove them, and the end does."""


MAX_KNOWN_LAUNCHES = 64
_known_specs: dict[int, LaunchSpec] = {}
_known_calls: dict[tuple[int | None, ...], CallList] = {}
"""Launches by their numbers, and the calls that they take."""


class RunningBot:
    """What has to be ended and removed with a bot, and the Landlock ruleset that is then used again."""

    def __init__(self, outline: LaunchOutline, user: LockedUid | None) -> None:
        self.outline = outline
        self.ruleset: Ruleset | None = None
        self.user = user


MAX_SPARE_SCRATCH = 16
_spare_scratch: set[str] = set()
"""Scratch directories of bots that have ended, for the next bots of the arena's process; the end removes them."""


def create_control_groups(groups: list[GroupSpec]) -> None:
    """Create the bot's control groups and set their limits."""
    try:
        for group in groups:
            os.mkdir(group["directory"])
            for name, value in group["settings"].items():
                write_kernel_file(os.path.join(group["directory"], name), value)
            for name, value in group["optional_settings"].items():
                with contextlib.suppress(FileNotFoundError):
                    write_kernel_file(os.path.join(group["directory"], name), value)
    except OSError as error:
        raise StepError("control group", error.errno or 0, str(error.filename)) from error


def write_kernel_file(path: str, value: str) -> None:
    """Write a setting of a control group."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def start_bot(spec: LaunchSpec, pipes: list[int], user: LockedUid | None) -> tuple[int, RunningBot]:
    """Start a process that executes the bot; return its pid with what to clean up after it."""
    with cleaned_up_on_failure(RunningBot(spec, user)) as running:
        prepare(running)
        running.ruleset = take_ruleset(spec)
        with _calls_of(spec, pipes, user and user.uid, running.ruleset) as calls:
            group = open_starting_group(spec)
            if group is not None:
                calls.keep_open(group)
            return calls.start(CLONE_PARENT, group), running


def _calls_of(spec: LaunchSpec, pipes: list[int], uid: int | None, ruleset: Ruleset | None) -> CallList:
    """Return the calls by which a new process becomes a bot, kept for a launch that has a number.

    A change of any descriptor needs new calls. So does a bot in a closed directory, whose files each launch looks up.
    """
    file, niceness = ruleset.file if ruleset is not None else None, os.getpriority(os.PRIO_PROCESS, 0)
    key = (spec["number"], uid, file, niceness, *pipes)
    if key in _known_calls:
        return _known_calls[key]
    calls = CallList()
    filter_file, file = add_files(calls, spec, pipes, file)
    add_confinement(calls, spec, uid, niceness, ruleset=file, filter_file=filter_file)
    add_program(calls, spec["command"], spec["environment"])
    mounts = spec["mounts"]
    if spec["number"] and can_close_files() and filter_file is None and not (mounts and mounts["replace"]):
        if len(_known_calls) == MAX_KNOWN_LAUNCHES:
            _known_calls.clear()
        _known_calls[key] = calls
    return calls


def _spec_of(launch: Any) -> Any:
    """Return a launch, for which the arena sends the number alone once it has sent the whole."""
    if isinstance(launch, int):
        return _known_specs[launch]
    if launch.get("number"):
        if len(_known_specs) == MAX_KNOWN_LAUNCHES:  # the arena's process counts, too
            _known_specs.clear()
        _known_specs[launch["number"]] = launch
    return launch


def open_starting_group(outline: LaunchOutline) -> int | None:
    """Open the directory of the control group in which a bot's process has to be started, if there is one."""
    directory = next((group["directory"] for group in outline["control_groups"] if not group["join_file"]), None)
    return None if directory is None else os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


@contextlib.contextmanager
def cleaned_up_on_failure(running: RunningBot) -> Iterator[RunningBot]:
    """Clean up after a bot that could not be started."""
    try:
        yield running
    except Exception:
        clean_up(running, has_failed=True)
        raise


def prepare(running: RunningBot) -> None:
    """Make what a bot needs before its process starts."""
    _spare_scratch.discard(running.outline["scratch"])
    create_control_groups(running.outline["control_groups"])
    if running.user is not None and not running.outline["covers_scratch"]:
        os.chown(running.outline["scratch"], running.user.uid, running.user.uid)


def clean_up(running: RunningBot, *, has_failed: bool = False, has_left: bool = True) -> bool:
    """End and remove everything that a dead bot has left, and return whether all that was made for it is gone.

    ``has_left``: it may have left processes. A scratch directory that no bot has seen is kept. Groups whose processes
    die slowly are ``_lingering``.
    """
    slow = [
        group["directory"]
        for group in running.outline["control_groups"]
        if not remove_control_group(group["directory"])
    ]
    _lingering.extend(slow)
    if running.user is not None:
        if has_left and not running.outline["is_contained"]:
            kill_uid(running.user.uid)
        if not running.outline["leaves_no_ipc"]:
            remove_system_v_of_uid(running.user.uid)
        running.user.lock.close()
    is_all_gone = not slow and not has_failed
    if is_all_gone and _may_keep_scratch(running.outline, has_left):
        _spare_scratch.add(running.outline["scratch"])
    else:
        is_all_gone &= remove_tree(running.outline["scratch"])
    if running.ruleset is not None:
        running.ruleset.give_back(is_all_gone=is_all_gone)
    if running.outline["needs_note"]:
        remove_note(running.outline["scratch"])
    return is_all_gone


def _may_keep_scratch(outline: LaunchOutline, has_left: bool) -> bool:
    """Return whether the next bot may have a scratch directory, which takes as long to make and remove as an exec.

    The last bot never saw the directory itself, but a file system of its own in its place. Nor can a process of that
    bot be taken for one of the next bot, which has the same HOME: none is left, or its uid shows whose it is.
    """
    is_told_apart = outline["is_contained"] or outline["other_uid"] or not has_left
    return outline["covers_scratch"] and is_told_apart and len(_spare_scratch) < MAX_SPARE_SCRATCH


def remove_control_group(directory: str, seconds: float | None = None) -> bool:
    """Kill the processes in a control group and remove it; return whether that was done in time."""
    deadline = time.monotonic() + (GROUP_SECONDS if seconds is None else seconds)
    while True:
        try:
            os.rmdir(directory)
            return True
        except FileNotFoundError:
            return True
        except OSError:
            _kill_members(directory)
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.001)


def _kill_members(directory: str) -> None:
    with contextlib.suppress(OSError), open(os.path.join(directory, "cgroup.procs")) as members:
        for pid in map(int, members):
            if pid > 0:  # 0 is a process of another pid namespace
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


def _remove_lingering(seconds: float) -> None:
    """Remove control groups that outlived their bots, until the time is up."""
    deadline = time.monotonic() + seconds
    _lingering[:] = [
        directory
        for directory in _lingering
        if not remove_control_group(directory, max(0.0, deadline - time.monotonic()))
    ]


_buffer = mmap.mmap(-1, MAX_REQUEST_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # takes memory only once it is used


def serve(connection: socket.socket, start: Starter) -> None:
    """Answer requests until the other end closes; then end the bots that are alive."""
    alive: dict[int, RunningBot] = {}
    with contextlib.suppress(OSError):
        while (received := receive(connection))[0]:
            message, descriptors = received
            _remove_lingering(0.0)
            reply = handle_request(json.loads(message), descriptors, alive, start)
            for descriptor in descriptors:
                os.close(descriptor)
            connection.send(json.dumps(reply).encode())
            launched = alive.get(reply.get("pid") or 0)
            if launched is not None and launched.outline["needs_note"]:  # now, so that nobody waits for it
                note_session(launched.outline["scratch"], reply["pid"])
    for pid in alive:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    for running in alive.values():
        clean_up(running)
    for directory in _spare_scratch:
        remove_tree(directory)
    _remove_lingering(LAST_SECONDS)


def handle_request(
    request: dict[str, Any], descriptors: list[int], alive: dict[int, RunningBot], start: Starter
) -> dict[str, Any]:
    """Carry out a request and return the reply, which has ``failed`` if a step failed; the arena reaps the process.

    The last descriptor is the lock on the bot's uid, if it has one; the bot's end closes it.
    """
    user = None
    if "uid" in request:
        lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM, 0, fileno=descriptors.pop())
        user = LockedUid(request["uid"], lock)
    try:
        if "launch" in request:
            pid, alive[pid] = start(_spec_of(request["launch"]), descriptors, user)
            return {"pid": pid}
        if "ended" in request:
            running = alive.pop(request["ended"], None)
            is_all_gone = running is not None and clean_up(running, has_left=request["has_left"])
            is_kept = running is not None and running.outline["scratch"] in _spare_scratch
            return {"is_all_gone": is_all_gone, "is_scratch_kept": is_kept}
        alive[request["pid"]] = RunningBot(request["adopt"], user)  # it was launched by a fork server that died
    except StepError as error:
        return {"failed": error.report, "pid": error.pid, "results": [*error.results]}
    except Exception as error:  # our own failure: the match will be void
        return {"failed": StepError(f"{type(error).__name__}: {error}", 0).report, "pid": None, "results": []}
    return {}


def receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return a message and the descriptors that came with it."""
    count, ancillary, _, _ = connection.recvmsg_into([_buffer], socket.CMSG_SPACE(16 * 4), socket.MSG_CMSG_CLOEXEC)
    message = _buffer[:count]
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: len(data) - len(data) % 4])
    return message, list(descriptors)


def serve_standard_input(start: Starter) -> None:
    """Serve the socket that is standard input."""
    untouched = {getattr(signal, name) for name in _UNTOUCHED}
    signal.pthread_sigmask(signal.SIG_BLOCK, untouched)
    for number in untouched:
        signal.signal(number, signal.SIG_DFL)
    serve(socket.socket(fileno=os.dup(0)), start)


def main() -> None:
    """Serve the arena that has started this program."""
    serve_standard_input(start_bot)
