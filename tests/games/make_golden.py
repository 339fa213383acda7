"""Write tests/golden/*.txt from the reference rules: ``python -m tests.games.make_golden``.

The files come from ``tests/games/reference.py`` alone, never from the code under test.
"""

import random
from pathlib import Path

from tests.games.reference import REFERENCE
from tests.games.variants import VARIANTS

GOLDEN = Path(__file__).parents[1] / "golden"
DEFAULTS = {f"{name}, default size": (name, {}) for name in REFERENCE}


def text_of(action):
    if isinstance(action, str):
        return action
    first, second = action
    return f"{first}{second}" if isinstance(first, str) else f"{chr(ord('a') + first - 1)}{second}"


def transcript(name, options, seed):
    rules, rng, history, lines = REFERENCE[name](**options), random.Random(seed), [], []
    while (points := rules.result(history)) is None:
        seat, action = rules.turn(history), rng.choice(rules.legal(history))
        lines.append(f"{seat} {text_of(action)}")
        history.append(action)
    scores = " ".join(str(float(p)) if name == "plaid" else str(p) for p in points)
    ranks = " ".join(str(1 + sum(o > p for o in points)) for p in points)
    header = [f"game {name}", *(f"option {key} {value}" for key, value in options.items())]
    return "\n".join([*header, *lines, f"scores {scores}", f"ranks {ranks}", ""])


def main():
    GOLDEN.mkdir(exist_ok=True)
    for number, (title, (name, options)) in enumerate({**VARIANTS, **DEFAULTS}.items()):
        file_name = title.replace(",", "").replace(" ", "_") + ".txt"
        (GOLDEN / file_name).write_text(transcript(name, options, seed=number + 1))


if __name__ == "__main__":
    main()
