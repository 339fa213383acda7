"""What is kept of a conversation with a bot: its last messages, and the ends of its stderr."""

from __future__ import annotations

import enum
from collections import deque
from operator import itemgetter
from typing import NamedTuple

from arena.protocol.frames import HEADER_BYTES

# A buffer for a bot's stderr that keeps the first and the last part.

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
        gap = b"\n[...]\n" if self.total_bytes > 2 * HALF_BYTES else b""
        text = bytes(self._head + gap + self._tail).decode(errors="replace")
        self._head.clear()
        self._tail.clear()
        self.total_bytes = 0
        return text


# The last messages of a conversation, kept to be shown when it goes wrong.

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
    called once a match and with every sample of the bot.
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
        kept = []
        last_question = self._last_question()
        for index, (entry, data) in enumerate(self._entries):
            is_kept = excess_bytes <= 0 or index >= last_question or (self._keeps_sent and entry in _SENT)
            if is_kept:
                kept.append((entry, data))
            else:
                excess_bytes -= len(data)
        self._entries.clear()
        self._entries.extend(kept)

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
