"""The pages of a folder, one after the other: what is written, and what a folder is compared with to verify it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from arena.home import ArenaHome
from arena.report.match_choice import MatchChoice
from arena.site.links import STATIC, FolderLinks
from arena.site.models.model import Model
from arena.site.page import Page
from arena.site.pages import PAGE_BY_NAME
from arena.site.publish.contents import Contents
from arena.site.publish.file_names import file_names
from arena.site.render import Setting, asset, asset_digests, render
from arena.store.values import StoredTournament
from arena.transfer import whole_export


@dataclass(frozen=True, slots=True)
class BuiltPage:
    """A page of a folder.

    Attributes:
        page: in the table of pages.
        values: its parameters.
        place: its file, without ending.
        model: what it shows.
    """

    page: Page
    values: Mapping[str, Any]
    place: str
    model: Model

    @property
    def twin(self) -> bytes:
        """What it shows, as JSON."""
        return f"{self.model.model_dump_json()}\n".encode()

    def showing(self, twin: bytes) -> BuiltPage:
        """Return the page as it is with what a twin says.

        Raises:
            ValidationError: if that is not what such a page has.
        """
        return replace(self, model=type(self.model).model_validate_json(twin))


class Folder:
    """A home as a folder of files.

    Attributes:
        tournaments: in the order of their begin.
        contents: which pages there are.
    """

    def __init__(self, home: ArenaHome, max_matches: int | None) -> None:
        """Find out what the folder has.

        Args:
            home: all of it is shown.
            max_matches: how many matches of each tournament have a page, at most; None for all.
        """
        self._home = home
        self.tournaments = sorted(home.store.tournaments(), key=lambda one: (one.created_at, one.name))
        self._labels = sorted({bot.label for one in self.tournaments for bot in one.definition.entrants})
        self._games = sorted({game for one in self.tournaments for game in one.games})
        names = [label.rpartition("@")[0] for label in self._labels]
        self.contents = Contents(
            tournaments=file_names(one.name for one in self.tournaments),
            bots=file_names([*self._labels, *names]),
            games=file_names(self._games),
            matches={one.name: self._matches(one, max_matches) for one in self.tournaments},
            pairs=frozenset(self._pairs()),
        )

    def _matches(self, tournament: StoredTournament, max_matches: int | None) -> frozenset[int]:
        """Return the matches that have a page."""
        if max_matches is None:
            return self._home.store.recorded_matches(tournament)
        choice = MatchChoice()
        if max_matches:
            for record in self._home.store.records(tournament):
                choice.add(record)
        return frozenset(choice.ordered()[:max_matches])

    def _pairs(self) -> Iterator[tuple[str, str]]:
        return iter(())

    def records(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield a file for each tournament with all that is stored of it."""
        source = self._home.store.as_source()
        for tournament in self.tournaments:
            lines = whole_export(source, tournament)
            yield self.contents.records(tournament.name), (f"{line}\n".encode() for line in lines)

    def assets(self) -> Iterator[tuple[str, bytes]]:
        """Yield the style sheets and scripts."""
        for name in asset_digests():
            if name != "live.js":
                yield f"{STATIC}/{name}", asset(name)

    def pages(self) -> Iterator[BuiltPage]:
        """Yield the pages."""
        for name in ("overview", "bots", "leaderboards", "games"):
            yield from self._page(name)
        for game in self._games:
            yield from self._page("game", game=game)
            yield from self._page("leaderboard", game=game)
        for bot in self.contents.bots:
            yield from self._page("bot", bot=bot)
        for tournament in self.tournaments:
            yield from self._pages_of(tournament)

    def _pages_of(self, tournament: StoredTournament) -> Iterator[BuiltPage]:
        name = tournament.name
        yield from self._page("tournament", tournament=name)
        for bot in tournament.definition.entrants:
            yield from self._page("why", tournament=name, bot=bot.label)
        yield from self._page("matches", tournament=name)
        for match in sorted(self.contents.matches[name]):
            yield from self._page("match", tournament=name, match=match)

    def _page(self, name: str, **values: Any) -> Iterator[BuiltPage]:
        """Yield a page, if the site and the folder have it."""
        page, place = PAGE_BY_NAME.get(name), self.contents.place(name, values)
        if page is not None and place is not None:
            yield BuiltPage(page, values, place, _built(page, self._home, values))

    def files(self, page: BuiltPage) -> Iterator[tuple[str, bytes]]:
        """Yield the files of a page."""
        yield f"{page.place}.json", page.twin
        yield f"{page.place}.html", self._html(page)
        for name in page.model.tables():
            yield f"{page.place}.{name}.csv", page.model.csv(name).encode()

    def _html(self, page: BuiltPage) -> bytes:
        setting = Setting(links=FolderLinks(self.contents, page.place), is_served=False)
        parameters = page.page.parameters.model_validate(page.values)
        return render(page.page, parameters, page.model, setting).encode()


def _built(page: Page, home: ArenaHome, values: Mapping[str, Any]) -> Model:
    module, _, function = page.builder.partition(":")
    model: Model = getattr(import_module(module), function)(home, page.parameters.model_validate(values))
    return model
