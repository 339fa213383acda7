"""Publishing: from tournaments to a folder.

The tournaments are copied into a home of their own first, and every page is made from it: the leaderboards count what
is in the folder, nothing else of the home can be in any page, and whoever imports the folder's records can make the
same pages from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.base.bot_text import EVERYBODY, Audience
from arena.base.errors import StoreError, UsageError
from arena.base.version import __version__
from arena.site.frame.model import Frozen
from arena.site.publish.folder import Folder
from arena.site.publish.folder_writer import new_folder
from arena.site.publish.manifest import FORM, Manifest, PublishedTournament
from arena.site.publish.signature import SigningKey
from arena.store.home import ArenaHome
from arena.tournament.transfer.new_tournament import copy_tournaments, temporary_home

Progress = Callable[[int], None]
"""Is called with how many pages there are so far."""


class Published(NamedTuple):
    """What was written.

    Attributes:
        tournaments: their names, in the order of their begin.
        files: how many.
        size_bytes: their size together.
        pages: how many of the files are pages.
    """

    tournaments: tuple[str, ...]
    files: int
    size_bytes: int
    pages: int


def publish(
    home: ArenaHome,
    names: Sequence[str],
    out: Path,
    *,
    max_matches: int | None = None,
    audience: Audience = EVERYBODY,
    key: SigningKey | None = None,
    frozen: Callable[[str], Frozen | None] = lambda _: None,
    progress: Progress = lambda pages: None,
) -> Published:
    """Write tournaments as a folder of pages; the same tournaments always give the same bytes.

    Args:
        home: where they are.
        names: of the tournaments, in any order; none for all.
        out: the folder.
        max_matches: how many matches of each tournament have a page, at most; None for all.
        audience: what of bots' words it may not read is left out.
        key: what the manifest is signed with; None for no signature.
        frozen: returns what pages say of a tournament whose results are hidden.
        progress: is called now and then.

    Raises:
        UsageError: if something else is in the folder's place, or it can't be written.
        UnknownNameError: if there is no such tournament.
    """
    chosen = [home.store.tournament(name) for name in dict.fromkeys(names)] if names else home.store.tournaments()
    if not chosen:
        raise StoreError("there is no tournament yet; begin one with: arena run FILE")
    _require_outside(home, out)
    with temporary_home() as copy:
        ordered = sorted(chosen, key=lambda one: (one.created_at, one.name))
        copy_tournaments(home.store, ordered, copy.store, audience)
        hidden = {one.name: Frozen(sentence=found.sentence) for one in ordered if (found := frozen(one.name))}
        folder = Folder(copy, max_matches, {name: said for name, said in hidden.items() if said.sentence})
        published = tuple(
            PublishedTournament(name=one.name, records=folder.contents.records(one.name)) for one in folder.tournaments
        )
        manifest = Manifest(
            arena_folder=FORM, arena=__version__, max_matches=max_matches, tournaments=published, files={}
        )
        with new_folder(out, manifest, key) as writer:
            pages = 0
            for path, content in folder.assets():
                writer.write(path, [content])
            for path, lines in folder.records():
                writer.write(path, lines)
            for pages, page in enumerate(folder.pages(), 1):
                for path, content in folder.files(page):
                    writer.write(path, [content])
                progress(pages)
        return Published(tuple(one.name for one in published), writer.files, writer.size_bytes, pages)


def _require_outside(home: ArenaHome, out: Path) -> None:
    """Raise UsageError if the folder would have the home, or be in it."""
    place = out.absolute()
    if place.is_relative_to(home.directory) or home.directory.is_relative_to(place):
        raise UsageError(f"OUT {str(out)!r}: expected a place outside of the arena's home, {str(home.directory)!r}")
