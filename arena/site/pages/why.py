"""Builds the page that says why a bot has its rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.analysis.measures.standings import Standing, Standings
from arena.analysis.measures.why_ranked import against_rivals, rated_matches_of, rivals_in, surprises
from arena.analysis.text.standings_columns import interval_text
from arena.base.errors import UnknownNameError
from arena.site.frame.sentences import marked, sentence
from arena.site.pages.rated import rated_tournament
from arena.site.pages.standings import standing_line
from arena.site.pages.why_model import RivalLine, SurprisingEncounter, WhyPage, WhyParameters
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament

MAX_SURPRISES = 12

WORTH_NAMING = 0.05
"""An influence that is smaller moves nothing that the page shows."""


def build_why(home: ArenaHome, parameters: WhyParameters) -> WhyPage:
    """Return why a bot has its rank.

    Raises:
        UnknownNameError: if there is no such tournament, or no such bot in it.
    """
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
        RivalLine(
            rival=one.rival,
            name=names.get(one.rival, one.rival),
            mu=mu[one.rival],
            matches=one.matches,
            points=one.points,
            expected_points=one.expected_points,
            influence=one.influence,
        )
        for one in against_rivals(label, matches, table.fitted, rated.results)
    )
    return WhyPage(
        tournament=tournament.name,
        bot=label,
        name=names[label],
        verdict=sentence(_verdict(names[label], line, table, rivals), {name: bot for bot, name in names.items()}),
        standing=None if line is None else standing_line(line),
        bots=len(table.lines),
        players=table.players,
        rivals=rivals,
        surprises=tuple(
            SurprisingEncounter(
                encounter=one.encounter,
                occurrences=one.occurrences,
                rivals=tuple(rivals_in(one, label)),
                names=tuple(names.get(rival, rival) for rival in rivals_in(one, label)),
                matches=tuple(match.match for match in one.matches),
                points=one.points,
                expected_points=one.expected_points,
                probability=one.probability,
            )
            for one in surprises(label, matches, table.fitted, MAX_SURPRISES)
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
    """Return the reasons in a sentence or two, with marked names."""
    if line is None:
        return f"{marked(name)} has no line in the standings."
    if not rivals or line.rank_interval is None:
        return f"{marked(name)} has no rated match yet, and so no rating of its own."
    low, high = line.rank_interval
    doubt = "" if low == high else f"; at 95 % its rank by rating is {interval_text(line.rank_interval)}"
    text = f"{marked(name)} has rank {line.rank} of {len(table.lines)}{doubt}."
    by_influence = sorted((rival.influence or 0.0, rival.name) for rival in rivals)
    (down, lowering), (up, raising) = by_influence[0], by_influence[-1]
    if up >= WORTH_NAMING:
        text += f" What raises its rating most are its matches with {marked(raising)}: by {up:.1f}."
    if down <= -WORTH_NAMING:
        most = "What lowers it most are those" if up >= WORTH_NAMING else "What lowers its rating most are its matches"
        text += f" {most} with {marked(lowering)}: by {-down:.1f}."
    return text
