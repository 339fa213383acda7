"""Builds the pages about two bots, and about why a bot has its rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from arena.analysis.measures.bot_profile import HeadToHead as Counted
from arena.analysis.measures.bot_profile import grouped, head_to_head, known_bots, meetings
from arena.analysis.measures.rank_explanation import against_rivals, rated_matches_of, rivals_in, surprises
from arena.analysis.measures.standings import EXPOSURE_DECIMALS, Standing, Standings
from arena.analysis.text.standings_columns import interval_text
from arena.base.errors import UnknownNameError
from arena.base.names import find_labels
from arena.base.text import all_of, counted
from arena.site.frame.building import Reading, marked, sentence
from arena.site.pages.comparison_model import (
    ExplanationPage,
    ExplanationParameters,
    HeadToHead,
    HeadToHeadPage,
    HeadToHeadParameters,
    HeadToHeadPart,
    RivalLine,
    SurprisingEncounter,
)
from arena.site.pages.results import listed_results
from arena.site.pages.standings import rated_tournament, standing_line
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament

LATEST_RESULTS = 12

METHOD = (
    "The score is the mean over encounters, the matches from one opening with the seats exchanged, of the share of"
    " points: 1 for a win, ½ for a draw. Its interval is 1.96 standard errors of that mean, with the variance between"
    " encounters drawn a little towards a coin's."
)


def build_head_to_head(home: ArenaHome, parameters: HeadToHeadParameters) -> HeadToHeadPage:
    """Return how two bots did head to head, in all tournaments; UnknownNameError if one does not exist."""
    reading = Reading()
    within = reading.scope(home.store)
    tournaments = {tournament.number: tournament for tournament in home.store.tournaments(within)}
    known = known_bots(list(tournaments.values()))
    bots, rivals = (find_labels(text, known) for text in (parameters.bot, parameters.rival))
    matches = home.store.matches_of(bots, rivals, within)
    met = meetings(matches.results(), bots, rivals)
    total = head_to_head(met)
    by_game = dict(sorted(grouped(met, lambda meeting: meeting.game).items()))
    sentences = _Sentences(parameters.bot, parameters.rival, total, by_game)
    by_tournament = grouped(met, lambda meeting: meeting.tournament)
    by_seat = grouped(met, lambda meeting: meeting.seat)
    by_pair = grouped(met, lambda meeting: (meeting.bot, meeting.rival))
    return HeadToHeadPage(
        bot=parameters.bot,
        rival=parameters.rival,
        bots=tuple(bots),
        rivals=tuple(rivals),
        verdict=sentence("".join(sentences.verdict()), {bot: bot for bot in (parameters.bot, parameters.rival)}),
        method=METHOD,
        better=sentences.better(total),
        encounters_to_go=total.encounters_to_go,
        total=HeadToHead.of(total),
        games=tuple(_part(game, counts) for game, counts in by_game.items()),
        tournaments=tuple(_part(tournaments[k].name, counts) for k, counts in reversed(by_tournament.items())),
        seats=tuple(_part(str(seat), counts) for seat, counts in sorted(by_seat.items())),
        versions=tuple(_part(" – ".join(pair), counts) for pair, counts in sorted(by_pair.items()) if len(by_pair) > 1),
        results=listed_results(
            (tournaments[number], record) for number, record in matches.latest(LATEST_RESULTS) if number in tournaments
        ),
        left_out=reading.left_out,
    )


def _part(part: str, found: Counted) -> HeadToHeadPart:
    return HeadToHeadPart.of(found, part=part)


class _Sentences(NamedTuple):
    """Two bots and how they did, for the sentences about them."""

    bot: str
    rival: str
    total: Counted
    by_game: Mapping[str, Counted]

    def better(self, counted_part: Counted) -> str | None:
        """Return the one that is better in some matches; None while that is open."""
        if not counted_part.is_clear or counted_part.score is None:
            return None
        return self.bot if counted_part.score > 0.5 else self.rival

    def verdict(self) -> Iterator[str]:
        bot, rival, total = marked(self.bot), marked(self.rival), self.total
        if not total.matches:
            yield from (bot, " and ", rival, " have not met.")
            return
        if total.score is None or total.margin is None:
            yield from (bot, " and ", rival, f" have met in {counted(total.matches, 'match')}, none of which counts.")
            return
        ahead, behind = (bot, rival) if total.score >= 0.5 else (rival, bot)
        how = _score_text(100 * max(total.score, 1 - total.score), 100 * total.margin, total.encounters)
        if total.is_clear:
            yield from (ahead, " is better than ", behind, f": {how}.")
        elif total.score == 0.5:
            yield from (ahead, " and ", behind, f" can't be told apart: each has {how}.")
        else:
            yield from (ahead, " and ", behind, " can't be told apart yet: ", ahead, f" has {how}.")
            if total.encounters_to_go is not None:
                more = counted(_rounded(total.encounters_to_go), "more encounter")
                yield f" At this score, about {more} would decide."
        yield from self._elsewhere()

    def _elsewhere(self) -> Iterator[str]:
        """Yield sentences for games in which another one is better than in all matches together."""
        for side in (self.bot, self.rival):
            games = [game for game, counts in self.by_game.items() if self.better(counts) == side]
            if games and side != self.better(self.total):
                yield from (f" In {all_of(games)}, ", marked(side), " is better.")


def _score_text(percent: float, margin: float, encounters: int) -> str:
    """Return the larger score with its 95 % interval, which ends at 100 %; one encounter is too few for an interval."""
    text = f"{percent:.1f} % of the points"
    if encounters == 1:
        return f"{text} over 1 encounter, too few for an interval"
    if percent + margin > 100:
        text += f" (95 % interval: {max(percent - margin, 0.0):.1f} to 100.0 %)"
    else:
        text = f"{percent:.1f} ± {margin:.1f} % of the points"
    return f"{text} over {encounters:,} encounters"


def _rounded(count: int) -> int:
    return round(count, min(0, 2 - len(str(count))))


MAX_SURPRISES = 12

WORTH_NAMING = 0.05
"""An influence that is smaller moves nothing that the page shows."""


def build_explanation(home: ArenaHome, parameters: ExplanationParameters) -> ExplanationPage:
    """Return why a bot has its rank; UnknownNameError if there is no such tournament, or no such bot in it."""
    tournament = home.store.tournament(parameters.tournament)
    label = _entrant(tournament, parameters.bot)
    rated = rated_tournament(home, tournament)
    table = rated.table
    names = dict(tournament.definition.shown_names) | table.shown_names
    line = next((line for line in table.lines if line.label == label), None)
    mu = {bot: rating.mu for bot, rating in zip(table.fitted.names, table.fitted.ratings, strict=True)}
    matches = rated_matches_of(home.store, tournament, label) if label in mu else []
    matches = [match for match in matches if all(bot in mu for bot in match.bots)]
    rivals = tuple(
        RivalLine.of(score, name=names.get(score.rival, score.rival), mu=mu[score.rival])
        for score in against_rivals(label, matches, table.fitted, rated.results)
    )
    return ExplanationPage(
        tournament=tournament.name,
        bot=label,
        name=names[label],
        verdict=sentence(_verdict(names[label], line, table, rivals), {name: bot for bot, name in names.items()}),
        standing=None if line is None else standing_line(line),
        bots=len(table.lines),
        players=table.players,
        rivals=rivals,
        surprises=tuple(
            SurprisingEncounter.of(
                surprise,
                rivals=tuple(rivals_in(surprise, label)),
                names=tuple(names.get(rival, rival) for rival in rivals_in(surprise, label)),
                matches=tuple(match.match for match in surprise.matches),
            )
            for surprise in surprises(label, matches, table.fitted, MAX_SURPRISES)
        ),
        encounters=len({match.encounter for match in matches}),
    )


def _entrant(tournament: StoredTournament, bot: str) -> str:
    """Return the entrant with this label, or the name that tables show, as ``name@version``."""
    shown: Mapping[str, str] = tournament.definition.shown_names
    if bot in shown:
        return bot
    for label, name in shown.items():
        if name == bot:
            return label
    raise UnknownNameError("bot", bot, list(shown.values()))


def _verdict(name: str, line: Standing | None, table: Standings, rivals: Sequence[RivalLine]) -> str:
    if line is None:
        return f"{marked(name)} has no line in the standings."
    if not rivals or line.rank_interval is None:
        return f"{marked(name)} has no rated match yet, and so no rating of its own."
    low, high = line.rank_interval
    doubt = "" if low == high else f"; at 95 % its rank by rating is {interval_text(line.rank_interval)}"
    text = f"{marked(name)} has rank {line.rank} of {len(table.lines)}{doubt}."
    by_influence = sorted((round(rival.influence or 0.0, EXPOSURE_DECIMALS), rival.name) for rival in rivals)
    (down, lowering), (up, raising) = by_influence[0], by_influence[-1]
    if up >= WORTH_NAMING:
        text += f" What raises its rating most are its matches with {marked(raising)}: by {up:.1f}."
    if down <= -WORTH_NAMING:
        most = "What lowers it most are those" if up >= WORTH_NAMING else "What lowers its rating most are its matches"
        text += f" {most} with {marked(lowering)}: by {-down:.1f}."
    return text
