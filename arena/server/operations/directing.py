"""What pages about tournaments show that a program of the site keeps going."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Any
from urllib.parse import quote

from annotated_types import Len
from pydantic import BeforeValidator, Field, create_model

from arena.base.enums import DisqualifiedMatches
from arena.server.gate.operation import Done, Fields, Number, Operation, Reason, Visit, Who
from arena.server.http.problems import bad_address
from arena.server.operating.service_programs import problems, public_sentence
from arena.server.operations.contests_model import embargoed_place, tournament_of
from arena.site.frame.model import Model
from arena.store.people.directors import LADDER, DesiredState, DirectorReport, DirectorState, RequestState, Suspension
from arena.store.people.rates import Rate
from arena.store.people.values import Permission
from arena.store.results.values import StoredTournament


class SupervisedRunStatus(Model):
    """A supervised tournament.

    Attributes:
        is_silent: whether the program has not reported for so long that it does not run.
        since: since when it is in that state.
        wish: what a director wants.
        playing: matches that are being played or are assigned to workers.
        margin_95: the widest ± 95 % interval; None if it is not known.
        wanted_margin_95: at which it waits; None if that does not end it.
        seconds_left: until it is as precise as that, about; None if that is not known.
        void_in_row: matches that were void one after the other.
    """

    tournament: str
    state: DirectorState
    is_silent: bool
    since: str
    seen_at: str
    sentence: str
    wish: DesiredState
    wish_reason: str
    recorded: int
    scheduled: int
    playing: int
    margin_95: float | None
    wanted_margin_95: float | None
    seconds_left: float | None
    void_in_row: int
    sitting_out: tuple[Suspension, ...]


class ServiceProblem(Model):
    """A health problem of a service."""

    part: str
    sentence: str


class ServicesPage(Model):
    """The health problems of the services, as operators see them."""

    troubles: tuple[ServiceProblem, ...]


class LaddersPage(Model):
    """The ladders of the site, by name, and what each is doing."""

    ladders: tuple[SupervisedRunStatus, ...]
    may_direct: bool


class RequestLine(Model):
    """A request to the program of a supervised tournament; its outcome is "" before it is decided."""

    number: int
    kind: str
    arguments: dict[str, Any]
    reason: str
    by: str
    made_at: str
    state: RequestState
    outcome: str


class DirectingPage(Model):
    """A supervised tournament, for directors; lists have the latest first.

    Attributes:
        replacements: the submitted bots of the arena, as ``name@version``; none for a ladder.
        may_annul: whether the matches of who is disqualified can count for nobody.
        is_finished: whether all of it is played; never so of a ladder.
        contest: of which contest it is; "" if of none.
    """

    kept: SupervisedRunStatus
    program: str
    requests: tuple[RequestLine, ...]
    entrants: tuple[str, ...]
    replacements: tuple[str, ...]
    may_annul: bool
    is_finished: bool
    contest: str
    is_hidden: bool

    @property
    def is_asked_for_again(self) -> bool:
        """Always: no event tells of requests."""
        return True


# Operations to pause and correct supervised tournaments of the site: ladders and contests. They write requests with
# their reasons into the public log; the program of the tournament carries them out between matches.

MAX_MATCHES = 1000
"""In one request to void some."""
MAX_REPLACEMENTS = 500
"""That are offered; others can be typed."""
REQUESTS = Rate(120, 3600.0)
PAGE = "/tournaments/{tournament}/direct"


def _numbers(sent: object) -> object:
    return sent.replace(",", " ").split() if isinstance(sent, str) else sent


Bot = Annotated[str, Len(1, 130), Field(title="Entrant")]
"""``name`` or ``name@version``."""
NewBot = Annotated[str, Len(1, 130), Field(title="The bot whose files it gets")]
Rule = Annotated[DisqualifiedMatches, Field(DisqualifiedMatches.ANNUL)]
"""What becomes of the matches of a disqualified entrant."""
Numbers = Annotated[tuple[Number, ...], Len(1, MAX_MATCHES), BeforeValidator(_numbers)]
_Correction = Annotated[Number, Field(title="Number of the correction")]


WITH_LATER_STAGES = ("knockout",)
"""Formats by name, as the web process loads none."""


class Reasoned(Fields):
    """Which tournament, and why."""

    tournament: str
    reason: Reason


@Operation("GET", "/ladders", Who.ANYBODY, "ladders", is_in_the_open=True)
def show_ladders(visit: Visit) -> LaddersPage:
    """The supervised ladders, and what each is doing."""
    return LaddersPage(
        ladders=tuple(_status(visit, report) for report in visit.people.directors.reports(LADDER)),
        may_direct=visit.actor.person is not None and Permission.DIRECT in visit.actor.permissions,
    )


@Operation("GET", "/health/parts", Permission.MANAGE_PEOPLE, "health_parts")
def show_services(visit: Visit) -> ServicesPage:
    """What is wrong with the services of the site, in full."""
    health_problems = problems(visit.homes.public.directory, visit.people)
    return ServicesPage(troubles=tuple(ServiceProblem.of(problem, part=problem.service) for problem in health_problems))


@Operation("GET", PAGE, Permission.DIRECT, "directing")
def show_directing(visit: Visit, tournament: str) -> DirectingPage:
    """A supervised tournament, and what was asked of it."""
    report = visit.people.directors.report(tournament)
    if report is None:
        raise bad_address(f"No service of this site supervises a tournament {tournament!r:.80}.", 404)
    contest = next((one for one in visit.people.contests.all() if tournament in one.contest.tournaments), None)
    is_hidden = contest is not None and embargoed_place(visit, contest) is not None
    stored = tournament_of(visit, tournament, contest if is_hidden else None)
    requests = tuple(map(RequestLine.of, visit.people.requests.of(tournament)))
    return DirectingPage(
        kept=_status(visit, report),
        program=report.program,
        requests=requests,
        entrants=_entrants(stored) if stored is not None else (),
        replacements=_replacements(visit) if report.program != LADDER else (),
        may_annul=stored is None or stored.definition.format not in WITH_LATER_STAGES,
        is_finished=report.program != LADDER  # which others may still enter
        and stored is not None
        and stored.finished_at is not None
        and all(one.state in (RequestState.DONE, RequestState.REFUSED) for one in requests),
        contest=contest.name if contest is not None else "",
        is_hidden=is_hidden,
    )


def _entrants(tournament: StoredTournament) -> tuple[str, ...]:
    """Return the bots that are paired; those that were disqualified or have withdrawn come back by undoing that."""
    definition = tournament.definition
    return tuple(bot.label for number, bot in enumerate(definition.entrants) if number not in definition.gone)


def _replacements(visit: Visit) -> tuple[str, ...]:
    submitted = visit.homes.public().store.submitted_bots()
    return tuple(bot.label for bot in reversed(submitted[-MAX_REPLACEMENTS:]))


def _directed(what: str, summary: str, fields: type[Reasoned]) -> Operation:
    path = f"/tournaments/{{tournament}}/{what}"
    return Operation("POST", path, Permission.DIRECT, fields=fields, summary=summary, form=PAGE, rate=REQUESTS)


def _set_state(what: str, summary: str, state: DesiredState) -> Operation:

    @_directed(what, summary, Reasoned)
    def handler(visit: Visit, sent: Reasoned) -> Done:
        visit.people.directors.set_desired_state(sent.tournament, state, reason=sent.reason, by=visit.person.name)
        return _done(sent, f"{state}: {sent.tournament}")

    return handler


def _add_request(kind: str, summary: str, subject_of: Callable[[Any], str], **fields: Any) -> Operation:
    """Return the operation that adds a request; ``subject_of`` returns its subject from the fields."""

    @_directed(kind, summary, create_model(kind, __base__=Reasoned, __doc__=None, **fields))
    def handler(visit: Visit, sent: Reasoned) -> Done:
        arguments, subject = sent.model_dump(mode="json", exclude={"tournament", "reason"}), subject_of(sent)
        request = visit.people.requests.add(
            sent.tournament, kind, arguments, subject=subject, reason=sent.reason, by=visit.person.name
        )
        return _done(sent, f"request {request.number} waits: {kind} {subject}")

    return handler


def _matches(sent: Any) -> str:
    shown = ", ".join(map(str, sent.numbers[:10])) + (", …" if len(sent.numbers) > 10 else "")
    return f"match {shown}" if len(sent.numbers) == 1 else f"matches {shown}"


def _done(sent: Reasoned, sentence: str) -> Done:
    return Done(to=f"/tournaments/{quote(sent.tournament, safe='@')}/direct", sentence=sentence)


def _status(visit: Visit, report: DirectorReport) -> SupervisedRunStatus:
    people, is_operator = visit.people, Permission.MANAGE_PEOPLE in visit.actor.permissions
    desired = people.directors.desired_state(report.tournament)
    return SupervisedRunStatus.of(
        report,
        report.figures,
        is_silent=people.directors.is_silent(report),
        sentence=report.sentence if is_operator else public_sentence(report.state, report.sentence),
        wish=desired.state if desired is not None else DesiredState.PLAY,
        wish_reason=desired.reason if desired is not None else "",
    )


_BOT = attrgetter("bot")
CHANGES = (
    _set_state("pause", "Let no match begin; those that are being played end.", DesiredState.PAUSE),
    _set_state("resume", "Let matches begin again.", DesiredState.PLAY),
    _set_state("drain", "Let the round be finished, and no other begin.", DesiredState.DRAIN),
    _add_request("withdraw", "Let an entrant withdraw.", _BOT, bot=Bot),
    _add_request("disqualify", "Disqualify an entrant.", _BOT, bot=Bot, rule=Rule),
    _add_request("replace", "Give an entrant the files of another bot of the arena.", _BOT, bot=Bot, new=NewBot),
    _add_request("void", "Let matches not count, and be played again.", _matches, numbers=Numbers),
    _add_request("undo", "Undo a correction.", lambda sent: f"correction {sent.correction}", correction=_Correction),
)
