"""A bound to what the state of a watched match weighs, wherever it goes from here."""

from __future__ import annotations

import pickle

from arena.base.live_match import LiveMatch

MAX_LIVE_BYTES = 2_000_000
"""Of all actions; 10,000 actions of a game with a board weigh a tenth of that."""


class LiveWeight:
    """Knows what the actions of one match at a time weigh, and looks at each only once."""

    def __init__(self) -> None:
        self._match: tuple[int, str] | None = None
        self._bytes = self._plies = 0

    def bounded(self, live: LiveMatch) -> LiveMatch:
        """Return a state, without its actions if they are too large."""
        match = live.match, live.started_at
        if match != self._match:
            self._match, self._bytes, self._plies = match, 0, 0
        for action in live.actions[self._plies :]:
            if self._bytes > MAX_LIVE_BYTES:
                break
            self._bytes += len(pickle.dumps(action))
            self._plies += 1
        return live.without_actions() if self._bytes > MAX_LIVE_BYTES else live
