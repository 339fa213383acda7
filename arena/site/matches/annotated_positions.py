"""What annotations say of positions, in words: for a page, which never asks an oracle itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.base.errors import GameError
from arena.games import Game
from arena.lab.matches.annotation import AnnotatedAction, Annotation, Mark, points_for
from arena.lab.solving.worth import SEATS, Worth, worth_text
from arena.site.matches.match_model import EqualActions, PositionAnnotation

MAX_CHOICES = 20_000
"""Legal actions that a page lists in all; of a larger match, those of the shown position alone."""

MAX_ACTION_CHARACTERS = 40


class AnnotatedPositions:
    """The positions of a page, with what is known of them."""

    def __init__(
        self,
        annotation: Annotation,
        names: Sequence[str],
        game: Game[Any],
        states: Sequence[Any],
        plies: range,
        wanted: int,
    ) -> None:
        """Choose positions.

        Args:
            annotation: of the match.
            names: what tables call the bots.
            game: its rules.
            states: before its first action and after each one.
            plies: of the positions on the page.
            wanted: the ply that is shown at first.
        """
        self._annotation = annotation
        self._names = names if len(set(names)) == len(SEATS) else SEATS
        self._game = game
        self._states = states
        count = sum(len(action.choices) for action in annotation.actions[plies.start : plies.stop])
        self._with_choices = plies if count <= MAX_CHOICES else range(wanted, wanted + 1)

    def at(self, ply: int) -> PositionAnnotation:
        """Return what is known of a position."""
        annotation = self._annotation
        worth = annotation.worths[ply]
        has_choices = ply in self._with_choices and ply < len(annotation.actions)
        return PositionAnnotation(
            mark=annotation.mark(ply - 1) if ply else Mark.NONE,
            worth=worth_text(worth, self._names),
            margin=worth.margin,
            choices=self._choices(ply) if has_choices else (),
        )

    def _choices(self, ply: int) -> tuple[EqualActions, ...]:
        """Return the legal actions by what they are worth, the best first; none if the rules list others now."""
        action, marks = self._annotation.actions[ply], self._annotation.choice_marks(ply)
        texts = self._texts(ply)
        if not texts or len(texts) != len(action.choices):
            return ()
        groups: dict[tuple[Worth, Mark], list[int]] = {}
        for place in _best_first(action):
            groups.setdefault((action.choices[place], marks[place]), []).append(place)
        return tuple(
            EqualActions(
                worth=worth_text(worth, self._names),
                mark=mark,
                actions=tuple(texts[place] for place in places),
                played=texts[action.chosen] if action.chosen in places else "",
            )
            for (worth, mark), places in groups.items()
        )

    def _texts(self, ply: int) -> list[str]:
        try:
            legal = self._game.legal_actions(self._states[ply])
            return [str(self._game.format_action(action))[:MAX_ACTION_CHARACTERS] for action in legal]
        except GameError:
            return []


def _best_first(action: AnnotatedAction) -> list[int]:
    """Return the places of the legal actions, the best one for the seat that acts first."""
    sign = 1 if action.seat == 0 else -1

    def value(place: int) -> tuple[float, float]:
        worth = action.choices[place]
        return points_for(action.seat, worth.least), sign * (worth.margin or 0)

    return sorted(range(len(action.choices)), key=value, reverse=True)
