"""How bots of middling strength lose: the actions that give an outcome away, by the rules for people that they break.

``python -m benchmarks.mistakes GAME`` plays matches between greedy, mcts and alphabeta, as strong as in the tournament
of the game, annotates them, and prints the section for docs/games: the three commonest kinds, a board of each. A kind
is a third of the match and the first line of the list that does not keep the action, if what the list leaves keeps the
outcome; all others of a third, where the list errs as well, are one kind.
"""

from __future__ import annotations

import argparse
import textwrap
from collections import defaultdict
from itertools import permutations
from typing import Any, NamedTuple

from arena.base.records import MatchRecord, MatchSpec, TimeControl
from arena.games.game import Game
from arena.lab.advice import ADVICE, narrowed
from arena.lab.matches.annotating import Annotator
from arena.lab.matches.annotation import Mark
from arena.lab.solving.limits import Limits
from arena.lab.solving.worth import Worth
from arena.match.bot_pool import BotPool
from arena.match.replay import states_of
from arena.sandbox.isolation.levels import choose_isolation
from arena.tournament.definition import load_definition

RIVALS = ("greedy", "mcts", "alphabeta")
OPTIONS: dict[str, dict[str, Any]] = {"plaid": {"width": 12, "height": 12, "lines": 12}}
"""Where not the suggested ones, as no table has those."""
THIRDS = ("in the first third", "in the second third", "in the last third")
WORDS = {"win": ("wins", "loses"), "draw": ("draws", "draws"), "loss": ("loses", "wins")}


class Mistake(NamedTuple):
    """An action that gave an outcome away, and one that would not have."""

    game: Game[Any]
    state: Any
    before: list[Any]
    seat: int
    played: Any
    better: Any
    worths: tuple[Worth, Worth]


def records_of(path: str, encounters: int) -> list[MatchRecord]:
    """Play each pair in both seats, as often as asked, with the arguments of the tournament of the game."""
    shipped = load_definition(f"arena:{path}")
    bots = {entrant.name: entrant for entrant in shipped.entrants}
    records = []
    with BotPool(choose_isolation("auto")) as pool:
        for encounter in range(encounters):
            for number, (first, second) in enumerate(permutations(RIVALS, 2)):
                spec = MatchSpec(
                    match=encounter * 6 + number + 1,
                    tournament="",
                    game=path,
                    options=OPTIONS.get(path, {}),
                    bots=(bots[first], bots[second]),
                    rng_seed=encounter * 6 + number,
                    time_control=TimeControl(per_action_seconds=10.0),
                )
                records.append(pool.play(spec))
    return records


def mistakes_of(path: str, records: list[MatchRecord]) -> dict[tuple[int, int], list[Mistake]]:
    """Return the mistakes by the third of the match and the line that they broke, 0 where the list errs as well."""
    annotator = Annotator(path, dict(records[0].options), Limits())
    found: dict[tuple[int, int], list[Mistake]] = defaultdict(list)
    for record in records:
        annotation = annotator.annotate(record).annotation
        for index, (game, state) in enumerate(list(states_of(record))[:-1]):
            if annotation.mark(index) is not Mark.BLUNDER:
                continue
            seat, played = record.actions[index]
            actions = list(game.legal_actions(state))
            marks = dict(zip(actions, annotation.choice_marks(index), strict=True))
            left, broken = actions, 0
            for number, line in enumerate(ADVICE[path].lines.values(), 1):
                left = narrowed([line], game, state, left)
                if not broken and game.format_action(played) not in map(game.format_action, left):
                    broken = number
            if not broken or any(marks[action] is Mark.BLUNDER for action in left):
                broken, left = 0, [action for action in actions if marks[action] is not Mark.BLUNDER]
            worths = annotation.worths[index], annotation.worths[index + 1]
            third = 3 * index // len(record.actions)
            mistake = Mistake(game, state, list(record.actions[:index]), seat, played, left[0], worths)
            found[third, broken].append(mistake)
    return found


def outcome_word(worth: Worth, seat: int) -> str:
    """Return what a seat does with best play."""
    return WORDS[str(worth.outcome)][seat]


def section(path: str, encounters: int) -> str:
    """Return the section of the page."""
    found = mistakes_of(path, records_of(path, encounters))
    count = sum(map(len, found.values()))
    commonest = sorted(found.items(), key=lambda entry: -len(entry[1]))[:3]
    board = "".join(f", `{name} = {value}`" for name, value in OPTIONS.get(path, {}).items())
    text = (
        f"In {encounters * 6} annotated matches between `greedy`, `mcts` and `alphabeta`{board}, {count} actions gave"
        " an outcome away. The commonest kinds, by the third of the match and the line above that they broke:"
    )
    lines = [
        "### How you lose",
        "",
        "```",
        f"python -m benchmarks.mistakes {path}",
        "```",
        "",
        *textwrap.wrap(text, 128),
    ]
    for place, ((third, broken), mistakes) in enumerate(commonest, 1):
        shown = min(mistakes, key=lambda mistake: len(mistake.before))
        game, seat = shown.game, shown.seat
        before, after = (outcome_word(worth, seat) for worth in shown.worths)
        played, better = game.format_action(shown.played), game.format_action(shown.better)
        where = f"against line {broken}" if broken else "where no line helps"
        text = (
            f"{place}. {100 * len(mistakes) / count:.0f} %: {THIRDS[third]}, {where}. Here seat {seat} played {played},"
            f" and {after} with best play; by {better} it {before}."
        )
        drawn = game.render_after(shown.state, shown.before)
        lines += ["", *textwrap.wrap(text, 128, subsequent_indent="   "), "", "   ```text"]
        lines += [f"   {row}".rstrip() for row in drawn.splitlines()] + ["   ```"]
    return "\n".join(lines)


def main() -> None:
    """Read the arguments and print the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=ADVICE)
    parser.add_argument("--encounters", type=int, default=10)
    arguments = parser.parse_args()
    print(section(arguments.game, arguments.encounters))


if __name__ == "__main__":
    main()
