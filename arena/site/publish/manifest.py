"""The manifest of a published folder: every file of it with its size and digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.base.errors import UsageError
from arena.base.text import size_text
from arena.base.version import __version__

MANIFEST = "manifest.json"
FORM = 1
MAX_MANIFEST_BYTES = 64 * 2**20
"""Half a million files; reading them takes ten times as much memory."""

Count = Annotated[int, Ge(0), Le(2**53)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FileEntry(_Part):
    """A file.

    Attributes:
        bytes: its size.
        sha256: its digest.
    """

    bytes: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class PublishedTournament(_Part):
    """A tournament in the folder.

    Attributes:
        name: its name.
        records: the file with all that is stored of it, as ``arena export --whole`` prints it.
    """

    name: str
    records: str


class Manifest(_Part):
    """What a folder has.

    Attributes:
        arena_folder: the version of the form of the folder.
        arena: the version of the arena that has made it.
        max_matches: how many matches of each tournament have a page, at most; None for all.
        tournaments: in the order of their begin.
        files: by path, without the manifest itself.
    """

    arena_folder: int
    arena: str
    max_matches: Count | None
    tournaments: tuple[PublishedTournament, ...]
    files: Mapping[str, FileEntry]

    @property
    def is_of_this_version(self) -> bool:
        """Whether this version of the arena has made the folder."""
        return self.arena == __version__


def read_manifest(data: bytes, where: str) -> Manifest:
    """Read a manifest that may have been made to do harm.

    Args:
        data: the file, not longer than ``MAX_MANIFEST_BYTES``.
        where: the file, for messages.

    Raises:
        UsageError: if it is not the manifest of a published folder.
    """
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:80]
        raise UsageError(f"{where}: this is not the manifest of a published folder: {place}: {first['msg']}") from error
    if len({one.records for one in manifest.tournaments}) != len(manifest.tournaments):
        raise UsageError(
            f"{where}: this is not the manifest of a published folder: two tournaments have the same records"
        )
    if manifest.arena_folder != FORM:
        raise UsageError(
            f"{where}: arena_folder = {manifest.arena_folder}: this arena reads version {FORM}; a newer arena is needed"
        )
    return manifest


def require_size(size_bytes: int, where: str) -> None:
    """Raise UsageError if a manifest is too long to be read."""
    if size_bytes > MAX_MANIFEST_BYTES:
        raise UsageError(f"{where}: it is longer than {size_text(MAX_MANIFEST_BYTES)}")


def head_of(manifest: Manifest) -> str:
    """Return the text of a manifest up to its files."""
    head = manifest.model_dump(mode="json", exclude={"files"})
    return json.dumps(head, indent=1)[:-2] + ',\n "files": {'


def line_of(path: str, entry: FileEntry) -> str:
    """Return the text of a file in a manifest."""
    return f"\n  {json.dumps(path)}: {json.dumps(entry.model_dump())}"


END = "\n }\n}\n"
