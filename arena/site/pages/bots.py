"""Builds the list of bots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from arena.site.frame.reading import Reading
from arena.site.pages.bots_model import BestRank, BotsPage, BotsParameters, ListedBot
from arena.store.home import ArenaHome
from arena.store.results.scope import ALL_BUT_COMPARISONS
from arena.store.results.values import Owners, StoredBot, StoredTournament

PAGE_BOTS = 100


@dataclass(slots=True)
class _Found:
    """What is known of a bot.

    Attributes:
        versions: the earliest first.
        author: of the latest of which it is known.
        is_author_claimed: whether that is known by the words of the bot alone.
        games: what it has played.
        tournaments: the numbers of those it entered.
    """

    versions: dict[str, None] = field(default_factory=dict)
    author: str = ""
    is_author_claimed: bool = False
    games: set[str] = field(default_factory=set)
    tournaments: set[int] = field(default_factory=set)


def build_bots(home: ArenaHome, parameters: BotsParameters) -> BotsPage:
    """Return the bots that were submitted or entered, by name."""
    reading = Reading()
    tournaments = reading.readable(home.store.tournaments())
    found = _found(tournaments, home.store.submitted_bots(), home.store.owners())
    wanted = parameters.search.casefold()
    names = [
        name
        for name in sorted(found, key=_order)
        if wanted in name.casefold() or wanted in found[name].author.casefold()
    ]
    later = [name for name in names if parameters.after is None or _order(name) > _order(parameters.after)]
    shown = later[:PAGE_BOTS]
    best = _best_ranks(home, tournaments, reading)
    return BotsPage(
        search=parameters.search,
        bots=tuple(
            ListedBot(
                name=name,
                versions=tuple(found[name].versions)[::-1],
                author=found[name].author,
                is_author_claimed=found[name].is_author_claimed,
                games=tuple(sorted(found[name].games)),
                tournaments=len(found[name].tournaments),
                best=best.get(name),
            )
            for name in shown
        ),
        found=len(names),
        next=shown[-1] if len(later) > len(shown) else None,
        left_out=reading.left_out,
    )


def _order(name: str) -> tuple[str, str]:
    return name.casefold(), name


def _found(
    tournaments: Sequence[StoredTournament], submitted: Sequence[StoredBot], owners: Owners
) -> dict[str, _Found]:
    found: dict[str, _Found] = {}
    for tournament in tournaments:
        games = set(tournament.games)
        for bot in tournament.definition.entrants:
            one = found.setdefault(_name_of(bot.label), _Found())
            one.versions[bot.label] = None
            by = tournament.owners.authorship(bot)
            if by.author or by.is_owned:
                one.author, one.is_author_claimed = by.author, by.is_claimed
            one.games |= games
            one.tournaments.add(tournament.number)
    for stored in submitted:
        one = found.setdefault(_name_of(stored.label), _Found())
        one.versions[stored.label] = None
        if (owner := owners.owner(stored.label, stored.digest)) is not None:
            one.author, one.is_author_claimed = owner, False
    return found


def _best_ranks(home: ArenaHome, tournaments: Sequence[StoredTournament], reading: Reading) -> dict[str, BestRank]:
    """Return the best rank of each bot, by its name."""
    counting = [one for one in tournaments if one.recorded and ALL_BUT_COMPARISONS.includes(one.format, one.created_at)]
    ranks: dict[str, BestRank] = {}
    for game in sorted({game for tournament in counting for game in tournament.games}):
        lines = reading.leaderboard(home, counting, game).lines
        for line in lines:
            one = BestRank(game=game, bot=line.label, rank=line.rank, bots=len(lines))
            name = _name_of(line.label)
            if line.margin is not None and (name not in ranks or _above(one) < _above(ranks[name])):
                ranks[name] = one
    return ranks


def _name_of(label: str) -> str:
    """Return the name by which the page of all versions is found; one in a store may have "@" in it."""
    return label.rpartition("@")[0]


def _above(one: BestRank) -> tuple[float, int]:
    """Return the share of a leaderboard that is above a bot; of equal shares, that of a larger one is better."""
    return (one.rank - 1) / one.bots, -one.bots
