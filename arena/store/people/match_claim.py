"""Claims of unrated matches: a program of the play host that has one plays the match on, and no other does."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, case

from arena.store.people.play_slots import LEFT
from arena.store.people.times import Clock
from arena.store.people.unrated_match import ENDED, MatchState, Position, UnratedMatch
from arena.store.people.unrated_rows import UnratedRows, values_of
from arena.store.people.unrated_schema import unrated_matches as matches

CLAIM_SECONDS = 5.0


class MatchClaim:
    """The right to play on a match; it is lost when it was not kept up in time, or when the match has ended."""

    def __init__(self, rows: UnratedRows, clock: Clock, number: int, secret: str) -> None:
        self.number = number
        self._rows, self._clock, self._secret = rows, clock, secret

    def keep(self) -> bool:
        """Say that somebody is at it; return whether the claim still holds."""
        return self._write({"claimed_until": self._clock.text(CLAIM_SECONDS)})

    def read(self) -> UnratedMatch | None:
        """Return the match as it is now; None if the claim is lost, or the match has no slot any more."""
        one = self._rows.one(self._holds())
        return one if one is not None and one.has_slot else None

    def write(self, position: Position, bot_digest: str, is_resumed: bool = False) -> bool:
        """Write how far the match has got; return whether the claim held.

        Args:
            position: how far.
            bot_digest: of the bot's files.
            is_resumed: it has got no further than before, so what the person wishes is still to be done.
        """
        tries = case((matches.c.plies < position.plies, 0), else_=matches.c.tries)
        values = values_of(position) | {"bot_digest": bot_digest, "tries": tries}
        values |= {} if is_resumed else {"wish": None, "answer": ""}
        return self._write(values | (LEFT if position.state in ENDED else {}))

    def answer(self, sentence: str) -> bool:
        """Answer a wish that changes nothing; return whether the claim held."""
        return self._write({"wish": None, "answer": sentence, "tries": 0})

    def end(self, state: MatchState, reason: str) -> bool:
        """End the match where it is; return whether the claim held."""
        return self._write({"state": state, "reason": reason, "wish": None, "answer": ""} | LEFT)

    def release(self, has_failed: bool = False) -> None:
        """Give the claim up; after a failure, another try counts as one."""
        self._write({"claim": None, "claimed_until": None} | ({} if has_failed else {"tries": 0}))

    def _write(self, values: dict[str, Any]) -> bool:
        return self._rows.write(self._holds(), values)

    def _holds(self) -> ColumnElement[bool]:
        return (matches.c.id == self.number) & (matches.c.claim == self._secret)
