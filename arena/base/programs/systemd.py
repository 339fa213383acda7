"""Sockets and credentials that systemd passes to a service; readiness, watchdog and journal lines that it receives."""

from __future__ import annotations

import contextlib
import os
import socket

from arena.base.errors import UsageError, failing_as

FIRST_DESCRIPTOR = 3
VARIABLES = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")
CREDENTIALS_VARIABLE = "CREDENTIALS_DIRECTORY"
"""Where the files with the credentials of a service are, for its own processes alone; bots are not given it."""
MAX_CREDENTIAL_BYTES = 4096


def take_inherited_socket() -> socket.socket | None:
    """Return the socket that the service manager listens on for this process; None if it was started otherwise.

    The variables that say so leave the environment, for they do not concern the processes that this one starts.

    Raises:
        UsageError: if it is not one TCP socket.
    """
    values = [os.environ.pop(name, "") for name in VARIABLES]
    process, count, _ = values
    if process != str(os.getpid()):
        return None
    if count != "1":
        raise UsageError(f"LISTEN_FDS = {count!r}: expected 1 socket; name one address in the socket unit")
    with failing_as(UsageError, f"LISTEN_FDS = {count!r}: descriptor 3 is no socket"):
        listening = socket.socket(fileno=FIRST_DESCRIPTOR)
        is_listening = listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    if listening.family not in (socket.AF_INET, socket.AF_INET6) or not is_listening:
        listening.close()
        raise UsageError("descriptor 3: expected a TCP socket that listens, as ListenStream=127.0.0.1:8000 makes it")
    listening.set_inheritable(False)
    listening.setblocking(False)
    return listening


def credential(name: str) -> str:
    """Return a credential in one line that the service manager gives to this service; "" without one.

    Raises:
        UsageError: if it can't be read, or is no text in one line. The sentence has nothing of it.
    """
    directory = os.environ.get(CREDENTIALS_VARIABLE)
    if not directory:
        return ""
    try:
        with open(os.path.join(directory, name), "rb") as file:  # noqa: PTH118, PTH123 - pathlib takes long to import
            data = file.read(MAX_CREDENTIAL_BYTES + 1)
        text = data.decode().strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise UsageError(f"credential {name}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError:
        text = "\0"
    if len(text) > MAX_CREDENTIAL_BYTES or not text.isprintable():
        raise UsageError(f"credential {name}: expected one line of text, of at most {MAX_CREDENTIAL_BYTES} bytes")
    return text


def notify(state: str) -> None:
    """Send a line to the service manager, such as ``READY=1``, without waiting; without a manager nothing happens."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.connect(f"\0{address[1:]}" if address.startswith("@") else address)
        sender.send(state.encode())


def is_journal(descriptor: int) -> bool:
    """Return whether lines that are written to a descriptor go to the journal, which reads a priority from each."""
    try:
        file = os.fstat(descriptor)
    except OSError:
        return False
    return os.environ.get("JOURNAL_STREAM", "") == f"{file.st_dev}:{file.st_ino}"


def watchdog_seconds() -> float | None:
    """Return the longest interval between two ``WATCHDOG=1`` that the service manager accepts; None without one."""
    text, process = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", str(os.getpid()))
    if not (text.isascii() and text.isdecimal()) or len(text) > 15 or int(text) == 0 or process != str(os.getpid()):
        return None
    return int(text) / 1e6
