"""Builds a bot's profile, from the analysis that ``arena bot show`` prints, and the page of a person with all bots."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from arena.analysis.measures.bot_profile import BotProfile, bot_profile
from arena.analysis.measures.game_statistics import bot_times
from arena.analysis.measures.leaderboards import history_of_rounds, leaderboard, points_of
from arena.analysis.measures.values import RatingPoint
from arena.analysis.text.corrections_table import correction_text
from arena.base.enums import FaultKind
from arena.base.errors import UnknownNameError
from arena.base.names import find_labels
from arena.base.records import Bot, MatchRecord
from arena.base.text import all_of, counted
from arena.lab.matches.annotation import annotations_of
from arena.site.frame.building import Reading, marked, sentence
from arena.site.frame.model import Sentence
from arena.site.pages.bot_profile_model import (
    BotCorrection,
    BotParameters,
    BotProfilePage,
    BotRating,
    BotVersion,
    EnteredTournament,
    FaultyMatch,
    PersonPage,
    PersonParameters,
    SeenFault,
    TimeUsed,
    VersionStep,
)
from arena.site.pages.lost_value import AnnotatedMatch, lost_value, worth_a_look
from arena.site.pages.overview import best_ranks, known_bots, listed_bot
from arena.site.pages.overview_model import ListedBot
from arena.site.pages.results import listed_results, with_first_ratings
from arena.site.pages.results_model import reported_numbers
from arena.site.pages.standings import MAX_HISTORY_MATCHES, rated_tournament, standing_line
from arena.store.home import ArenaHome
from arena.store.results.scope import ALL_BUT_COMPARISONS
from arena.store.results.values import Authorship, Owners, StoredBot, StoredFault, StoredTournament
from arena.tournament.rounds import ranking_of

MAX_PROFILES = 6
"""Versions with ratings and faults; an author with more has them on their own pages."""

MAX_TIMED_MATCHES = 200
MAX_RESULTS = 12
MAX_FAULTS = 10
MAX_STDERR_CHARACTERS = 600
MAX_RANKED = 20
"""Tournaments for which the bot's rank is looked up: that takes their standings."""

MAX_NAMED_GAMES = 3

LADDER = "ladder"
"""The format of tournaments whose ratings are shown round by round."""


def build_bot(home: ArenaHome, parameters: BotParameters) -> BotProfilePage:
    """Return the page of a bot; UnknownNameError if it does not exist."""
    store = home.store
    reading = Reading()
    tournaments = reading.readable(store.tournaments())
    counting = reading.scope(store, ALL_BUT_COMPARISONS)
    versions = _VersionsOfBot(parameters.bot, tournaments, store.submitted_bots(), store.owners())
    labels = versions.latest_first
    profiles = [
        bot_profile(store, label, counting, cache_directory=home.cache_directory, max_matches=MAX_HISTORY_MATCHES)
        for label in labels[:MAX_PROFILES]
        if label in versions.entered
    ]
    ratings = tuple(board_ratings(home, tournaments, [profile.label for profile in profiles]))
    names = {tournament.number: tournament for tournament in tournaments}
    latest = [(names[k], record) for k, record in store.matches_of(labels).latest(MAX_TIMED_MATCHES) if k in names]
    shown = next((profile for profile in profiles if profile.rivals), None)
    faults = sorted(
        ((fault, profile.label) for profile in profiles for fault in profile.faults),
        key=lambda one: (-versions.numbers[one[0].tournament], -one[0].match, one[0].seat),
    )
    kinds = Counter[FaultKind]()
    for profile in profiles:
        kinds.update(profile.fault_kinds)
    entered = versions.tournaments()
    annotated = [
        AnnotatedMatch(tournament.name, record, annotation)
        for (tournament, record), annotation in zip(latest, annotations_of(store, latest), strict=True)
    ]
    page = BotProfilePage(
        bot=parameters.bot,
        verdict=_verdict(parameters.bot, labels, ratings),
        shown=shown.label if shown else labels[0],
        versions=tuple(versions.version(label) for label in labels),
        ratings=ratings,
        history=tuple(point for profile in profiles for point in profile.history),
        ladders=tuple(ladder_points(home, tournaments, labels[:MAX_PROFILES])),
        steps=tuple(_steps(home, tournaments, labels[: MAX_PROFILES + 1])),
        rivals=shown.rivals if shown else (),
        fault_counts=dict(sorted(kinds.items())),
        faults=_latest_of_each_group(
            _fault(home, fault, label, latest, tournaments) for fault, label in faults[:MAX_FAULTS]
        ),
        times=tuple(_times((record for _, record in latest), labels)),
        tournaments=tuple(entered_tournament(home, one, label) for one, label in entered[:MAX_RANKED]),
        entered=len({one.number for one, _ in entered}),
        results=listed_results(latest[:MAX_RESULTS]),
        corrections=tuple(correction for profile in profiles for correction in _corrections(profile)),
        left_out=reading.left_out,
        lost_value=lost_value(annotated, frozenset(labels)),
        worth_a_look=worth_a_look(annotated, frozenset(labels)),
        numbers=reported_numbers((record for _, record in latest), filter(home.audience.may_read, labels)),
    )
    return with_first_ratings(home, page)


class _VersionsOfBot:
    """The versions that an address means, in tournaments and as they were submitted."""

    def __init__(
        self, text: str, tournaments: Sequence[StoredTournament], submitted: Sequence[StoredBot], owners: Owners
    ) -> None:
        self._tournaments, self._owners = tournaments, owners
        self.numbers = {tournament.name: tournament.number for tournament in tournaments}
        self._submitted = {bot.label: bot for bot in submitted}
        self.entered: dict[str, Bot] = {}
        for tournament in tournaments:
            self.entered |= {bot.label: bot for bot in tournament.definition.entrants}
        meant = set(find_labels(text, list(dict.fromkeys([*self._submitted, *self.entered]))))
        first_seen = [label for label in [*self.entered, *self._submitted] if label in meant]
        self.latest_first = list(dict.fromkeys(first_seen))[::-1]

    def tournaments(self) -> list[tuple[StoredTournament, str]]:
        """Return every tournament that one of them entered, with its label, the latest first."""
        return _entered_by(self._tournaments, self.latest_first)

    def version(self, label: str) -> BotVersion:
        """Return a version as everybody may see it: without the path of its files."""
        bot, submitted = self.entered.get(label), self._submitted.get(label)
        entered = [tournament for tournament, other in self.tournaments() if other == label]
        by = self._authorship(bot, submitted)
        return BotVersion(
            bot=label,
            author=by.author,
            claimed_author=by.words,
            is_author_claimed=by.is_claimed,
            digest=bot.digest if bot else submitted.digest if submitted else "",
            submitted_at=submitted.submitted_at if submitted else None,
            games=tuple(sorted({game for tournament in entered for game in tournament.games})),
            tournaments=len(entered),
            is_function=bot is not None and bot.is_function,
        )

    def _authorship(self, bot: Bot | None, submitted: StoredBot | None) -> Authorship:
        owner = self._owners.owner(submitted.label, submitted.digest) if submitted is not None else None
        if owner is not None:
            return Authorship(author=owner, words=bot.author if bot and owner else "", is_owned=True)
        return self._owners.authorship(bot) if bot is not None else Authorship()


def _entered_by(tournaments: Sequence[StoredTournament], labels: Sequence[str]) -> list[tuple[StoredTournament, str]]:
    """Return every tournament that one of these bots entered, with its label, the latest first."""
    label_set = frozenset(labels)
    return [
        (tournament, bot.label)
        for tournament in reversed(tournaments)
        for bot in tournament.definition.entrants
        if bot.label in label_set
    ]


def board_ratings(
    home: ArenaHome, tournaments: Sequence[StoredTournament], labels: Sequence[str]
) -> Iterator[BotRating]:
    """Yield the lines of bots on the leaderboards of their games."""
    counting = (one for one in tournaments if ALL_BUT_COMPARISONS.includes(one.format, one.created_at))
    recorded = [tournament for tournament in counting if tournament.recorded]
    wanted = frozenset(labels)
    own = (one for one in recorded if any(bot.label in wanted for bot in one.definition.entrants))
    games = sorted({game for tournament in own for game in tournament.games})
    boards = {game: leaderboard(home.store, recorded, game, home.cache_directory).lines for game in games}
    for label in labels:
        for game, lines in boards.items():
            for line in lines:
                if line.label == label:
                    yield BotRating(game=game, bots=len(lines), line=standing_line(line))


def _verdict(bot: str, labels: Sequence[str], ratings: Sequence[BotRating]) -> Sentence:
    """Return how good a bot is: its latest version that has a rating."""
    rated = [rating for rating in ratings if rating.line.margin_95 is not None]
    if not rated:
        without = "has no rating yet: that takes a match against another bot in a tournament that counts"
        return sentence(f"{marked(bot)} {without}.", {bot: bot})
    label = rated[0].line.label
    own = sorted(
        (rating for rating in rated if rating.line.label == label), key=lambda rating: rating.line.rank / rating.bots
    )
    name = label if len(labels) > 1 else bot
    more = len(own) - MAX_NAMED_GAMES
    rest = f"; {counted(more, 'more game')} below" if more > 0 else ""
    return sentence(f"{marked(name)} is {all_of(list(map(_rank_text, own[:MAX_NAMED_GAMES])))}{rest}.", {name: label})


def _rank_text(rating_line: BotRating) -> str:
    low, high = rating_line.line.rank_95 or (rating_line.line.rank, rating_line.line.rank)
    interval = "" if low == high else f", {low} to {high} at 95 %"
    rating = f"{rating_line.line.mu:.1f} ± {rating_line.line.margin_95 or 0.0:.1f}"
    return f"number {rating_line.line.rank} of {rating_line.bots} in {rating_line.game} (rating {rating}{interval})"


def ladder_points(
    home: ArenaHome, tournaments: Sequence[StoredTournament], labels: Collection[str]
) -> Iterator[RatingPoint]:
    """Yield the ratings of bots after rounds of the ladders that they entered, bot by bot."""
    for tournament in tournaments:
        entered = [bot.label for bot in tournament.definition.entrants if bot.label in labels]
        if tournament.format != LADDER or not entered or not tournament.recorded:
            continue
        game = tournament.games[0] if len(tournament.games) == 1 else ""
        cache, most = home.cache_directory, MAX_HISTORY_MATCHES
        snapshots = history_of_rounds(home.store, tournament, cache_directory=cache, max_matches=most)
        for label in entered:
            yield from (point for point in points_of(snapshots, game, label) if point.matches)


def _steps(
    home: ArenaHome, tournaments: Sequence[StoredTournament], latest_first: Sequence[str]
) -> Iterator[VersionStep]:
    """Yield by how much each version is above the one before, in the latest ladder or tournament of both."""
    for bot, before in pairwise(latest_first):
        for tournament in sorted(tournaments, key=lambda one: (one.format == LADDER, one.number), reverse=True):
            names = {bot, before}
            if not tournament.recorded or not names <= {one.label for one in tournament.definition.entrants}:
                continue
            fitted = rated_tournament(home, tournament).table.fitted
            if names <= set(fitted.names):
                difference, margin = fitted.gap(*map(fitted.names.index, (bot, before)))
                yield VersionStep(
                    bot=bot, before=before, tournament=tournament.name, difference=difference, margin_95=margin
                )
                break


def _fault(
    home: ArenaHome,
    stored: StoredFault,
    label: str,
    latest: Sequence[tuple[StoredTournament, MatchRecord]],
    tournaments: Sequence[StoredTournament],
) -> SeenFault:
    match_key = (stored.tournament, stored.match)
    loaded = (record for tournament, record in latest if (tournament.name, record.match) == match_key)
    own = next((tournament for tournament in tournaments if tournament.name == stored.tournament), stored.tournament)
    record = next(loaded, None) or home.store.record_of(own, stored.match)
    fault = next((candidate for candidate in record.faults if candidate.seat == stored.seat), None)
    return SeenFault.of(
        stored,
        bot=label,
        ply=fault.ply if fault else 0,
        detail=fault.told_to(home.audience, label) if fault else "",
        stderr=(record.seats[stored.seat].stderr.shown_to(home.audience, label) or "")[-MAX_STDERR_CHARACTERS:],
        repro=f"arena bot repro {shlex.quote(f'{stored.tournament}/{stored.match}')}",
        earlier=(),
    )


def _latest_of_each_group(faults: Iterable[SeenFault]) -> tuple[SeenFault, ...]:
    groups: dict[tuple[object, ...], list[SeenFault]] = {}
    for fault in faults:
        groups.setdefault((fault.bot, fault.kind, fault.detail, fault.stderr), []).append(fault)
    return tuple(
        latest.model_copy(update={"earlier": tuple(map(FaultyMatch.of, earlier))})
        for latest, *earlier in groups.values()
    )


def _times(records: Iterable[MatchRecord], labels: Sequence[str]) -> Iterator[TimeUsed]:
    times = {line.bot: line for line in bot_times(records)}
    for label in labels:
        line = times.get(label)
        if line is not None:
            yield TimeUsed.of(line)


def entered_tournament(home: ArenaHome, tournament: StoredTournament, label: str) -> EnteredTournament:
    """Return a tournament that a bot entered, with its rank."""
    return EnteredTournament.of(
        tournament,
        tournament=tournament.name,
        bot=label,
        is_finished=tournament.finished_at is not None,
        rank=_rank(home, tournament, label) if tournament.recorded else None,
        bots=len(tournament.listed_names),
    )


def _rank(home: ArenaHome, tournament: StoredTournament, label: str) -> int | None:
    """Return the rank of a bot in a tournament: by its format, or else by ratings; None before its first match."""
    ranking = ranking_of(home.store, tournament)
    if ranking is not None:
        name = tournament.listed_names.get(label)
        return next((placing.rank for shown, placing in ranking if shown == name), None)
    lines = rated_tournament(home, tournament).table.lines
    return next((line.rank for line in lines if line.label == label and line.matches), None)


def _corrections(profile: BotProfile) -> Iterator[BotCorrection]:
    for tournament, correction in profile.corrections:
        yield BotCorrection.of(
            correction, bot=profile.label, tournament=tournament, correction=correction_text(correction)
        )


def build_person(home: ArenaHome, parameters: PersonParameters) -> PersonPage:
    """Return the page of a person; UnknownNameError if nobody of this name owns a bot here.

    Who has an account and no bot yet has no page: nobody learns from it who has an account.
    """
    store, person, reading = home.store, parameters.person, Reading()
    tournaments = reading.readable(store.tournaments())
    known = known_bots(tournaments, store.submitted_bots(), store.owners())
    owners = {name: bot.author for name, bot in known.items() if not bot.is_author_claimed}
    own = sorted(name for name, owner in owners.items() if owner == person)
    if not own:
        raise UnknownNameError("person", person, sorted(set(owners.values()) - {""}))
    best = best_ranks(home, tournaments, reading)
    bots = tuple(listed_bot(name, known[name], best.get(name)) for name in own)
    labels = [label for bot in bots for label in bot.versions]
    names = {one.number: one for one in tournaments}
    latest = store.matches_of(labels).latest(MAX_RESULTS)
    entered = _entered_by(tournaments, labels)
    return PersonPage(
        person=person,
        verdict=_person_verdict(bots),
        bots=bots,
        ratings=tuple(board_ratings(home, tournaments, labels)),
        tournaments=tuple(entered_tournament(home, one, label) for one, label in entered[:MAX_RANKED]),
        entered=len({one.number for one, _ in entered}),
        results=listed_results((names[number], record) for number, record in latest if number in names),
        history=tuple(ladder_points(home, tournaments, labels)),
        left_out=reading.left_out,
    )


def _person_verdict(bots: tuple[ListedBot, ...]) -> Sentence:
    ranked = [one.best for one in bots if one.best is not None]
    count = counted(len(bots), "bot")
    if not ranked:
        return sentence(f"{count}, without a rating yet.", {})
    best = min(ranked, key=lambda one: ((one.rank - 1) / one.bots, -one.bots))
    text = f"{count}; {marked(best.bot)} is number {best.rank} of {best.bots} in {best.game}."
    return sentence(text, {best.bot: best.bot})
