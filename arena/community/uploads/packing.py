"""Packs a bot to be handed in: the same files give the same bytes, so that the same bot is the same submission."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from arena.base.errors import BotDefinitionError
from arena.base.shipped import bot_path
from arena.match.players.bot_files import SUBMITTED, bot_files, open_at_once, read_file
from arena.match.players.manifest import load_bot


@dataclass(frozen=True, slots=True)
class PackedBot:
    """A file to submit, open at its beginning; the ending of its name tells its format."""

    file: BinaryIO
    name: str
    size_bytes: int


@contextlib.contextmanager
def packed(path: str | os.PathLike[str]) -> Iterator[PackedBot]:
    """Give a file or an archive as it is, and a bot's directory or ``arena:NAME`` as an archive.

    Raises:
        BotDefinitionError: if there is no bot, or it has files that can't be submitted.
    """
    place = Path(bot_path(path))
    if place.is_dir():
        with tempfile.TemporaryFile() as archive:
            _pack(place, archive)
            size_bytes = archive.tell()
            archive.seek(0)
            yield PackedBot(archive, f"{place.resolve().name}.tar.gz", size_bytes)
        return
    try:
        file = open(place, "rb", opener=open_at_once)  # noqa: SIM115 - closed below
    except OSError as error:
        raise BotDefinitionError(f"bot {str(path)!r}: can't be read: {error.strerror}") from error
    with file:
        yield PackedBot(file, place.name, os.fstat(file.fileno()).st_size)


def _pack(directory: Path, archive: BinaryIO) -> None:
    bot = load_bot(directory, bounds=SUBMITTED)
    with (
        gzip.GzipFile("", "wb", fileobj=archive, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in sorted(bot_files(directory, bool(bot.build), SUBMITTED), key=lambda one: one.name):
            entry = tarfile.TarInfo(file.name)
            data = read_file(file)
            entry.size = len(data)
            entry.mode = 0o755 if file.is_executable else 0o644
            tar.addfile(entry, io.BytesIO(data))
