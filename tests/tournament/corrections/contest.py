"""Tournaments without processes: every bot is a script, and its matches take a millisecond."""

import json
from collections import defaultdict
from hashlib import blake2b

from arena.analysis.measures.standings_cache import standings_of
from arena.base.definition import Definition, GameChoice
from arena.games import make_game
from arena.match.players.manifest import load_bot
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.store.results.rows import row_of
from arena.tournament.director import run_tournament
from arena.tournament.executors.executor import Executor, Played

FOUR = ("ann", "bob", "cid", "dan")


def write_bots(directory, names, text="as submitted"):
    directory.mkdir(exist_ok=True)
    for name in names:
        (directory / f"{name}.py").write_text(f"# {name}, {text}\n")
    return tuple(load_bot(directory / f"{name}.py") for name in names)


def contest(bots, name="t", players=2, **fields):
    game = make_game("differences", size=4) if players == 2 else make_game("multiplication", size=10, players=players)
    fixed = {"games": (GameChoice(game=game.name, options=game.options, players=players),), "opening_plies": 1}
    return Definition(name=name, entrants=bots, **fixed | fields)


class Scripts(Executor):
    """Plays matches in this process: a bot chooses by a hash of its name, its files and the position.

    A bot with the name "illegal" chooses what is not legal.

    Args:
        max_matches: after this many matches the run is interrupted, as by Ctrl-C.
    """

    def __init__(self, max_matches=None):
        self.left = max_matches

    def __exit__(self, *_):
        pass

    def run(self, queue):
        while (spec := queue.take()) is not None:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left = None if self.left is None else self.left - 1
            yield [Played(row_of(Referee(spec, [player(bot) for bot in spec.bots]).play()))]


def player(bot):
    def choose(request):
        if bot.name == "illegal":
            return "nowhere"
        key = f"{bot.label} {bot.digest} {request.ply} {len(request.legal)}".encode()
        return request.legal[int.from_bytes(blake2b(key, digest_size=8).digest()) % len(request.legal)]

    return ScriptedPlayer(choose)


def play(home, definition, max_matches=None):
    try:
        return run_tournament(definition, home.store, executor=Scripts(max_matches))
    except KeyboardInterrupt:
        return None


def reckoned(texts):
    """Return matches, wins, draws and points of each bot, from the texts of records alone."""
    lines = defaultdict(lambda: [0, 0, 0, 0.0])
    for text in texts:
        record = json.loads(text)
        bots, ranks = record["bots"], record["ranks"]
        for bot, rank in zip(bots, ranks, strict=True):
            line = lines[bot]
            line[0] += 1
            line[1] += rank == 1 and ranks.count(1) == 1
            line[2] += rank == 1 and ranks.count(1) > 1
            line[3] += (sum((other > rank) + (other == rank) / 2 for other in ranks) - 0.5) / (len(ranks) - 1)
    return {bot: tuple(line) for bot, line in lines.items()}


def tabled(home, name="t"):
    lines = standings_of(home.store, name).lines
    return {line.label: (line.matches, line.wins, line.draws, line.points) for line in lines if line.matches}


def records(home, name="t"):
    return dict(home.store.record_texts(home.store.tournament(name)))
