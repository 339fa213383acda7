"""The pages of a folder, one after the other: what is written, and what a folder is compared with to verify it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from arena.analysis.text.match_view import MatchChoice
from arena.site.feed import feed_with
from arena.site.frame.model import Frozen, Model, ModelOfTournament
from arena.site.frame.page import Page
from arena.site.links import STATIC, FolderLinks
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.feeds import bot_feed, tournament_feed
from arena.site.pages.results_model import ListedResult
from arena.site.publish.contents import MAX_BOTS_IN_PAIRS, Contents
from arena.site.publish.file_names import file_names
from arena.site.render import Setting, asset, asset_digests, render
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament
from arena.tournament.transfer.export_writer import whole_export

NOT_IN_FOLDERS = ("asking.js", "live.js", "parts.js", "filter.js", "pending.js")
"""Scripts that only pages of a server have, or only reports."""


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

    @property
    def frozen(self) -> Frozen | None:
        """That results of its tournament are hidden."""
        return self.model.frozen if isinstance(self.model, ModelOfTournament) else None

    def frozen_as(self, frozen: Frozen | None) -> BuiltPage:
        """Return the page with what is said of hidden results, if it is about a tournament."""
        is_other = isinstance(self.model, ModelOfTournament) and self.model.frozen != frozen
        return replace(self, model=self.model.model_copy(update={"frozen": frozen})) if is_other else self

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

    def __init__(self, home: ArenaHome, max_matches: int | None, frozen: Mapping[str, Frozen] = {}) -> None:
        """Find out what the folder has.

        Args:
            home: all of it is shown.
            max_matches: how many matches of each tournament have a page, at most; None for all.
            frozen: what pages say of tournaments whose results are hidden.
        """
        self._home, self._frozen = home, frozen
        self.tournaments = sorted(home.store.tournaments(), key=lambda one: (one.created_at, one.name))
        labels = {bot.label for one in self.tournaments for bot in one.definition.entrants}
        names = {label.rpartition("@")[0] for label in labels}
        self.contents = Contents(
            tournaments=file_names(one.name for one in self.tournaments),
            bots=file_names([*labels, *names]),
            games=file_names(game for one in self.tournaments for game in one.games),
            matches={one.name: self._matches(one, max_matches) for one in self.tournaments},
            has_pairs=len(labels) <= MAX_BOTS_IN_PAIRS,
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
        links = FolderLinks(self.contents, page.place)

        def match_address(result: ListedResult) -> str | None:
            return links.page("match", tournament=result.tournament, match=result.match)

        (name,) = page.values.values()
        return feed_with(build(self._home, name), "feed.atom", "index.html", match_address)

    def _html(self, page: BuiltPage) -> bytes:
        setting = Setting(links=FolderLinks(self.contents, page.place), is_served=False, frozen=page.frozen)
        parameters = page.page.parameters.model_validate(page.values)
        return render(page.page, parameters, page.model, setting).encode()
