"""A bot on the command line that may be an archive: unpacked for as long as it is needed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from arena.base.errors import BotDefinitionError
from arena.base.text import size_text
from arena.community.uploads.unpacking import unpack
from arena.community.uploads.upload_format import format_by_name
from arena.sandbox.isolation.launcher_client import open_launcher
from arena.sandbox.isolation.process_tag import process_tag
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.stale_cleanup import UPLOAD_PREFIX


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of an archive, by its name; a directory may have such a name too."""
    return format_by_name(os.fspath(path)) is not None and Path(path).is_file()


@contextlib.contextmanager
def opened_bot(
    path: str | os.PathLike[str], listener: Callable[[str], None] = lambda text: None
) -> Iterator[str | os.PathLike[str]]:
    """Give the path of a bot: the same one, or for an archive that of the bot in it, which is removed at the end.

    Args:
        path: a bot, in any form, or an archive.
        listener: called with a sentence about what was unpacked.

    Raises:
        UploadError: if an archive is not accepted.
    """
    if not is_archive(path):
        yield path
        return
    with unpacking_place() as place:
        tree = place / "tree"
        unpacked = unpack(Path(path), tree)
        listener(f"{path}: {unpacked.entries:,} files and directories, {size_text(unpacked.size_bytes)}")
        try:
            yield unpacked.bot
        except BotDefinitionError as error:
            raise BotDefinitionError(str(error).replace(str(tree), os.fspath(path))) from error


@contextlib.contextmanager
def unpacking_place() -> Iterator[Path]:
    """Give a new directory, removed at the end; if this process is killed, by the next that launches bots."""
    open_launcher()  # which removes what killed processes have left
    place = Path(os.path.realpath(tempfile.mkdtemp(prefix=f"{UPLOAD_PREFIX}{process_tag()}-")))
    try:
        yield place
    finally:
        remove_tree(str(place))
