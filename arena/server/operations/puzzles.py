"""What people ask of recorded matches: answers to puzzles with the ratings that follow, and analyses."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated
from urllib.parse import quote

from pydantic import Field

from arena.base.enums import AnalysisState
from arena.base.errors import UnknownNameError, UsageError
from arena.lab.matches.annotation import annotation_of, turning_point
from arena.lab.matches.puzzle import MAX_PUZZLES, Puzzle, kept_puzzles, numbered
from arena.server.gate.gate import spend
from arena.server.gate.operation import Done, Operation, Visit, Who
from arena.server.http.addresses import network_of
from arena.site.frame.model import Model
from arena.site.links import address_of
from arena.site.matches.match import analysis_of
from arena.site.matches.match_model import MatchParameters
from arena.site.page_table import PAGE_BY_NAME
from arena.store.people.answers import PuzzleTry
from arena.store.people.rates import Rate
from arena.store.people.values import DAY_SECONDS, Permission

ANSWERS = Rate(60, 3600.0)
PATH = "/tournaments/{tournament}/puzzles/{puzzle}/answer"
DRAWS = 0.001
"""Of a fit without draws: the least that there is."""


PuzzleNumber = Annotated[int, Field(ge=1, le=MAX_PUZZLES)]


class PuzzleRating(Model):
    """The rating of a person by answers to puzzles, or of a puzzle, with half its 95 % interval."""

    mu: float
    margin_95: float


class PuzzleAnswerPage(Model):
    """A person's answer to a puzzle; before it, ``is_solved`` is None and ``actions`` are those to choose from."""

    tournament: str
    puzzle: int
    seat: int
    goal: str
    actions: tuple[str, ...]
    is_solved: bool | None
    rating: PuzzleRating | None
    puzzle_rating: PuzzleRating | None


@Operation("GET", PATH, Who.MEMBER_IN_BROWSER, "puzzle_answer", room="overview")
def show_puzzle_answer(visit: Visit, tournament: str, puzzle: PuzzleNumber) -> PuzzleAnswerPage:
    """What one has answered to a puzzle, and the ratings of both; before that, the actions to choose from."""
    found, person = _puzzle_of(visit, tournament, puzzle), visit.person.number
    tries = visit.people.puzzle_tries.found(person_id=person)
    is_solved = next((puzzle_try.is_solved for puzzle_try in tries if puzzle_try.puzzle == found.key), None)
    return PuzzleAnswerPage(
        tournament=tournament,
        puzzle=puzzle,
        seat=found.seat,
        goal=found.goal_in_words,
        actions=tuple(choice.text for choice in found.choices) if is_solved is None else (),
        is_solved=is_solved,
        rating=rating_of(visit, person),
        puzzle_rating=rating_of(visit, found.key) if is_solved is not None else None,
    )


@Operation("POST", PATH, Who.MEMBER_IN_BROWSER, form=PATH, rate=ANSWERS)
def answer_puzzle(
    visit: Visit, tournament: str, puzzle: PuzzleNumber, action: Annotated[str, Field(min_length=1, max_length=200)]
) -> Done:
    """Answer a puzzle for one's rating; only the first answer of each person counts."""
    found, action = _puzzle_of(visit, tournament, puzzle), action.strip()
    if all(choice.text != action for choice in found.choices):
        raise UsageError(
            f"action {action!r:.80} is not legal in this puzzle; expected one like {found.choices[0].text}"
        )
    is_solved = found.choices[found.solution].text == action
    if not visit.people.puzzle_tries.add(visit.person.number, found.key, is_solved=is_solved):
        raise UsageError("you have answered this puzzle before, and only the first answer counts")
    sentence = f"{action} is {'right' if is_solved else 'wrong'}; your answer counts"
    return Done(to=PATH.format(tournament=quote(tournament, safe=""), puzzle=puzzle), sentence=sentence)


def _puzzle_of(visit: Visit, tournament: str, number: int) -> Puzzle:
    """Return a puzzle of a tournament that everybody sees: embargoed ones are in other homes."""
    public = visit.homes.public()
    return numbered(kept_puzzles(public.directory, public.store.tournament(tournament)), number)


def rating_of(visit: Visit, who: int | str) -> PuzzleRating | None:
    """Return the rating of a person, by number, or of a puzzle, by key; None before any answer."""
    tries = visit.people.puzzle_tries
    own = tries.found(person_id=who) if isinstance(who, int) else tries.found(puzzle=who)
    return _ratings(tuple(tries.found())).get(str(who)) if own else None


@lru_cache(maxsize=1)
def _ratings(tries: tuple[PuzzleTry, ...]) -> dict[str, PuzzleRating]:
    """Return the ratings of all people and puzzles from their answers, each a match of two."""
    from arena.ratings.environment import CONFIDENCE_95  # 0.2 s and 12 MB, which few servers need
    from arena.ratings.rated_results import fit_counted

    results = [
        (
            (
                (str(puzzle_try.person_id), puzzle_try.puzzle),
                (int(not puzzle_try.is_solved), int(puzzle_try.is_solved)),
            ),
            1,
        )
        for puzzle_try in tries
    ]
    fitted = fit_counted(results, draw_probability=DRAWS, polished=False).ratings
    return {name: PuzzleRating(mu=rating.mu, margin_95=CONFIDENCE_95 * rating.sigma) for name, rating in fitted.items()}


# Asking for the analysis of a recorded match: it waits in a queue, which the annotator takes before its own work.


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
        spend(visit.people, f"analyses of {whose}", ANALYSES)
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
