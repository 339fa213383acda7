"""Publishing: from tournaments to the pages of a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from arena.analysis.text.match_view import MatchChoice
from arena.base.bot_text import EVERYBODY, Audience
from arena.base.errors import StoreError, UsageError
from arena.base.known_server import left_out_key_of
from arena.base.version import __version__
from arena.site.frame.model import Frozen, Model, ModelOfTournament, Page
from arena.site.links import STATIC, FolderLinks
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.results import bot_feed, tournament_feed
from arena.site.pages.results_model import ListedResult
from arena.site.publish.contents import MAX_BOTS_IN_PAIRS, Contents, file_names
from arena.site.publish.folder_files import FORM, Manifest, PublishedTournament, new_folder
from arena.site.publish.signature import SigningKey
from arena.site.render import Setting, asset, asset_digests, feed_with, render
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament
from arena.tournament.transfer.export import whole_export
from arena.tournament.transfer.new_tournament import copy_tournaments, temporary_home

NOT_IN_FOLDERS = ("asking.js", "live.js", "parts.js", "filter.js", "pending.js")
"""Scripts that only pages of a server have, or only reports."""


@dataclass(frozen=True, slots=True)
class BuiltPage:
    """A page of a folder; ``place`` is its file, without ending."""

    page: Page
    values: Mapping[str, Any]
    place: str
    model: Model

    @property
    def twin(self) -> bytes:
        """What it shows, as JSON."""
        return f"{self.model.model_dump_json()}\n".encode()

    @property
    def frozen(self) -> Frozen | None:
        """That results of its tournament are hidden."""
        return self.model.frozen if isinstance(self.model, ModelOfTournament) else None

    def frozen_as(self, frozen: Frozen | None) -> BuiltPage:
        """Return the page with what is said of embargoed results, if it is about a tournament."""
        is_other = isinstance(self.model, ModelOfTournament) and self.model.frozen != frozen
        return replace(self, model=self.model.model_copy(update={"frozen": frozen})) if is_other else self

    def showing(self, twin: bytes) -> BuiltPage:
        """Return the page with the values of its JSON twin; ValidationError if that is malformed."""
        return replace(self, model=type(self.model).model_validate_json(twin))


class Folder:
    """A home as a folder of files, tournaments in the order of their begin."""

    def __init__(self, home: ArenaHome, max_matches: int | None, frozen: Mapping[str, Frozen] = {}) -> None:
        """Find the contents of the folder.

        Args:
            max_matches: how many matches of each tournament have a page, at most; None for all.
            frozen: the embargoes on results of tournaments.
        """
        self._home, self._frozen = home, frozen
        self.tournaments = sorted(
            home.store.tournaments(), key=lambda tournament: (tournament.created_at, tournament.name)
        )
        labels = {bot.label for tournament in self.tournaments for bot in tournament.definition.entrants}
        names = {label.rpartition("@")[0] for label in labels}
        self.contents = Contents(
            tournaments=file_names(tournament.name for tournament in self.tournaments),
            bots=file_names([*labels, *names]),
            games=file_names(game for tournament in self.tournaments for game in tournament.games),
            matches={tournament.name: self._matches(tournament, max_matches) for tournament in self.tournaments},
            has_pairs=len(labels) <= MAX_BOTS_IN_PAIRS,
        )

    def _matches(self, tournament: StoredTournament, max_matches: int | None) -> frozenset[int]:
        if max_matches is None:
            return self._home.store.recorded_matches(tournament)
        choice = MatchChoice()
        if max_matches:
            for record in self._home.store.records(tournament):
                choice.add(record)
        return frozenset(choice.ordered()[:max_matches])

    def records(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield a file for each tournament with all that is stored of it."""
        source = self._home.store.as_source()
        for tournament in self.tournaments:
            lines = whole_export(source, tournament)
            yield self.contents.records(tournament.name), (f"{line}\n".encode() for line in lines)

    def assets(self) -> Iterator[tuple[str, bytes]]:
        """Yield the style sheets and scripts."""
        for name in asset_digests():
            if name not in NOT_IN_FOLDERS:
                yield f"{STATIC}/{name}", asset(name)

    def pages(self) -> Iterator[BuiltPage]:
        """Yield the pages: the first one, and then all that those before lead to, whose files have been made."""
        while (wanted := self.contents.take()) is not None:
            page = PAGE_BY_NAME[wanted.name]
            model = page.build(self._home, page.parameters.model_validate(wanted.values))
            frozen = self._frozen.get(wanted.values.get("tournament", ""))
            yield BuiltPage(page, wanted.values, wanted.place, model).frozen_as(frozen)

    def files(self, page: BuiltPage) -> Iterator[tuple[str, bytes]]:
        """Yield the files of a page."""
        yield f"{page.place}.json", page.twin
        yield f"{page.place}.html", self._html(page)
        for number, name in enumerate(page.model.tables()):
            ending = f"{name}.csv" if number else "csv"
            yield f"{page.place}.{ending}", page.model.csv(name).encode()
        if page.page.has_feed and page.place.endswith("/index"):
            yield f"{page.place.removesuffix('index')}feed.atom", self._feed(page)

    def _feed(self, page: BuiltPage) -> bytes:
        build = tournament_feed if page.page.name == "tournament" else bot_feed
        links = FolderLinks(self.contents.place, page.place)

        def match_address(result: ListedResult) -> str | None:
            return links.page("match", tournament=result.tournament, match=result.match)

        (name,) = page.values.values()
        return feed_with(build(self._home, name), "feed.atom", "index.html", match_address)

    def _html(self, page: BuiltPage) -> bytes:
        setting = Setting(links=FolderLinks(self.contents.place, page.place), is_served=False, frozen=page.frozen)
        parameters = page.page.parameters.model_validate(page.values)
        return render(page.page, parameters, page.model, setting).encode()


# Publishing: from tournaments to a folder.
#
# The tournaments are first copied into a temporary home, from which every page is built. So leaderboards count only
# what is in the folder, no page can have anything else of the home, and anybody who imports the folder's records can
# build the same pages.

Progress = Callable[[int], None]
"""Called with the number of pages so far."""


class Published(NamedTuple):
    """The tournaments that were written, in the order of their begin, and how many files and pages."""

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
        names: of the tournaments, in any order; none for all.
        max_matches: how many matches of each tournament have a page, at most; None for all.
        audience: who reads the notes and output of bots.
        key: signs the manifest; None for no signature.
        frozen: returns the embargo on results of a tournament.

    Raises:
        UsageError: if something else is in the folder's place, or it is not writable.
        UnknownNameError: if there is no such tournament.
    """
    _require_outside(home, out)
    with temporary_home() as copy:
        with home.store.one_transaction():  # a tournament may be corrected meanwhile
            ordered = _chosen(home, names)
            left_out_key = b"" if audience.reads_all else left_out_key_of(home.directory)
            copy_tournaments(home.store, ordered, copy.store, audience, left_out_key)
        hidden = {
            tournament.name: Frozen(sentence=embargo.sentence)
            for tournament in ordered
            if (embargo := frozen(tournament.name))
        }
        folder = Folder(copy, max_matches, {name: contest for name, contest in hidden.items() if contest.sentence})
        published = tuple(
            PublishedTournament(name=tournament.name, records=folder.contents.records(tournament.name))
            for tournament in folder.tournaments
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
        return Published(tuple(tournament.name for tournament in published), writer.files, writer.size_bytes, pages)


def _chosen(home: ArenaHome, names: Sequence[str]) -> list[StoredTournament]:
    """Return the tournaments of these names, by default all, in the order of their begin."""
    chosen = [home.store.tournament(name) for name in dict.fromkeys(names)] if names else home.store.tournaments()
    if not chosen:
        raise StoreError("there is no tournament yet; begin one with: arena run FILE")
    return sorted(chosen, key=lambda tournament: (tournament.created_at, tournament.name))


def _require_outside(home: ArenaHome, out: Path) -> None:
    target = out.absolute()
    if target.is_relative_to(home.directory) or home.directory.is_relative_to(target):
        raise UsageError(f"OUT {str(out)!r}: expected a place outside of the arena's home, {str(home.directory)!r}")
