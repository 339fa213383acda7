"""How far the analysis of a recorded match is, and whether somebody may ask for it."""

from __future__ import annotations

from arena.base.enums import AnalysisState
from arena.base.records import MatchRecord
from arena.lab.matches.annotation import Annotation, is_analysed_here
from arena.site.matches.match_model import MatchAnalysis
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament


def analysis_of(
    store: Store, tournament: StoredTournament, record: MatchRecord, annotation: Annotation | None
) -> MatchAnalysis:
    """Return how far the analysis of a match is, from its annotation and what became of a request."""
    asked = store.analysis_requests.find(tournament, record.match)
    if asked is not None and asked.state is AnalysisState.RUNNING:
        return MatchAnalysis(state=asked.state, sentence="Being analysed now, which takes at most about a minute.")
    if asked is not None and asked.state is AnalysisState.WAITING:
        return MatchAnalysis.of(asked, sentence=f"Analysis asked for: place {asked.place} of {asked.waiting}.")
    if annotation is not None and not annotation.unknown_before:
        return MatchAnalysis(state=AnalysisState.DONE)
    unknown = _unknown_positions(annotation)
    if asked is not None:
        sentence = f"Searched for {asked.searched_seconds} s; {unknown} stay unknown."
        return MatchAnalysis(state=AnalysisState.UNKNOWN, sentence=sentence)
    may_be_asked_for = is_analysed_here(record.game, len(record.bots))
    others = "" if may_be_asked_for else " Only matches for two of the arena’s own games are analysed here."
    sentence = f"Not analysed yet.{others}" if annotation is None else f"Not known yet: {unknown}.{others}"
    return MatchAnalysis(state=AnalysisState.NONE, sentence=sentence, may_be_asked_for=may_be_asked_for)


def _unknown_positions(annotation: Annotation | None) -> str:
    if annotation is None:
        return "its positions"
    is_to_the_end = annotation.unknown_before == len(annotation.worths)
    return "positions up to its end" if is_to_the_end else f"positions before ply {annotation.unknown_before}"
