"""What a bot printed and sent: what an author reads of a traceback, what a record keeps, and the last messages."""

from __future__ import annotations

import enum
import os
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from arena.base.records import Bot
from arena.base.shipped import package_directory
from arena.protocol.frames import HEADER_BYTES

STARVED = "of that for the processor"
"""The words in the detail of a missed deadline that mean: the bot was ready to run, and did not."""
UNASKED, TOO_LONG = "a message came before it was asked for", "bytes follow the answer"
"""The words in the detail of what a bot has sent without a question."""

_ARENA = str(package_directory()) + os.sep


_ERROR = re.compile(
    r'(?:Exception in thread "[^"]*" |Caused by: |Uncaught )?'
    r"([A-Za-z_][\w.$]*(?:Error|Exception|Interrupt|Exit|Warning))(?: \[\w+\])?(?::\s*(.*))?$"
)
_OTHER_FRAME = re.compile(r"(?:^|[\s(])(?:file://)?((?:[^\s():]*/)?[^\s():/]+\.(?:[mc]?js|java)):(\d+)")
"""A frame of Node or Java; the innermost comes first, and Java names the module before the file of its library."""


def last_error(stderr: str) -> tuple[str, str]:
    """Return the name and text of the last exception that Python, Node or Java printed; empty without one."""
    for line in reversed(stderr.splitlines()):
        match = _ERROR.match(line)
        if match:
            return match[1].rpartition(".")[2], match[2] or ""
    return "", ""


def last_own_line(stderr: str, bot: Bot) -> str:
    """Return the last line of the author's own files in the traceback, as "bot.py, line 7"."""
    frames = re.findall(r'^\s*File "([^"]+)", line (\d+)', stderr, re.MULTILINE)
    own_frames = [(path, line) for path, line in frames if _is_own(path, bot)]
    if not own_frames:
        lines = [line for line in stderr.splitlines() if not re.search(r"\bat (?:java\.|jdk\.|javax\.|node:)", line)]
        own_frames = [(at[1], at[2]) for line in lines if (at := _OTHER_FRAME.search(line)) and _is_own(at[1], bot)][:1]
    return f"{Path(own_frames[-1][0]).name}, line {own_frames[-1][1]}" if own_frames else ""


def line_in(location: str, stderr: str, bot: Bot) -> str:
    """Return the last line of a file, or of a directory's files, that the bot's own code has called; empty if none."""
    frames = re.findall(r'^\s*File "([^"]+)", line (\d+)', stderr, re.MULTILINE)
    for path, line in reversed(frames):
        if path == location or path.startswith(f"{location}/"):
            return f"{Path(path).name}, line {line}"
        if _is_own(path, bot):
            break
    return ""


def _is_own(path: str, bot: Bot) -> bool:
    is_relative = not path.startswith(("/", "<")) and path.endswith((".py", "js", ".java"))
    is_inside = is_relative or path.startswith(f"{bot.directory.rstrip('/')}/")
    is_ours = path.startswith(_ARENA) and not f"{bot.directory}/".startswith(_ARENA)
    return is_inside and not is_ours and "/site-packages/" not in path


def own_traceback(stderr: str, bot: Bot) -> list[str]:
    """Return the lines of stderr, without those frames of tracebacks that are not in the author's own files.

    If there is no frame of the author's, all stay.
    """
    lines: list[str] = []
    is_any_own = any(_is_own(path, bot) for path in re.findall(r'^\s+File "([^"]+)", line', stderr, re.MULTILINE))
    is_in_frame = is_shown = False
    for line in stderr.splitlines():
        match = re.match(r'\s+File "([^"]+)", line \d+(, in )?', line)
        if match:
            is_in_frame, is_shown = bool(match[2]), not is_any_own or _is_own(match[1], bot)
        elif not line.startswith("    "):
            is_in_frame, is_shown = False, True
        is_mark = is_in_frame and not line.strip(" ^~")  # below a line that may be broken in another place
        if is_shown and not is_mark:
            lines.append(line)
    return lines


# What of a bot's text a record keeps: less where nothing went wrong, and no path of this machine.

FAULTLESS_BYTES = 4096
"""The most of stderr that is kept in a match without a fault: half from its beginning, half from its end."""

GAP = "\n[...]\n"
"""The mark between the beginning and the end of what was kept."""

_SYSTEM = {"/", "/usr", "/usr/local"}
_BOTS = "bots"
"""The directory of submitted bots in a home."""

_END = r"(?![\w-]|\.\w)"
"""The end of a path: ``/opt/python3`` is not in ``/opt/python``."""


def shortened_stderr(text: str) -> str:
    """Return what is kept of stderr if the match has no fault."""
    data, half = text.encode(errors="replace"), FAULTLESS_BYTES // 2
    if len(data) <= FAULTLESS_BYTES:
        return text
    return data[:half].decode(errors="ignore") + GAP + data[-half:].decode(errors="ignore")


class HiddenPaths:
    """The paths of bots and the arena on this machine, which records that others read must not show."""

    def __init__(self, bots: Iterable[Bot]) -> None:
        """Note the paths of the bots of a match, and the name that replaces each."""
        names = dict(_hidden_paths(bots))
        self._names_of_paths = sorted(names.items(), key=lambda pair: -len(pair[0]))

    def removed(self, text: str) -> str:
        """Return a text with paths as a reader elsewhere can use them: ``x.py`` for ``/home/me/bots/ab12/x.py``."""
        for path, name in self._names_of_paths:
            pattern = re.escape(path) + _END
            text = re.sub(pattern + "/", f"{name}/" if name else "", text)
            text = re.sub(pattern, name or ".", text)
        head, gap, tail = text.partition(GAP)
        return self._without_beginning(head) + gap + self._without_end(tail) if gap else text

    def _without_beginning(self, head: str) -> str:
        """Return a text without the beginning of a path at its end, where the middle was cut out."""
        ends = [path[:size] for path, _ in self._names_of_paths for size in range(len(path), 1, -1)]
        return head.removesuffix(max(filter(head.endswith, ends), key=len, default=""))

    def _without_end(self, tail: str) -> str:
        """Return a text without the rest of a path at its beginning."""
        rests = [f"{path}/"[start:] for path, _ in self._names_of_paths for start in range(1, len(path))]
        return tail.removeprefix(max(filter(tail.startswith, rests), key=len, default=""))


def _hidden_paths(bots: Iterable[Bot]) -> Iterator[tuple[str, str]]:
    if sys.prefix not in _SYSTEM:
        yield sys.prefix.rstrip("/"), "<python>"
    yield str(package_directory()), "<arena>"
    for bot in bots:
        directory = Path(bot.directory)
        if not directory.is_absolute() or str(directory) in _SYSTEM:
            continue
        if directory.parent.name == _BOTS and str(directory.parents[1]) not in _SYSTEM:
            yield str(directory.parents[1]), "<home>"
        yield str(directory), ""


HALF_BYTES = 32 * 1024


class HeadTailBuffer:
    """Keeps the first and the last 32 KiB of what is added."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self.total_bytes = 0

    def add(self, chunk: bytes) -> None:
        """Add bytes."""
        self.total_bytes += len(chunk)
        room = HALF_BYTES - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:] if room > 0 else chunk
        del self._tail[:-HALF_BYTES]

    def last_bytes(self) -> bytes:
        """Return the last part."""
        return bytes(self._tail or self._head)

    def take(self) -> str:
        """Return both parts as text, and empty the buffer."""
        if not self.total_bytes:
            return ""
        gap = GAP.encode() if self.total_bytes > 2 * HALF_BYTES else b""
        text = bytes(self._head + gap + self._tail).decode(errors="replace")
        self._head.clear()
        self._tail.clear()
        self.total_bytes = 0
        return text


MAX_FRAMES = 32
MAX_BYTES = 1 << 20


class Entry(enum.Enum):
    """What an entry of a transcript is."""

    QUESTION = "a frame to the bot that is to be answered"
    NOTICE = "a frame to the bot that has no answer"
    ANSWER = "the body of a frame from the bot"
    FRAGMENT = "bytes from the bot that are no whole frame"


_SENT = (Entry.QUESTION, Entry.NOTICE)


class TranscriptFrame(NamedTuple):
    """One frame of a conversation, header included, or a fragment of one; the arena or the bot sent it."""

    is_sent: bool
    data: bytes


class Exchange(NamedTuple):
    """The last question, as a frame (empty if nothing has been asked), and the bytes that have come since."""

    sent: bytes = b""
    received: bytes = b""


class Transcript:
    """Keeps the last frames of a conversation.

    A turn adds to it twice, so adding costs no more than an append; ``shrink``, which holds the bound of bytes, is
    called with every sample of the bot.
    """

    def __init__(self, keeps_sent: bool = False) -> None:
        """Begin; with ``keeps_sent`` all that the arena has sent is kept, however much: a bot can't make it large."""
        self._keeps_sent = keeps_sent
        self._entries: deque[tuple[Entry, bytes]] = deque(maxlen=None if keeps_sent else MAX_FRAMES)
        self.add = self._entries.append

    def shrink(self) -> None:
        """Remove the oldest frames before the last exchange as long as all together take too many bytes."""
        excess_bytes = sum(map(len, map(itemgetter(1), self._entries))) - MAX_BYTES
        if excess_bytes <= 0:
            return
        remaining = []
        last_question = self._last_question()
        for index, (entry, data) in enumerate(self._entries):
            is_kept = excess_bytes <= 0 or index >= last_question or (self._keeps_sent and entry in _SENT)
            if is_kept:
                remaining.append((entry, data))
            else:
                excess_bytes -= len(data)
        self._entries.clear()
        self._entries.extend(remaining)

    def frames(self) -> list[TranscriptFrame]:
        """Return what is kept, in order."""
        return [TranscriptFrame(entry in _SENT, _with_header(entry, data)) for entry, data in self._entries]

    def before_last_exchange(self) -> list[TranscriptFrame]:
        """Return what is kept from before the last question."""
        return self.frames()[: self._last_question()]

    def last_exchange(self) -> Exchange:
        """Return the last question and what came back."""
        since = self.frames()[self._last_question() :]
        if not since:
            return Exchange()
        return Exchange(since[0].data, b"".join(frame.data for frame in since if not frame.is_sent))

    def _last_question(self) -> int:
        questions = (index for index, (entry, _) in enumerate(self._entries) if entry is Entry.QUESTION)
        return max(questions, default=len(self._entries))


def _with_header(entry: Entry, data: bytes) -> bytes:
    return len(data).to_bytes(HEADER_BYTES, "big") + data if entry is Entry.ANSWER else data
