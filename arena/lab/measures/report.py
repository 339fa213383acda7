"""The quality of a game as eleven measures: from what a survey found to values that are shown and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from arena.games.coprimality import Coprimality
from arena.games.game import Game
from arena.lab.measures import formulas
from arena.lab.measures.measure import Estimate, Measure, Row
from arena.lab.measures.survey import Findings, Plan, Survey
from arena.lab.solving.limits import Limits

PARTS_OF = {
    "value": ("value",),
    "first_seat": ("random", "played"),
    "draws_and_margins": ("random", "played"),
    "openings": ("openings",),
    "choice": ("valued",),
    "decided": ("valued",),
    "comebacks": ("valued", "played"),
    "depth": ("steps",),
    "simple": ("simple",),
    "first_actions": ("openings", "played"),
    "length": ("random", "played"),
}
"""Which parts of a survey each measure is made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """The eleven measures of a game with its options, and how much was measured."""

    game: str
    options: Mapping[str, Any]
    plan: Plan
    measures: tuple[Measure, ...]

    def measure(self, key: str) -> Measure:
        """Return a measure by its key."""
        return next(measure for measure in self.measures if measure.key == key)

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for programs."""
        return {
            "game": self.game,
            "options": dict(self.options),
            "rng_seed": self.plan.rng_seed,
            "encounters": self.plan.encounters,
            "doublings": self.plan.doublings,
            "measures": [_measure_json(number, measure) for number, measure in enumerate(self.measures, 1)],
        }


def survey_quality(
    game: Game[Any], path: str, plan: Plan, limits: Limits, announce: Callable[[str], None] = lambda _: None
) -> QualityReport:
    """Measure a game; ``announce`` receives what comes next. GameError if the rules contradict themselves."""
    findings = Survey(game, path, plan, limits).findings(announce)
    return QualityReport(game=path, options=game.options, plan=plan, measures=measures_of(findings))


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the eleven measures of what was played and solved."""
    game = findings.game
    played = {name: formulas.played_profile(matches, game.players) for name, matches in findings.played.items()}
    strengths = {**played, **findings.known}
    ends = {name: strengths[name] for name in ("random", findings.strongest_search) if name in strengths}
    rows: dict[str, tuple[Row, ...]] = {
        "value": formulas.value_by_size(findings.solutions),
        "first_seat": formulas.first_seat(strengths, game.players),
        "draws_and_margins": formulas.draws_and_margins(strengths),
        "openings": tuple(findings.openings),
        "choice": formulas.choice(findings.valued),
        "decided": formulas.decided(findings.valued),
        "comebacks": (
            *formulas.comebacks(findings.valued),
            *formulas.visible_leads(findings.played.get(findings.strongest_search, []), game.scores),
        ),
        "depth": formulas.depth(findings.steps, findings.doublings),
        "simple": formulas.simple_results(findings.simple),
        "first_actions": (
            *(formulas.first_action_values(findings.first_values) if findings.first_values else ()),
            *formulas.first_action_variety(findings.first_actions, findings.equal_first_actions),
        ),
        "length": (
            *formulas.length_and_branching(ends),
            *formulas.kingmaking(findings.kingmaking),
            *formulas.eliminations(game, findings.played),
            *(formulas.turns(game.size, findings.played) if isinstance(game, Coprimality) else ()),
        ),
    }
    return tuple(
        Measure(key=key, title=title, about=about, rows=rows[key], note=_note(key, findings))
        for key, (title, about) in ABOUT.items()
    )


NEEDS_VALUES = ("openings", "choice", "decided")


def _note(key: str, findings: Findings) -> str:
    notes = []
    if key in NEEDS_VALUES and findings.no_values_reason:
        notes.append(f"Not known: {findings.no_values_reason}.")
    elif key in ("comebacks", "first_actions") and findings.no_values_reason:
        notes.append(f"Without exact values: {findings.no_values_reason}.")
    elif key == "value":
        if not findings.are_all_solved:
            notes.append("Boards that are missing or have bounds were not solved: too large, or the time was up.")
    elif any(part in findings.ended_early for part in PARTS_OF[key]):
        notes.append("The time was up before all observations were made; n says how many there are.")
    if key == "length" and findings.game.players > 2:
        notes.append("Who decides only among others is measured at the last choice of a match, not at earlier ones.")
    return " ".join(notes)


ABOUT = {
    "value": (
        "Value by size",
        "The margin of seat 0 with best play of all; where scores are points, it is the komi: those that seat 1 would"
        " have to get for a draw.",
    ),
    "first_seat": ("First seat", "What seat 0 takes of each match between equals, a draw counting half."),
    "draws_and_margins": (
        "Draws and margins",
        "How often equals share the first rank, and how many points the first is ahead of the second.",
    ),
    "openings": ("Opening balance", "What openings of random actions are worth with best play from there on."),
    "choice": (
        "Choice",
        "Whether it matters what one does, where there is a choice and not all is lost, in matches of the strongest"
        " search.",
    ),
    "decided": (
        "When it is decided",
        "The part of a match after which its outcome with best play did not change any more, in matches of the"
        " strongest search.",
    ),
    "comebacks": (
        "Comebacks",
        "How often who wins had lost with best play, and what the scores on the board showed, in matches of the"
        " strongest search.",
    ),
    "depth": (
        "Depth",
        "What each strength takes from the one below. A search has the number of playouts before each action that its"
        " name says.",
    ),
    "simple": ("Simple strategies", "What strategies that can be said in one sentence take."),
    "first_actions": ("First actions", "How many ways to begin are good, and how different matches begin."),
    "length": ("Length and branching", "How long matches are, and between how much one chooses."),
}
"""Title of each measure, and what its numbers are."""


def _measure_json(number: int, measure: Measure) -> dict[str, Any]:
    return {
        "number": number,
        "key": measure.key,
        "title": measure.title,
        "about": measure.about,
        "note": measure.note,
        "rows": [
            {"name": row.name, "at": row.at, "unit": row.unit, **estimate_json(row.estimate), "known": row.known}
            for row in measure.rows
        ],
    }


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return a number with its interval for programs, to nine decimals."""
    return {name: round(value, 9) if isinstance(value, float) else value for name, value in asdict(estimate).items()}
