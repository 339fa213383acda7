"""A buffer for a bot's stderr that keeps the first and the last part."""

from __future__ import annotations

HALF_BYTES = 32 * 1024


class HeadTailBuffer:
    """Keeps the first and the last 32 KiB of what is added.

    Attributes:
        total_bytes: how much has been added since ``take``.
    """

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
