"""The process of a fork server, as the arena's process sees it, and launching bots without asking one."""

from __future__ import annotations

import array
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from arena.base.enums import FaultKind
from arena.base.errors import BotError
from arena.base.shipped import package_directory
from arena.sandbox.isolation import fork_server
from arena.sandbox.isolation.bot_uids import LockedUid
from arena.sandbox.isolation.call_list import can_close_files
from arena.sandbox.isolation.fork_server import MAX_KNOWN_LAUNCHES, RunningBot, start_bot
from arena.sandbox.isolation.interpreters import arena_interpreter
from arena.sandbox.isolation.launch_spec import ROOM_BYTES, ROOM_VARIABLE, LaunchOutline, LaunchSpec
from arena.sandbox.isolation.ledger import Ledger
from arena.sandbox.isolation.procfs import note_session
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.sandbox_policy import clean_environment

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


class Server:
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


class LocalServer(Server):
    """Launches bots and cleans up after them in this process; the fork server does so if this process dies.

    Each request to another process costs as much as the rest of a launch in Python. A launch by machine code touches
    nothing of this process but the list of calls, however large it is (``arena.sandbox.isolation.call_list``).
    """

    def __init__(self, ledger: Ledger, running: dict[int, RunningBot]) -> None:
        """Start the fork server; ``ledger`` and ``running`` are of the one in whose place it comes."""
        super().__init__(is_warm=False)
        self._ledger = ledger
        self._running = running
        super().exchange({"ledger": True}, [ledger.file])
        ledger.keep_only(self._scratch_in_use())
        for bot in running.values():
            self._hold(ledger.slots[bot.outline["scratch"]].number, bot.user)

    def exchange(
        self, request: dict[str, Any], descriptors: Sequence[int] = (), user: LockedUid | None = None
    ) -> dict[str, Any]:
        """Carry out a request here, or send it if it is about what a fork server has launched.

        Raises:
            OSError: if the server is dead, or does not answer.
        """
        if "launch" in request:
            return self._launch(request["launch"], [*descriptors], user)
        if "ended" in request and (running := self._running.get(request["ended"])) is not None:
            return self._end(request, running.outline)
        if "adopt" in request and request["pid"] in self._running:
            return {}  # the ledger has it
        return super().exchange(request, descriptors, user)

    def _launch(self, spec: LaunchSpec, descriptors: list[int], user: LockedUid | None) -> dict[str, Any]:
        if self.process.poll() is not None:
            raise ConnectionError("the fork server has exited")
        slot = self._slot_for(spec, user)
        fork_server.remove_lingering(0.0)
        pid_at = self._ledger.pid_at(slot)
        reply = fork_server.handle_request(
            {"launch": spec}, descriptors, self._running, lambda spec, files, _: start_bot(spec, files, user, pid_at)
        )
        if "failed" in reply:
            self._note_end(spec, is_slot_kept=False)
        elif spec["needs_note"]:
            note_session(spec["scratch"], reply["pid"])
        return reply

    def _slot_for(self, spec: LaunchSpec, user: LockedUid | None) -> int:
        """Return the slot that says how to end a launch, once the fork server could end it."""
        uid = user and user.uid
        slot = self._ledger.slot_of(spec, uid)
        if slot is None:
            _message({"launch": spec})
            self._ledger.keep_only(self._scratch_in_use())
            slot = self._ledger.write(spec, uid)
            self._hold(slot, user)
        return slot

    def _scratch_in_use(self) -> set[str]:
        running = {bot.outline["scratch"] for bot in self._running.values()}
        return running | {*self.spare_scratch} | fork_server.lingering_scratch()

    def _hold(self, slot: int, user: LockedUid | None) -> None:
        """Let the fork server hold the uid of a bot, too."""
        if user is not None:
            super().exchange({"slot": slot}, (), user)

    def _end(self, request: dict[str, Any], outline: LaunchOutline) -> dict[str, Any]:
        fork_server.remove_lingering(0.0)
        reply = fork_server.handle_request(request, [], self._running, start_bot)
        self._note_end(outline, is_slot_kept=reply.get("is_scratch_kept", False))
        return reply

    def _note_end(self, outline: LaunchOutline, *, is_slot_kept: bool) -> None:
        """Note the end of a bot; its slot is kept for the next bot, or because something of it is left."""
        self._ledger.note_end(outline["scratch"])
        if is_slot_kept or outline["scratch"] in fork_server.lingering_scratch():
            return
        slot = self._ledger.free(outline["scratch"])
        if outline["other_uid"]:
            with contextlib.suppress(OSError):  # if it has died, its successor holds what is in the ledger then
                super().exchange({"slot": slot})

    def close(self) -> None:
        """End the server, and keep nothing for later bots."""
        fork_server.drop_spare_scratch(self.spare_scratch)
        super().close()


def launches_locally() -> bool:
    """Return whether this process can launch bots itself: by machine code, and with its standard files open."""
    try:
        return can_close_files() and all(os.fstat(descriptor) for descriptor in range(3))
    except OSError:
        return False


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
