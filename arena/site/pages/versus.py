"""Builds the page about two bots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from arena.analysis.measures.bot_profile import HeadToHead as Counted
from arena.analysis.measures.bot_profile import find_labels, grouped, head_to_head, known_bots, meetings
from arena.base.text import all_of, counted
from arena.site.frame.reading import Reading
from arena.site.frame.sentences import marked, sentence
from arena.site.pages.results import listed_results
from arena.site.pages.versus_model import HeadToHead, HeadToHeadPart, VersusPage, VersusParameters
from arena.store.home import ArenaHome

LATEST_RESULTS = 12

METHOD = (
    "The score is the mean over encounters, the matches from one opening with the seats exchanged, of the share of"
    " points: 1 for a win, ½ for a draw. Its interval is 1.96 standard errors of that mean, with the variance between"
    " encounters drawn a little towards a coin's."
)


def build_versus(home: ArenaHome, parameters: VersusParameters) -> VersusPage:
    """Return how two bots did against each other, in all tournaments.

    Raises:
        UnknownNameError: if one of them does not exist.
    """
    reading = Reading()
    within = reading.scope(home.store)
    tournaments = {tournament.number: tournament for tournament in home.store.tournaments(within)}
    known = known_bots(list(tournaments.values()))
    bots, rivals = (find_labels(text, known) for text in (parameters.bot, parameters.rival))
    matches = home.store.matches_of(bots, rivals, within)
    met = meetings(matches.results(), bots, rivals)
    total = head_to_head(met)
    by_game = dict(sorted(grouped(met, lambda one: one.game).items()))
    said = _Said(parameters.bot, parameters.rival, total, by_game)
    by_tournament = grouped(met, lambda one: one.tournament)
    is_several = len({(one.bot, one.rival) for one in met}) > 1
    versions = grouped(met, lambda one: (one.bot, one.rival)) if is_several else {}
    return VersusPage(
        bot=parameters.bot,
        rival=parameters.rival,
        bots=tuple(bots),
        rivals=tuple(rivals),
        verdict=sentence("".join(said.verdict()), {bot: bot for bot in (parameters.bot, parameters.rival)}),
        method=METHOD,
        better=said.better(total),
        encounters_to_go=total.encounters_to_go,
        total=HeadToHead.model_validate(_values(total)),
        games=tuple(_part(game, one) for game, one in by_game.items()),
        tournaments=tuple(_part(tournaments[number].name, one) for number, one in reversed(by_tournament.items())),
        seats=tuple(_part(str(seat), one) for seat, one in sorted(grouped(met, lambda one: one.seat).items())),
        versions=tuple(_part(f"{bot} – {rival}", one) for (bot, rival), one in sorted(versions.items())),
        results=listed_results(
            (tournaments[number], record) for number, record in matches.latest(LATEST_RESULTS) if number in tournaments
        ),
        left_out=reading.left_out,
    )


def _values(found: Counted) -> dict[str, int | float | None]:
    return {
        "wins": found.wins,
        "draws": found.draws,
        "losses": found.losses,
        "duplicates": found.duplicates,
        "encounters": found.encounters,
        "score_percent": None if found.score is None else 100 * found.score,
        "margin_percent": None if found.margin is None else 100 * found.margin,
    }


def _part(part: str, found: Counted) -> HeadToHeadPart:
    return HeadToHeadPart.model_validate({"part": part, **_values(found)})


class _Said:
    """Two bots and how they did, for the sentences about them."""

    def __init__(self, bot: str, rival: str, total: Counted, by_game: Mapping[str, Counted]) -> None:
        self._bot = bot
        self._rival = rival
        self._total = total
        self._by_game = by_game

    def better(self, counted_part: Counted) -> str | None:
        """Return the one that is better in some matches; None if that can't be known yet."""
        if not counted_part.is_clear or counted_part.score is None:
            return None
        return self._bot if counted_part.score > 0.5 else self._rival

    def verdict(self) -> Iterator[str]:
        """Yield pieces of text."""
        bot, rival, total = marked(self._bot), marked(self._rival), self._total
        if not total.matches:
            yield from (bot, " and ", rival, " have not met.")
            return
        if total.score is None or total.margin is None:
            yield from (bot, " and ", rival, f" have met in {counted(total.matches, 'match')}, none of which counts.")
            return
        ahead, behind = (bot, rival) if total.score >= 0.5 else (rival, bot)
        score = f"{100 * max(total.score, 1 - total.score):.1f} ± {100 * total.margin:.1f} % of the points"
        how = f"{score} over {counted(total.encounters, 'encounter')}"
        if total.is_clear:
            yield from (ahead, " is better than ", behind, f": {how}.")
        elif total.score == 0.5:
            yield from (ahead, " and ", behind, f" can't be told apart: {how} each.")
        else:
            yield from (ahead, " and ", behind, " can't be told apart yet: ", ahead, f" has {how}.")
            if total.encounters_to_go is not None:
                yield f" At this score, some {_rounded(total.encounters_to_go):,} more encounters would decide."
        yield from self._elsewhere()

    def _elsewhere(self) -> Iterator[str]:
        """Yield a sentence for the games in which not the same is better as in all matches."""
        for side in (self._bot, self._rival):
            games = [game for game, one in self._by_game.items() if self.better(one) == side]
            if games and side != self.better(self._total):
                yield from (f" In {all_of(games)}, ", marked(side), " is better.")


def _rounded(count: int) -> int:
    """Return a count to two digits."""
    return round(count, min(0, 2 - len(str(count))))
