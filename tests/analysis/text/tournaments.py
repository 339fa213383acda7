from arena.base.definition import Definition, GameChoice
from arena.base.enums import FaultKind
from arena.base.errors import BotError
from arena.base.records import Bot
from arena.base.seeds import pick_below
from arena.games import make_game
from arena.match.players.player import Answer, ScriptedPlayer
from arena.match.referee import Referee
from arena.store.results.rows import row_of
from arena.tournament.director import run_tournament
from arena.tournament.executors.executor import Executor, Played

FOUR = ["alpha", "beta", "gamma", "delta"]


def chooser(seed, fails, note):
    """Choose any action; a bot that fails makes a fault in one of five matches."""

    def choose(request):
        if fails and not pick_below(5, *seed):
            raise BotError(FaultKind.PROTOCOL, f"not msgpack: {note}")
        action = request.legal[pick_below(len(request.legal), *seed, request.ply)]
        return Answer(action, 0.001, None, note or None)

    return choose


class ScriptedExecutor(Executor):
    def __init__(self, failing, note):
        self.failing, self.note = failing, note

    def __exit__(self, *_):
        pass

    def run(self, queue):
        while (spec := queue.take()) is not None:
            choosers = [
                chooser((spec.rng_seed, k), bot.name in self.failing, self.note) for k, bot in enumerate(spec.bots)
            ]
            yield [Played(row_of(Referee(spec, [*map(ScriptedPlayer, choosers)]).play()))]


def play(home, name, bots, game="differences", failing=(), note="", executor=None, **fields):
    """Play a tournament of a game, or of a list of games and their options, to its end; return it.

    Bots that are failing make faults, and each says a note with each action. Fields are those of the definition.
    """
    games = [(game, {"size": 5})] if isinstance(game, str) else game
    made = [make_game(game, **options) for game, options in games]
    definition = Definition(
        name=name,
        games=tuple(
            GameChoice(game=path, options=one.options, players=one.players)
            for (path, _), one in zip(games, made, strict=True)
        ),
        entrants=tuple(Bot(name=bot, version="1", command=("x",), directory="/", digest="d" * 64) for bot in bots),
        rng_seed=1,
        isolation="none",
        **fields,
    )
    run_tournament(definition, home.store, executor=executor or ScriptedExecutor(failing, note))
    return home.store.tournament(name)
