"""Asking for the analysis of a recorded match: it waits in a queue, which the annotator takes before its own work."""

from __future__ import annotations

from arena.base.enums import AnalysisState
from arena.base.errors import UnknownNameError, UsageError
from arena.lab.matches.annotation import annotation_of, turning_point
from arena.server.gate.gate import too_often
from arena.server.gate.operation import Done, Operation, Visit
from arena.server.http.hosts import network_of
from arena.site.links import address_of
from arena.site.matches.match import analysis_of
from arena.site.matches.match_model import MatchParameters
from arena.site.page_table import PAGE_BY_NAME
from arena.store.people.rates import Rate
from arena.store.people.values import DAY_SECONDS, Permission

ASKED = Rate(120, 3600.0)
ANALYSES = Rate(10, DAY_SECONDS)


@Operation(
    "POST",
    "/tournaments/{tournament}/matches/{match}/analysis",
    Permission.PLAY,
    rate=ASKED,
    is_in_the_open=True,
)
def ask_for_analysis(visit: Visit, sent: MatchParameters) -> Done:
    """Ask for the analysis of a recorded match that everybody sees; asking again changes nothing."""
    store = visit.homes.public().store
    tournament = store.tournament(sent.tournament)
    record = store.find_record(tournament, sent.match)
    if record is None and sent.match > (last := store.last_match(tournament)):
        raise UnknownNameError("match", str(sent.match), [f"1 to {last}"] if last else [])
    if record is None:
        raise UsageError(f"match {sent.match} of {sent.tournament} has no record, so there is nothing to analyse")
    annotation = annotation_of(store, tournament, record)
    analysis = analysis_of(store, tournament, record, annotation)
    if analysis.may_be_asked_for:
        store.analysis_requests.check_room()
        person = visit.actor.number
        whose = network_of(visit.address) if person is None else f"person {person}"
        if wait := visit.people.rates.take(f"analyses of {whose}", ANALYSES):
            raise too_often(wait)
        store.analysis_requests.add(tournament, record.match)
        analysis = analysis_of(store, tournament, record, annotation)
    elif analysis.state is AnalysisState.NONE:
        raise UsageError(analysis.sentence)
    # the address has a ply, so that neither the browser nor the site answers with an older cached page
    point = turning_point(record, annotation) if annotation is not None else None
    ply = len(record.actions) if point is None else point.ply
    values = {"tournament": tournament.name, "match": record.match, "ply": ply}
    return Done(
        to=f"{address_of(PAGE_BY_NAME['match'], values)}#analysis",
        sentence=analysis.sentence or "all its positions are known",
    )
