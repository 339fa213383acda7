"""How much may be in an upload, and what is counted while it is read: nothing that an upload says of itself is."""

from __future__ import annotations

from dataclasses import dataclass

from arena.base.records import MEBIBYTE
from arena.base.text import size_text


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackLimits:
    """How much may be in an upload, and how long unpacking it may take.

    Attributes:
        upload_bytes: of the upload itself.
        entries: files and directories, with those that are only named in paths.
        file_bytes: of each file.
        total_bytes: of all files together; of a compressed tar, of what it is compressed from.
        ratio: by how much the total may exceed the upload, beyond ``FREE_BYTES``.
        depth: directories inside each other.
        path_bytes: of a path, in UTF-8.
        name_bytes: of each name in it.
        cpu_seconds: of the process that unpacks.
        wall_seconds: until it is ended; more than the CPU time, since the machine may be busy.
    """

    upload_bytes: int = 64 * MEBIBYTE
    entries: int = 2000
    file_bytes: int = 64 * MEBIBYTE
    total_bytes: int = 128 * MEBIBYTE
    ratio: int = 100
    depth: int = 16
    path_bytes: int = 500
    name_bytes: int = 150
    cpu_seconds: int = 2
    wall_seconds: float = 20.0


DEFAULT_LIMITS = UnpackLimits()

FREE_BYTES = 4 * MEBIBYTE
"""This much may be unpacked from any upload, however small: tables and empty boards shrink to nearly nothing."""


class RefusedError(Exception):
    """An upload is not accepted. Its text follows the name of the upload in a sentence."""


class Budget:
    """Counts the bytes that come out of an upload.

    Args:
        limits: what may come out.
        upload_bytes: the size of the upload.
    """

    def __init__(self, limits: UnpackLimits, upload_bytes: int) -> None:
        self._limits = limits
        self._allowed_by_ratio = FREE_BYTES + limits.ratio * upload_bytes
        self._spent = 0

    def spend(self, count: int) -> None:
        """Count bytes, or raise RefusedError."""
        self._spent += count
        self.check(self._spent)

    def check(self, total: int) -> None:
        """Raise RefusedError if a total, claimed or counted, is too much."""
        limits = self._limits
        if total > limits.total_bytes:
            raise RefusedError(f"it unpacks to more than {size_text(limits.total_bytes)}; expected no more than that")
        if total > self._allowed_by_ratio:
            raise RefusedError(
                f"it unpacks to more than {limits.ratio} times its size; expected no more than that beyond"
                f" {FREE_BYTES // MEBIBYTE} MiB"
            )
