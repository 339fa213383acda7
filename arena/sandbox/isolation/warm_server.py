"""The warm fork server: a Python that has imported ``arena.botkit``, and whose copies become warm bots.

It runs nothing of a bot: a copy confines itself in the same way as any other bot before it runs the bot's file. What is
different is that no program is executed after that. So the copy closes what it has inherited and drops its
capabilities, and it has its system calls and the bot's command from a file that the server never reads: in the memory
of this server there is nothing about any bot but the name of its scratch directory and of its control groups.
"""

from __future__ import annotations

import _thread
import atexit
import ctypes
import errno
import gc
import json
import operator
import os
import signal
import sys
import types
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from arena.sandbox.isolation.bot_uids import LockedUid
from arena.sandbox.isolation.call_list import StepError, libc, load_machine_code
from arena.sandbox.isolation.fork_server import (
    RunningBot,
    cleaned_up_on_failure,
    open_starting_group,
    prepare,
    serve_standard_input,
)
from arena.sandbox.isolation.launch_spec import ROOM_BYTES, ROOM_VARIABLE
from arena.sandbox.isolation.orphan import fork_orphan
from arena.sandbox.isolation.warm_launch import REPORT, RULESET, WarmFailureError, become_confined

if TYPE_CHECKING:
    from arena.sandbox.isolation.launch_spec import LaunchOutline
    from arena.sandbox.isolation.warm_launch import WarmLaunch


_MAX_STATUS = 255

_OUTPUT_FAILED = 120
"""The exit status of Python if its standard output can't be written."""


class _BecomesBot(BaseException):
    """This process is a confined copy, and runs the bot's file."""

    def __init__(self, launch: WarmLaunch) -> None:
        super().__init__()
        self.launch = launch


def main() -> None:
    """Serve the socket that is standard input; in a copy, run a bot."""
    room = _address_of_room()
    load_machine_code()
    while os.dup(0) < RULESET:  # these numbers are for files of copies, so none that a request brings may have them
        pass
    modules = {*sys.modules}
    gc.freeze()
    try:
        serve_standard_input(start_warm_bot)
    except _BecomesBot as bot:
        launch = bot.launch
    else:
        return
    status = 0
    try:
        _run(launch["command"][1:], launch["environment"], room)
    except SystemExit as leaves:
        code = 0 if leaves.code is None else leaves.code
        if not isinstance(code, int) or not 0 <= code <= _MAX_STATUS:
            raise
        status = code
    _leave(status, modules)
    sys.exit(status)


def start_warm_bot(outline: LaunchOutline, descriptors: list[int], user: LockedUid | None) -> tuple[int, RunningBot]:
    """Start a copy of this process that becomes a bot, and return its pid with what to clean up after it.

    It is an orphan, so that it becomes a child of the arena's process, which adopts orphans.
    """
    with cleaned_up_on_failure(RunningBot(outline, user)) as running:
        prepare(running)
        read_end, write_end = os.pipe()
        group = open_starting_group(outline)
        try:
            pid = fork_orphan(group)
        except OSError as error:
            pid = -(error.errno or errno.EAGAIN)
        if pid == 0:
            _become_bot(descriptors, write_end)
        for descriptor in (write_end, *([] if group is None else [group])):
            os.close(descriptor)
        with open(read_end, "rb") as file:
            report = file.read()
        if pid < 0:
            raise StepError("fork", -pid)
        if report:
            failed = json.loads(report)
            raise StepError(failed["step"], failed["errno"], pid=pid, results=failed["results"])
        return pid, running


def _become_bot(descriptors: list[int], report_to: int) -> NoReturn:
    """Confine this copy, and leave the server's loop; a failure is reported."""
    try:
        report_to = os.dup2(report_to, REPORT)
        launch = become_confined(descriptors[:3], descriptors[3], descriptors[4:])
    except BaseException as error:
        failed = {
            "step": f"{type(error).__name__}: {error}",
            "errno": getattr(error, "errno", None) or 0,
            "results": error.results if isinstance(error, WarmFailureError) else [],
        }
        os.write(report_to, json.dumps(failed).encode())
        os._exit(127)
    raise _BecomesBot(launch)


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
    try:
        exec(code, module.__dict__)
    finally:
        _flush()


def _leave(status: int, modules: set[str]) -> None:
    """Exit as Python does, but free nothing that the server has made: to do so would copy 1,500 of its pages.

    Return if Python is to exit, because of threads or of output that can't be written.
    """
    if _thread._count():
        return
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    if not _flush():
        return
    _drop(["__main__", *(name for name in sys.modules if name not in modules)])
    libc.exit(status if _flush() else _OUTPUT_FAILED)


def _flush() -> bool:
    """Write what is buffered for the standard streams; return whether that could be done for all."""
    has_failed = False
    for stream in filter(None, (sys.stderr, sys.stdout, sys.__stderr__, sys.__stdout__)):
        try:
            stream.flush()
        except Exception:
            has_failed = True
    return not has_failed


def _drop(names: list[str]) -> None:
    """Drop modules with what is in them; what outlives that, because something refers to it, loses its contents.

    The first collection brings objects into the order in which they are reached, so that the second one finalizes a
    file before its buffer. Python does so, too.
    """
    gc.collect()
    dropped = [sys.modules.pop(name) for name in names]
    modules = [weakref.ref(module) for module in dropped if isinstance(module, types.ModuleType)]
    dropped.clear()
    gc.collect()
    for module in map(operator.call, reversed(modules)):
        for name in vars(module) if module is not None else ():
            if name != "__builtins__":
                vars(module)[name] = None
    gc.collect()


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
