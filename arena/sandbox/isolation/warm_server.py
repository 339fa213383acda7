"""The warm fork server: a Python that has imported ``arena.botkit``, and whose copies become warm bots.

It runs nothing of a bot: a copy confines itself in the same way as any other bot before it runs the bot's file. What is
different is that no program is executed after that. So the copy closes what it has inherited and drops its
capabilities, and it reads its launch spec from a file by itself: in the memory of this server there is nothing about
any bot but the name of its scratch directory and of its control groups.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import json
import os
import signal
import struct
import sys
import types
from typing import TYPE_CHECKING, Any, NoReturn

from arena.sandbox.isolation.call_list import CallList, StepError, libc
from arena.sandbox.isolation.fork_server import (
    LockedUid,
    RunningBot,
    cleaned_up_on_failure,
    prepare,
    serve_standard_input,
)
from arena.sandbox.isolation.launch_spec import ROOM_BYTES, ROOM_VARIABLE
from arena.sandbox.isolation.sandbox_calls import add_confinement

if TYPE_CHECKING:
    from arena.sandbox.isolation.launch_spec import LaunchOutline, LaunchSpec

_MAX_DESCRIPTORS = 1 << 20
_PR_SET_DUMPABLE = 4
_CAPABILITY_VERSION_3 = 0x20080522


class _BecomesBot(BaseException):
    """This process is a confined copy, and runs the bot's file."""

    def __init__(self, spec: LaunchSpec) -> None:
        super().__init__()
        self.spec = spec


def main() -> None:
    """Serve the socket that is standard input; in a copy, run a bot."""
    room = _address_of_room()
    gc.freeze()
    try:
        serve_standard_input(start_warm_bot)
    except _BecomesBot as bot:
        spec = bot.spec
    else:
        return
    _run(spec["command"][1:], spec["environment"], room)


def start_warm_bot(outline: LaunchOutline, descriptors: list[int], user: LockedUid | None) -> tuple[int, RunningBot]:
    """Start a copy of this process that becomes a bot, and return its pid with what to clean up after it.

    A process in between exits at once, so that the bot becomes a child of the arena's process, which adopts orphans.
    """
    with cleaned_up_on_failure(RunningBot(outline, user)) as running:
        prepare(running)
        read_end, write_end = os.pipe()
        between = os.fork()
        if between == 0:
            _fork_bot(descriptors, user and user.uid, write_end)
        os.close(write_end)
        os.waitpid(between, 0)
        with open(read_end, "rb") as file:
            report = file.read()
        if not report:
            raise StepError("fork", errno.EAGAIN)
        (pid,) = struct.unpack_from("=i", report)
        if report[4:]:
            failed = json.loads(report[4:])
            raise StepError(failed["step"], failed["errno"], failed["subject"], pid)
        return pid, running


def _fork_bot(descriptors: list[int], uid: int | None, report_to: int) -> NoReturn:
    """Write the pid of another copy, which becomes the bot, and exit."""
    try:
        pid = os.fork()
        if pid:
            os.write(report_to, struct.pack("=i", pid))
    except BaseException:
        os._exit(1)
    if pid:
        os._exit(0)
    _become_bot(descriptors, uid, report_to)


def _become_bot(descriptors: list[int], uid: int | None, report_to: int) -> NoReturn:
    """Confine this copy, and leave the server's loop; a failure is reported."""
    try:
        with open(descriptors[3], "rb", closefd=False) as file:
            file.seek(0)
            spec: LaunchSpec = json.load(file)["launch"]
        with CallList() as calls:
            add_confinement(calls, spec, descriptors[:3], uid)
            calls.make_here()
        _drop_capabilities()
        libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # as after an exec
        os.closerange(3, report_to)
        os.closerange(report_to + 1, _MAX_DESCRIPTORS)
        os.close(report_to)
    except BaseException as error:
        number = getattr(error, "errno", None) or 0
        report = {"step": f"{type(error).__name__}: {error}", "errno": number, "subject": ""}
        os.write(report_to, json.dumps(error.report if isinstance(error, StepError) else report).encode())
        os._exit(127)
    raise _BecomesBot(spec)


def _drop_capabilities() -> None:
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    if libc.capset(header, bytes(24)) < 0:
        raise StepError("capabilities", ctypes.get_errno())


def _run(arguments: list[str], environment: dict[str, str], room: int) -> None:
    settings = b"\0".join(os.fsencode(f"{name}={value}") for name, value in environment.items())
    room_bytes = len(f"{ROOM_VARIABLE}=") + ROOM_BYTES
    ctypes.memmove(room, settings[:room_bytes].ljust(room_bytes, b"\0"), room_bytes)
    os.environ.clear()
    os.environ.update(environment)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    file = os.path.abspath(arguments[0])
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.realpath(file))
    sys.excepthook = _show_without_server
    module: Any = types.ModuleType("__main__")
    module.__file__ = file
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    with open(file, "rb") as source:
        code = compile(source.read(), file, "exec", dont_inherit=True)
    exec(code, module.__dict__)


def _show_without_server(kind: type[BaseException], error: BaseException, at: types.TracebackType | None) -> None:
    """Show an uncaught exception as Python does, without the frames of this module."""
    while at is not None and at.tb_next is not None and at.tb_frame.f_globals.get("__name__") in (__name__, "__main__"):
        if at.tb_frame.f_globals is sys.modules["__main__"].__dict__:
            break
        at = at.tb_next
    sys.__excepthook__(kind, error.with_traceback(at), at)


def _address_of_room() -> int:
    """Return where ``/proc/self/environ`` shows the variable that makes room for a bot's environment."""
    pointers = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, "environ")
    at = 0
    while (address := pointers[at]) is not None:
        if ctypes.string_at(address, len(ROOM_VARIABLE) + 1) == f"{ROOM_VARIABLE}=".encode():
            return int(address)
        at += 1
    raise RuntimeError(f"no {ROOM_VARIABLE} in the environment")
