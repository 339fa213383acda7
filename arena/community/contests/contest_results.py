"""The signed result of a contest: its tournaments as a published folder in a zip; equal records give equal bytes."""

from __future__ import annotations

import contextlib
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from arena.base.version import __version__
from arena.community.contests.contest_places import result_path
from arena.site.publish.publishing import publish
from arena.site.publish.signature import signing_key
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament

MATCH_PAGES = 200
"""Of each tournament; the records are complete."""

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)


def version_of(path: Path) -> str:
    """Return of which records a result is; "" without one."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment.decode("utf-8", "replace")
    except (OSError, zipfile.BadZipFile):
        return ""


def current_version(tournaments: Sequence[StoredTournament]) -> str:
    """Return the version of a result of these tournaments as they are now."""
    states = (f"{one.name} {one.recorded} {one.finished_at} {len(one.corrections)}" for one in tournaments)
    return "; ".join((f"arena {__version__}", "without what bots wrote", *states))


def make_result(home: ArenaHome, contest: str, tournaments: Sequence[StoredTournament]) -> Path:
    """Write the result of a contest, all at once; raise UsageError if it can't be written."""
    path = result_path(home.directory, contest)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="arena-result-") as directory:
        folder, packed = Path(directory, "folder"), path.with_suffix(".new")
        names = [one.name for one in tournaments]
        publish(home, names, folder, max_matches=MATCH_PAGES, key=signing_key(home.directory))
        with contextlib.suppress(FileNotFoundError):
            packed.unlink()
        _pack(folder, packed, contest, current_version(tournaments))
        packed.replace(path)
    return path


def _pack(folder: Path, path: Path, contest: str, version: str) -> None:
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = version.encode()
        for file in sorted(one for one in folder.rglob("*") if one.is_file()):
            entry = zipfile.ZipInfo(f"{contest}/{file.relative_to(folder).as_posix()}", _FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with file.open("rb") as source, archive.open(entry, "w") as target:
                while piece := source.read(1 << 20):
                    target.write(piece)
