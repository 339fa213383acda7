"""What the pages show on which people play against bots; ``server/operations/playing.py`` has their operations."""

from __future__ import annotations

from arena.site.frame.model import Model
from arena.site.matches.games_model import GameOption
from arena.site.matches.match_model import Shape, ViewedMatch
from arena.store.people.answers import Enjoyed
from arena.store.people.unrated_match import ENDED, MatchState

SEATS = 2
"""Of a game that has no option for it."""
MAX_SEATS = 3
"""The chosen bot plays all but the one of the person."""


class PlayableGame(Model):
    """A game that can be played in the browser.

    Attributes:
        name: its name, or the dotted path of an external game.
        options: those that can be chosen, within what a browser shows well.
    """

    name: str
    summary: str
    options: tuple[GameOption, ...]

    @property
    def seats(self) -> int:
        """How many seats it can have at most."""
        return next((one.maximum or SEATS for one in self.options if one.name == "players"), SEATS)


class PlayableBot(Model):
    """A bot that can be played against.

    Attributes:
        name: ``arena:NAME`` or ``name@version``.
        games: that it plays; empty for all.
    """

    name: str
    label: str
    games: tuple[str, ...] = ()

    def plays(self, game: str) -> bool:
        """Return whether it plays a game."""
        return not self.games or game in self.games


class PlayMenu(Model):
    """The choices before an unrated match.

    Attributes:
        bots: the latest version of each.
        slots: how many may play at once.
        refusal: why nobody can play here, as a sentence; empty if everybody can.
    """

    games: tuple[PlayableGame, ...]
    bots: tuple[PlayableBot, ...]
    slots: int
    refusal: str = ""


class OwnMatch(Model):
    """An unrated match of the reader.

    Attributes:
        bot: as it was chosen.
    """

    address: str
    game: str
    bot: str
    state: MatchState
    plies: int
    acted_at: str


class PlayPage(Model):
    """The form to begin an unrated match.

    Attributes:
        game: the one that is chosen; None before.
        bot: the one that is proposed.
        seconds: a bot's possible times for each action.
        refusal: why nobody can play here, as a sentence; empty if everybody can.
        remarks: why bots are not offered, and which of the reader's are offered to nobody else; sentences.
        authors: owners of the submitted bots on it, by ``name@version``.
    """

    games: tuple[PlayableGame, ...]
    game: PlayableGame | None
    bots: tuple[PlayableBot, ...]
    bot: str
    seconds: tuple[float, ...]
    refusal: str
    remarks: tuple[str, ...]
    own: tuple[OwnMatch, ...]
    authors: dict[str, str]


class Place(Model):
    """A place on the board: an action, or a square without one.

    Attributes:
        action: as text; empty where none is legal.
        label: what it is, in words.
        refusal: why nothing can be played on a square now; empty where something can, or nothing is known.
        is_empty: whether it is a square with nothing in it.
        box: where to press: left, lower edge, width and height, in squares.
        preview: what the action would be, where that is more than the box; None otherwise.
    """

    action: str
    label: str
    box: tuple[float, float, float, float]
    refusal: str = ""
    is_empty: bool = False
    preview: Shape | None = None


class PlayedAction(Model):
    """An action of an unrated match; ``seconds`` is the bot's computing time, None for the person.

    ``mark`` is ``?`` or ``??`` if it gave something away, once the match is over.
    """

    seat: int
    text: str
    seconds: float | None
    mark: str = ""


class PlayView(Model):
    """An unrated match by the rules.

    Attributes:
        places: of actions on the board.
        legal: the legal actions, unless there are too many.
        actions: the latest of those that were played.
        left_out: how many are before these.
        notes: that the bot sent with its actions, once the match is over.
        analysis: what decided it, as a sentence, once it is over; empty where the lab does not know the game.
    """

    shown: ViewedMatch
    places: tuple[Place, ...]
    legal: tuple[str, ...]
    legal_count: int
    action_format: str
    actions: tuple[PlayedAction, ...]
    left_out: int = 0
    notes: tuple[str, ...] = ()
    result: str = ""
    analysis: str = ""


class Ballot(Model):
    """The question after a variation: which of both matches did the reader enjoy more?

    Attributes:
        option: that was changed.
        values: in the match before, and in this one.
        is_open: whether both were played.
        choice: what the reader has said; None before.
    """

    option: str
    values: tuple[int | str, int | str]
    is_open: bool
    choice: Enjoyed | None


class UnratedMatchPage(Model):
    """An unrated match.

    Attributes:
        bot: as it was chosen.
        challenger: the reader's bot, which plays in their place; "" if they play.
        is_waiting: whether the play host is at it: this page will change by itself.
        may_undo: whether the person has an action to take back now.
        may_ask: whether the bot gives hints: an example bot, or one of the reader's.
        rest: why play stops now and continues later; empty if it continues.
        answer: a hint, or why the last request was rejected; else empty.
        hint: the action that the answer hints at; else empty.
        outcome: how it ended, or why it could not go on; empty before.
        idle_minutes: after which a person who does nothing gives up the slot.
        authors: owners of its submitted bots, by ``name@version``.
        variations: what can be changed in the next match, as ``NAME=VALUE``; none before this one was played.
        ballot: None if this match is no variation.
    """

    address: str
    game: str
    options: dict[str, int | str]
    bot: str
    seat: int
    seconds: float
    state: MatchState
    is_waiting: bool
    plies: int
    may_undo: bool
    may_ask: bool
    rest: str
    answer: str
    hint: str = ""
    outcome: str
    view: PlayView | None
    idle_minutes: int
    challenger: str = ""
    authors: dict[str, str]
    variations: tuple[str, ...] = ()
    ballot: Ballot | None = None


class OwnChallenge(Model):
    """A challenge of the reader: a match of a bot of theirs against another.

    Attributes:
        outcome: how it ended; "" before.
    """

    address: str
    game: str
    challenger: str
    bot: str
    seat: int
    state: MatchState
    plies: int
    begun_at: str
    outcome: str


class ChallengesPage(Model):
    """The form for a challenge, and the reader's latest challenges.

    Attributes:
        challengers: the reader's bots.
        bots: those of others that can be challenged; a game is played by both.
        bot: the one that is proposed.
        games: those that some bot of the reader plays.
        game: the one that is proposed, which the first of the reader's bots plays; "" for none.
        refusal: why nothing can be played now, as a sentence; "" if it can.
        authors: owners of the submitted bots on it, by ``name@version``.
    """

    challengers: tuple[PlayableBot, ...]
    bots: tuple[PlayableBot, ...]
    bot: str
    games: tuple[str, ...]
    game: str
    seconds: tuple[float, ...]
    refusal: str
    remarks: tuple[str, ...]
    own: tuple[OwnChallenge, ...]
    authors: dict[str, str]

    @property
    def is_asked_for_again(self) -> bool:
        """Whether a challenge is still being played."""
        return any(challenge.state not in ENDED for challenge in self.own)
