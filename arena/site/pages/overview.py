"""Builds the first page and the list of bots, the progress of tournaments, and their winners by points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice

from arena.analysis.measures.overview import leaders_of
from arena.base.enums import Termination, TournamentState
from arena.base.text import all_of, counted
from arena.lab.matches.accuracy import seats_from_text
from arena.lab.matches.puzzle import may_have_puzzles
from arena.site.frame.building import Reading, marked, sentence
from arena.site.frame.model import Sentence
from arena.site.pages.overview_model import (
    BestRank,
    BotsPage,
    BotsParameters,
    ListedBot,
    ListedTournament,
    OverviewPage,
    OverviewParameters,
    RunningTournament,
    TournamentResult,
)
from arena.site.pages.results import latest_results
from arena.site.pages.results_model import ListedResult
from arena.site.pages.tournament_model import PlayingMatch, Progress
from arena.store.home import ArenaHome
from arena.store.results.live_state import PlayedNow
from arena.store.results.scope import ALL_BUT_COMPARISONS
from arena.store.results.states import Leaders, listed_tournaments
from arena.store.results.states import ListedTournament as Listed
from arena.store.results.store import Store
from arena.store.results.values import Owners, StoredBot, StoredTournament

MAX_PLAYING = 8
"""Matches that are being played, in a page."""


def progress_of(store: Store, tournament: StoredTournament) -> Progress | None:
    """Return what is being played of a tournament; None if no director runs it."""
    if tournament.name not in store.directors():
        return None
    stored = store.live_state(tournament).progress()
    if stored is None:
        return Progress(recorded=tournament.recorded, expected=tournament.scheduled or None)
    run = stored.progress
    return Progress.of(
        run,
        recorded=max(run.recorded, tournament.recorded),
        estimated_at=None if run.seconds_left is None else stored.at,
        playing=_playing(store, tournament, run.playing),
    )


def _playing(store: Store, tournament: StoredTournament, matches: Sequence[PlayedNow]) -> tuple[PlayingMatch, ...]:
    names = list(tournament.definition.shown_names.values())
    live = store.live_state(tournament)
    playing = []
    for match in matches[:MAX_PLAYING]:
        line, state = store.scheduled_match(tournament, match.match), live.live_summary(match.match)
        playing.append(
            PlayingMatch(
                match=match.match,
                names=tuple(names[seat] for seat in line.seats),
                ply=None if state is None else state.summary.plies,
            )
        )
    return tuple(sorted(playing, key=lambda match: match.ply is None))


MAX_COUNTED = 10_000
"""The results of a tournament of more matches are not counted for a sentence."""

MAX_WINNERS_NAMED = 4


def winners(store: Store, tournament: StoredTournament) -> Sentence:
    """Return who is first; an empty sentence where that takes ratings, or too long to count."""
    labels = {name: label for label, name in tournament.definition.shown_names.items()}
    if tournament.recorded > MAX_COUNTED:
        return Sentence(text="")
    return sentence(_text(_leaders(_CountedTournament(store, tournament)), tournament.finished_at is not None), labels)


class _CountedTournament:
    """A tournament and its record count, the key under which its leaders are cached."""

    def __init__(self, store: Store, tournament: StoredTournament) -> None:
        self.store, self.tournament = store, tournament
        self._key = (id(store), tournament)

    def __hash__(self) -> int:
        return hash((self._key[0], self.tournament.number, self.tournament.recorded))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _CountedTournament) and self._key == other._key


@lru_cache(maxsize=64)
def _leaders(counted_tournament: _CountedTournament) -> Leaders:
    return leaders_of(counted_tournament.store, counted_tournament.tournament, may_rate=False)


def _text(leaders: Leaders, is_finished: bool) -> str:
    """Return who is first, with marked names; empty if that is not known."""
    if not leaders.bots:
        return ""
    is_one = len(leaders.bots) == 1
    who = all_of([marked(bot) for bot in leaders.bots])
    if len(leaders.bots) > MAX_WINNERS_NAMED:
        who = counted(len(leaders.bots), "bot")
    so_far = "" if is_finished else "So far, "
    if leaders.score_share is None:
        verb = ("wins" if is_finished else "leads") if is_one else "share the first rank"
        return f"{so_far}{who} {verb}{f', {leaders.decided}' if leaders.decided else ''}."
    verb = "has" if is_one else "share"
    return f"{so_far}{who} {verb} the highest score, {100 * leaders.score_share:.1f} %."


SHOWN = 50
"""Tournaments in a page."""

RESULTS = 5
MAX_RUNNING = 10


def build_overview(home: ArenaHome, parameters: OverviewParameters) -> OverviewPage:
    """Return what a home has."""
    store = home.store
    count, matches = store.totals()
    newest = store.newest_tournaments(SHOWN + 1, parameters.before)
    reading = Reading()
    listed = listed_tournaments(store, reading.readable(newest[:SHOWN]))
    first = listed if parameters.before is None else []
    latest = _latest(store, first, reading)
    return OverviewPage(
        tournaments=tuple(
            ListedTournament.of(one.tournament, state=one.state, entrants=len(one.tournament.definition.entrants))
            for one in listed
        ),
        older=newest[SHOWN - 1].number if len(newest) > SHOWN else None,
        tournament_count=count,
        matches=matches,
        running=_running(store, reading),
        results=tuple(islice(_results(store, first, reading), RESULTS)),
        latest=latest,
        turning=reading.attempt(partial(_turning, store, latest)),
        may_have_puzzles=any(may_have_puzzles(home.directory, item.tournament) for item in listed),
        left_out=reading.left_out,
    )


def _running(store: Store, reading: Reading) -> tuple[RunningTournament, ...]:
    names = sorted(store.directors())[:MAX_RUNNING]
    running = []
    for name in names:
        tournament = reading.attempt(partial(store.tournament, name))
        progress = None if tournament is None else reading.attempt(partial(progress_of, store, tournament))
        if progress is not None:
            running.append(RunningTournament(name=name, progress=progress))
    return tuple(running)


def _results(store: Store, listed: Sequence[Listed], reading: Reading) -> Iterator[TournamentResult]:
    for item in listed:
        if item.tournament.recorded and item.state is not TournamentState.RUNNING:
            result = reading.attempt(partial(_result, store, item))
            if result is not None:
                yield result


def _result(store: Store, listed: Listed) -> TournamentResult:
    tournament = listed.tournament
    return TournamentResult.of(tournament, winners=winners(store, tournament), at=tournament.finished_at)


def _latest(store: Store, listed: Sequence[Listed], reading: Reading) -> tuple[ListedResult, ...]:
    """Return the latest matches of what is being played; else of the newest tournament that has one."""
    by_interest = sorted(listed, key=lambda item: item.state is not TournamentState.RUNNING)
    for item in by_interest:
        latest = reading.attempt(partial(latest_results, store, item.tournament)) if item.tournament.recorded else None
        if latest is not None:
            return latest
    return ()


def _turning(store: Store, latest: Sequence[ListedResult]) -> int | None:
    """Return the number of the last match in which an action lost something for certain, and nobody forfeited."""
    ended = [one for one in latest if one.termination is Termination.NORMAL]
    if not ended:
        return None
    tournament = store.tournament(ended[0].tournament)
    accuracy = store.annotations.accuracy_of_matches(tournament, [one.match for one in ended])
    lost = (
        one.match
        for one in ended
        if one.match in accuracy
        and any(seat.mistakes or seat.blunders for seat in seats_from_text(accuracy[one.match]))
    )
    return next(lost, None)


PAGE_BOTS = 100


@dataclass(slots=True)
class KnownBot:
    """A bot in the list while versions are added, the earliest first; the author is the latest known."""

    versions: dict[str, None] = field(default_factory=dict)
    author: str = ""
    is_author_claimed: bool = False
    games: set[str] = field(default_factory=set)
    tournaments: set[int] = field(default_factory=set)


def build_bots(home: ArenaHome, parameters: BotsParameters) -> BotsPage:
    """Return the bots that were submitted or entered, by name."""
    reading = Reading()
    tournaments = reading.readable(home.store.tournaments())
    known = known_bots(tournaments, home.store.submitted_bots(), home.store.owners())
    search = parameters.search.casefold()
    names = [
        name
        for name in sorted(known, key=_order)
        if search in name.casefold() or search in known[name].author.casefold()
    ]
    later = [name for name in names if parameters.after is None or _order(name) > _order(parameters.after)]
    shown = later[:PAGE_BOTS]
    best = best_ranks(home, tournaments, reading)
    return BotsPage(
        search=parameters.search,
        bots=tuple(listed_bot(name, known[name], best.get(name)) for name in shown),
        found=len(names),
        next=shown[-1] if len(later) > len(shown) else None,
        left_out=reading.left_out,
    )


def listed_bot(name: str, known: KnownBot, best: BestRank | None) -> ListedBot:
    """Return a bot as lists show it."""
    return ListedBot.of(
        known,
        name=name,
        versions=tuple(known.versions)[::-1],
        games=tuple(sorted(known.games)),
        tournaments=len(known.tournaments),
        best=best,
    )


def _order(name: str) -> tuple[str, str]:
    return name.casefold(), name


def known_bots(
    tournaments: Sequence[StoredTournament], submitted: Sequence[StoredBot], owners: Owners
) -> dict[str, KnownBot]:
    """Return all bots, by name."""
    bots: dict[str, KnownBot] = {}
    for tournament in tournaments:
        games = set(tournament.games)
        for bot in tournament.definition.entrants:
            known_bot = bots.setdefault(_name_of(bot.label), KnownBot())
            known_bot.versions[bot.label] = None
            authorship = tournament.owners.authorship(bot)
            if authorship.author or authorship.is_owned:
                known_bot.author, known_bot.is_author_claimed = authorship.author, authorship.is_claimed
            known_bot.games |= games
            known_bot.tournaments.add(tournament.number)
    for stored in submitted:
        known_bot = bots.setdefault(_name_of(stored.label), KnownBot())
        known_bot.versions[stored.label] = None
        if (owner := owners.owner(stored.label, stored.digest)) is not None:
            known_bot.author, known_bot.is_author_claimed = owner, False
    return bots


def best_ranks(home: ArenaHome, tournaments: Sequence[StoredTournament], reading: Reading) -> dict[str, BestRank]:
    """Return the best rank of each bot that has one, by its name."""
    counting = [one for one in tournaments if one.recorded and ALL_BUT_COMPARISONS.includes(one.format, one.created_at)]
    ranks: dict[str, BestRank] = {}
    for game in sorted({game for tournament in counting for game in tournament.games}):
        lines = reading.leaderboard(home, counting, game).lines
        for line in lines:
            one = BestRank(game=game, bot=line.label, rank=line.rank, bots=len(lines))
            name = _name_of(line.label)
            if line.margin is not None and (name not in ranks or _rank_order(one) < _rank_order(ranks[name])):
                ranks[name] = one
    return ranks


def _name_of(label: str) -> str:
    """Return the name of the page of all versions; stored names may have "@" in them."""
    return label.rpartition("@")[0]


def _rank_order(rank: BestRank) -> tuple[float, int]:
    """Return a sort key: the share of a leaderboard above a bot; at equal shares, a larger leaderboard is better."""
    return (rank.rank - 1) / rank.bots, -rank.bots
