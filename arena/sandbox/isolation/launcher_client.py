"""The arena's end of the fork server: starts it, sends it requests, and replaces it if it dies."""

from __future__ import annotations

import array
import contextlib
import errno
import json
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.base.enums import FaultKind
from arena.base.errors import BotError, VoidMatchError
from arena.base.shipped import package_directory
from arena.sandbox.isolation.bot_uids import LockedUid, release_uid, reserve_uid
from arena.sandbox.isolation.call_list import CallList, StepError
from arena.sandbox.isolation.fork_server import MAX_KNOWN_LAUNCHES
from arena.sandbox.isolation.interpreters import arena_interpreter
from arena.sandbox.isolation.launch_spec import ROOM_BYTES, ROOM_VARIABLE, TAG_VARIABLE, LaunchSpec, outline_of
from arena.sandbox.isolation.procfs import environment
from arena.sandbox.isolation.reaper import children, descendants, make_scratch, reap_ended, scratch_parent
from arena.sandbox.isolation.removal import may_leave_shared_memory, remove_tree
from arena.sandbox.isolation.rulesets import Ruleset, take_ruleset
from arena.sandbox.isolation.sandbox_policy import clean_environment
from arena.sandbox.isolation.warm_launch import write_launch

ANSWER_SECONDS = 20.0
"""A fork server that takes longer must have been stopped, and is replaced."""

MAX_SPEC_BYTES = 128 * 1024
"""Messages on a socket can't be much larger. A spec is only long if it has to list the files of a closed directory."""

_TOO_MANY_FILES = (
    "{} has too many files to be opened to a bot one by one, and other users may not enter it; let them (chmod go+rx)"
)

_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from arena.sandbox.isolation.fork_server import main; main()"
"""The program of the fork server, run without site-packages: it finds only the standard library and this package."""

_WARM_PROGRAM = "import arena.botkit; from arena.sandbox.isolation.warm_server import main; main()"

REAP_SECONDS = 15.0
"""How long to wait for orphans that have been killed; the end of the next bot tries again."""
OUR_ERRNOS = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedBot:
    """A bot that has been launched; its pid is that of the wrapping program, if there is one.

    ``exit_descriptor`` is a pipe that ends with it, where there are no pidfds. ``ruleset`` is that of a warm bot.
    """

    pid: int
    user: LockedUid | None
    spec: LaunchSpec
    exit_descriptor: int | None = None
    ruleset: Ruleset | None = None

    @property
    def uid(self) -> int | None:
        """The uid that the bot has to itself."""
        return self.user.uid if self.user is not None else None


class LauncherClient:
    """A fork server, and the bots that it has launched."""

    def __init__(self, launches_only_bots: bool) -> None:
        self.launches_only_bots = launches_only_bots
        self.alive: dict[int, LaunchedBot] = {}
        self._servers = {False: _Server(is_warm=False)}

    @property
    def pid(self) -> int:
        """The pid of the fork server."""
        return self._servers[False].process.pid

    @property
    def server_pids(self) -> set[int]:
        """The pids of the fork server and, if a warm bot has been launched, of the warm one."""
        return {server.process.pid for server in self._servers.values()}

    @property
    def spare_scratch(self) -> list[str]:
        """Scratch directories of bots that have ended, for the next bots."""
        return [path for server in self._servers.values() for path in server.spare_scratch]

    def take_scratch(self, is_warm: bool) -> str:
        """Return a scratch directory for a bot: one that its server has kept after the end of another, or a new one."""
        spare = self._servers[is_warm].spare_scratch if is_warm in self._servers else []
        while spare:
            path = spare.pop(0)
            with contextlib.suppress(OSError):  # somebody may have tidied /tmp
                if os.path.dirname(path) == scratch_parent() and stat.S_ISDIR(os.lstat(path).st_mode):
                    return path
        return make_scratch()

    def launch(self, spec: LaunchSpec, descriptors: Sequence[int]) -> LaunchedBot:
        """Launch a bot.

        Raises:
            BotError: of kind start, if its program can't be executed, or too many of its files have to be listed.
            VoidMatchError: if this machine has no room for a process, or a step of confining it failed.
        """
        user, ruleset = None, None
        try:
            user = reserve_uid() if spec["other_uid"] else None
            ruleset = take_ruleset(spec) if spec["is_warm"] else None
            pid = self._launch(spec, descriptors, user, ruleset)
        except BaseException as error:
            if user is not None:
                user.lock.close()
            if ruleset is not None:
                ruleset.close()
            if not isinstance(error, StepError):
                raise
            if error.pid is not None:
                os.waitpid(error.pid, 0)
            raise _failure(error.report) from error
        self.alive[pid] = launched = LaunchedBot(pid=pid, user=user, spec=spec, ruleset=ruleset)
        return launched

    def _launch(
        self, spec: LaunchSpec, descriptors: Sequence[int], user: LockedUid | None, ruleset: Ruleset | None
    ) -> int:
        """Launch a bot, and return its pid.

        A warm bot has a file that its server doesn't read: that server, of which it is a copy, knows nothing of it.
        """
        if not spec["is_warm"]:
            return _pid_of(self._ask(spec, {"launch": spec}, descriptors, user))
        if True not in self._servers:
            self._servers[True] = _Server(is_warm=True)
        file, calls = write_launch(spec, user and user.uid, has_ruleset=ruleset is not None)
        files = [*descriptors, file, *([] if ruleset is None else [ruleset.file])]
        try:
            return _pid_of(self._ask(spec, {"launch": outline_of(spec)}, files, user), calls)
        finally:
            os.close(file)

    def needs_members(self, launched: LaunchedBot) -> bool:
        """Return whether a bot's processes have to be noted before it is ended, for their orphans to be recognised.

        They need not be if no process can leave the bot's session, or if this process has no other children, unless
        the shared memory that they have made has to be removed.
        """
        spec = launched.spec
        return may_leave_shared_memory(spec) or not (self.launches_only_bots or spec["seccomp"] is not None)

    def forget(self, pid: int, known: set[int]) -> None:
        """Remove everything that a bot has left, after its group was killed and the bot was reaped.

        Args:
            known: the descendants that it had when it was ended.
        """
        launched = self.alive.get(pid)
        if launched is None:
            return
        left = self._strangers()
        if left:  # once they are dead, their environment does not show whose they were
            known |= {*self._orphans(known, pid)}
        reply = {"is_all_gone": False, "is_scratch_kept": False}
        with contextlib.suppress(VoidMatchError):
            reply = self._ask(launched.spec, {"ended": pid, "has_left": left is None or bool(left)})
        if reply["is_scratch_kept"]:
            self._servers[launched.spec["is_warm"]].spare_scratch.append(launched.spec["scratch"])
        if launched.ruleset is not None:
            launched.ruleset.give_back(is_all_gone=reply["is_all_gone"])
        del self.alive[pid]
        if launched.user is not None:
            release_uid(launched.user)
        if left is None or left:
            self.reap_orphans(known, pid)

    def reap_orphans(self, known: set[int], session: int) -> None:
        """Kill and reap the orphans of bots that this process has adopted; bots that are alive are left alone.

        Args:
            known: the descendants that a bot had when it was ended.
            session: the session of that bot.
        """
        deadline = time.monotonic() + REAP_SECONDS
        # the death of an orphan may make its own children ours
        while (orphans := self._orphans(known, session)) and time.monotonic() < deadline:
            for pid in orphans:  # all are stopped before the first is killed, or they could keep multiplying
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGSTOP)
            for pid in orphans:
                known |= {pid, *descendants(pid)}
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            # none is waited for: one may not end before others are reaped, or before a child that traces it is killed
            if not sum(map(reap_ended, orphans)):
                time.sleep(0.001)

    def _orphans(self, known: set[int], session: int) -> list[int]:
        strange = self._strangers()
        own_session = os.getsid(0) if strange else None
        orphans = []
        for pid in strange or ():
            with contextlib.suppress(OSError):
                its_session = os.getsid(pid)
                if its_session == session or (
                    its_session not in (own_session, *self.alive)
                    and (self.launches_only_bots or pid in known or _has_tag(pid))
                ):
                    orphans.append(pid)
        return orphans

    def _strangers(self) -> set[int] | None:
        """Return the children of this process but for bots and their servers; None where the system lists none.

        If there are none, reaped bots have left no process: this process adopts the orphans that a bot leaves.
        """
        listed = set(children(os.getpid()))
        return listed.difference(self.server_pids, self.alive) if self.pid in listed else None

    def _ask(
        self,
        spec: LaunchSpec,
        request: dict[str, Any],
        descriptors: Sequence[int] = (),
        user: LockedUid | None = None,
    ) -> dict[str, Any]:
        """Send a request to the server of a bot and return the reply; one that has died is replaced once."""
        for _ in range(2):
            server = self._servers[spec["is_warm"]]
            try:
                return server.exchange(request, descriptors, user)
            except OSError:
                self._replace(spec["is_warm"])
            if "launch" in request:
                self._end_unfinished(server.process.pid, spec, user)
        raise VoidMatchError("the fork server was killed twice in a row")

    def _replace(self, is_warm: bool) -> None:
        self._servers[is_warm].kill()
        self._servers[is_warm] = server = _Server(is_warm)
        for bot in self.alive.values():
            if bot.spec["is_warm"] == is_warm:
                with contextlib.suppress(OSError):
                    server.exchange({"adopt": outline_of(bot.spec), "pid": bot.pid}, (), bot.user)

    def _end_unfinished(self, dead_server: int, spec: LaunchSpec, user: LockedUid | None) -> None:
        """End what a fork server had begun to launch when it died, so that it can be launched again.

        Raises:
            VoidMatchError: if there was a process, which may have written into the pipes.
        """
        begun = set(self._orphans(set(), dead_server))
        self.reap_orphans(begun, dead_server)
        with contextlib.suppress(OSError):
            server = self._servers[spec["is_warm"]]
            server.exchange({"adopt": outline_of(spec), "pid": 0}, (), user)
            server.exchange({"ended": 0, "has_left": True})
            os.mkdir(spec["scratch"], 0o700)
        if begun:
            raise VoidMatchError("the fork server was killed while it launched a bot")

    def close(self) -> None:
        """End the fork servers, which end all bots that are left."""
        for server in self._servers.values():
            server.close()
        while self.alive:
            launched = self.alive.popitem()[1]
            if launched.user is not None:
                release_uid(launched.user)
            if launched.ruleset is not None:
                launched.ruleset.close()


class _Server:
    """A fork server; ``spare_scratch`` are the scratch directories that it keeps, which no other server has used."""

    def __init__(self, is_warm: bool) -> None:
        self.spare_scratch: list[str] = []
        self._sent: set[int] = set()
        self.socket, server_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):  # Python's own timeout polls before each call
            self.socket.setsockopt(socket.SOL_SOCKET, option, struct.pack("=2q", int(ANSWER_SECONDS), 0))
        program = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(package_directory().parent)]
        with server_end:
            self.process = subprocess.Popen(
                [arena_interpreter(), "-c", _WARM_PROGRAM] if is_warm else program,
                stdin=server_end.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/" if is_warm else None,
                env=_warm_environment() if is_warm else None,
            )

    def exchange(
        self, request: dict[str, Any], descriptors: Sequence[int] = (), user: LockedUid | None = None
    ) -> dict[str, Any]:
        """Send a request with descriptors and return the reply; of a launch that was sent before, send the number.

        Raises:
            OSError: if the server is dead, or does not answer.
        """
        if user is not None:
            request = request | {"uid": user.uid}
            descriptors = [*descriptors, user.lock.fileno()]
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        number = request["launch"].get("number") if "launch" in request else None
        self.socket.sendmsg([_message({**request, "launch": number} if number in self._sent else request)], rights)
        if number and number not in self._sent:
            if len(self._sent) == MAX_KNOWN_LAUNCHES:
                self._sent.clear()
            self._sent.add(number)
        reply = self.socket.recv(1 << 16)
        if not reply:
            raise ConnectionError("the fork server has exited")
        answer: dict[str, Any] = json.loads(reply)
        return answer

    def kill(self) -> None:
        """Kill the server; its bots live on."""
        self.process.kill()
        self.close()

    def close(self) -> None:
        """End the server, which ends its bots and removes what it keeps, and wait for it."""
        self.socket.close()
        self.process.send_signal(signal.SIGCONT)  # one that was stopped could not end them
        self.process.wait()
        for path in self.spare_scratch:  # if it was killed
            remove_tree(path)


def _warm_environment() -> dict[str, str]:
    """Return the environment of a warm server: what its Python reads when it starts, and room for that of a bot."""
    variables = ("LANG", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUSERBASE")
    environment = clean_environment("/")
    return {name: environment[name] for name in variables if name in environment} | {ROOM_VARIABLE: " " * ROOM_BYTES}


def _message(request: dict[str, Any]) -> bytes:
    message = json.dumps(request).encode()
    if "launch" in request and len(message) > MAX_SPEC_BYTES:
        raise BotError(FaultKind.START, _TOO_MANY_FILES.format(request["launch"]["directory"]))
    return message


def _pid_of(reply: dict[str, Any], calls: CallList | None = None) -> int:
    """Return the pid in the reply to a launch.

    Raises:
        StepError: if it says that a step has failed, by the results of ``calls`` or by name.
    """
    if "failed" in reply:
        failed = reply["failed"]
        if calls is not None and reply["results"]:
            calls.check(reply["results"], reply["pid"])
        raise StepError(failed["step"], failed["errno"], failed["subject"], reply["pid"])
    return int(reply["pid"])


def _failure(report: dict[str, Any]) -> BotError | VoidMatchError:
    """Return the error of a failed launch: the bot's fault if its program can't be executed, otherwise ours."""
    step, number, subject = report["step"], report["errno"], report["subject"]
    reason = os.strerror(number) if number else "it failed"
    if step == "exec" and number not in OUR_ERRNOS:
        return BotError(FaultKind.START, f"{subject} can't be executed: {reason}")
    reason += "; each bot has a /dev/shm of its own: keep bots and $TMPDIR elsewhere" * subject.startswith("/dev/shm/")
    return VoidMatchError(f"no bot can be launched: {step}{f' {subject}' if subject else ''}: {reason}")


def _has_tag(pid: int) -> bool:
    return any(setting.startswith(f"{TAG_VARIABLE}=".encode()) for setting in environment(pid))
