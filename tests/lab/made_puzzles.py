from dataclasses import replace

from arena.games import make_game
from arena.lab.matches.puzzle import Choice, Miss, Puzzle, Theme, Turn
from arena.lab.solving.worth import Outcome


def made_puzzle(bot="alpha@1", **changed):
    """Return a puzzle of differences on five squares by five, after a mark on a1: a win for seat 1 with b2 alone."""
    game = make_game("differences", size=5)
    legal = game.legal_actions(game.apply(game.initial_state(), (1, 1)))
    worths = [(Outcome.LOSS, -1) if action == (2, 2) else (Outcome.DRAW, 0) for action in legal]
    texts = map(game.format_action, legal)
    choices = [Choice(text=text, outcome=one, margin=margin) for text, (one, margin) in zip(texts, worths, strict=True)]
    fixed = {
        "game": "differences", "options": dict(game.options), "actions": ([0, [1, 1]],), "seat": 1,
        "goal": Outcome.LOSS, "choices": tuple(choices), "solution": list(legal).index((2, 2)),
        "misses": (Miss(bot=bot, match=1, ply=1, text="c3"),), "missed": 1, "met": 3, "lines_log2": 11.5, "tempting": 2,
    }  # fmt: skip
    return Puzzle(**{**fixed, **changed})


def longer_puzzle(**changed):
    """Return it with a line: b2, c3, d4. Of the other actions, c3 is refuted by b2, and d5 by e4, the last action."""
    puzzle = made_puzzle()
    choices = tuple(replace(one, refutation="b2" if one.text == "c3" else "") for one in puzzle.choices)
    ways = [("d4", Outcome.LOSS, ""), ("d5", Outcome.WIN, "e4"), ("e4", Outcome.DRAW, "d5"), ("e5", Outcome.DRAW, "")]
    later = tuple(Choice(text=text, outcome=one, margin=-3, refutation=reply) for text, one, reply in ways)
    line = (Turn(reply="c3", choices=later, solution=0),)
    return replace(puzzle, **{"choices": choices, "line": line, "theme": Theme.QUIET, **changed})
