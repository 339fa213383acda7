"""What can be played in the browser here: games, their options, and bots."""

from __future__ import annotations

from arena.base.errors import ArenaError
from arena.base.shipped import PREFIX, example_bots
from arena.games import GAMES, IntOption, Option, find_game
from arena.match.players.manifest import load_bot
from arena.site.matches.games import MAX_EXTERNAL_GAMES, MAX_TEXT_CHARACTERS, external_games
from arena.site.matches.games_model import GameOption
from arena.site.matches.playing import PlayableBot, PlayableGame, PlayMenu
from arena.store.home import ArenaHome
from arena.store.results.values import StoredBot

MAX_SIZE = 20
"""Of a whole number that is chosen in the browser, unless the default is larger."""
SEATS = 2
MAX_BOTS = 500


class MenuMaker:
    """Says what can be chosen; what it knows of a bot, it need not read again. Closed with ``close``."""

    def __init__(self, home: ArenaHome, slots: int, has_submitted_bots: bool) -> None:
        """Prepare.

        Args:
            home: with submitted bots, and tournaments of games from elsewhere.
            slots: how many may play at once.
            has_submitted_bots: whether bots of strangers may be launched here.
        """
        self._home, self._slots, self._has_submitted_bots = home, slots, has_submitted_bots
        self._examples = tuple(_example(name) for name in example_bots())
        self._known: dict[StoredBot, PlayableBot | None] = {}
        self._signal, self._signalled = home.store.commit_signal(), ""

    def may_have_changed(self) -> bool:
        """Return whether anything was committed since this was last asked: a bot may have been accepted."""
        before, self._signalled = self._signalled, self._signal.read()
        return self._signalled != before

    def forget_missing(self) -> None:
        """Look again for the files of bots that were not there."""
        self._known = {bot: found for bot, found in self._known.items() if found is not None}

    def close(self) -> None:
        """Close what it has opened."""
        self._signal.close()

    def menu(self) -> PlayMenu:
        """Return what can be chosen now."""
        names = (*GAMES, *external_games(self._home)[:MAX_EXTERNAL_GAMES])
        games = tuple(game for game in map(playable_game, names) if game is not None)
        submitted = self._submitted() if self._has_submitted_bots else []
        return PlayMenu(games=games, bots=(*self._examples, *submitted[:MAX_BOTS]), slots=self._slots)

    def _submitted(self) -> list[PlayableBot]:
        """Return the latest version of each submitted bot."""
        latest = {bot.name: bot for bot in self._home.store.submitted_bots()}
        for bot in latest.values():
            if bot not in self._known:
                self._known[bot] = self._loaded(bot)
        return [found for bot in latest.values() if (found := self._known[bot]) is not None]

    def _loaded(self, bot: StoredBot) -> PlayableBot | None:
        try:
            return PlayableBot(name=bot.label, label=bot.label, games=self._home.bots.find(bot.label).games)
        except ArenaError:  # its files are not here now
            return None


def playable_game(name: str) -> PlayableGame | None:
    """Return a game as it can be played; None if its rules aren't here, or it can't be played by two."""
    try:
        game = find_game(name)
    except ArenaError:
        return None
    seats = next((option for option in game.OPTIONS if option.name == "players"), None)
    fixed: dict[str, int | str] = {}
    if seats is not None:
        if not isinstance(seats, IntOption) or not seats.minimum <= SEATS <= seats.maximum:
            return None
        fixed["players"] = SEATS
    options = tuple(_option(option) for option in game.OPTIONS if option is not seats)
    return PlayableGame(name=name, summary=game.summary[:MAX_TEXT_CHARACTERS], options=options, fixed=fixed)


def _option(option: Option) -> GameOption:
    if not isinstance(option, IntOption):
        return GameOption(
            name=option.name,
            type=option.type_name,
            default=option.default,
            accepted=option.accepted,
            meaning=option.meaning,
            value=option.default,
            choices=option.choices,
        )
    most = min(option.maximum, max(MAX_SIZE, option.default))
    return GameOption(
        name=option.name,
        type=option.type_name,
        default=option.default,
        accepted=f"a whole number from {option.minimum} to {most}",
        meaning=option.meaning,
        value=option.default,
        minimum=option.minimum,
        maximum=most,
    )


def _example(name: str) -> PlayableBot:
    bot = load_bot(example_bots()[name])
    return PlayableBot(name=f"{PREFIX}{name}", label=bot.label, games=bot.games)
