from tests.site import duels

NAMES = ("a", "b", "c")

STORY = """
a b 1
b a 0
a c 1
c a 0
b c 1
c b =
"""
"""Each match: seat 0, seat 1, and what seat 0 has: 1 for a win, = for a draw. Two rows are an encounter."""


def tell(home, story, name="t", names=NAMES, **fields):
    ranks = {"1": (1, 2), "0": (2, 1), "=": (1, 1)}
    matches = [
        ((f"{first}@1", f"{second}@1"), ranks[result])
        for first, second, result in map(str.split, filter(None, story.splitlines()))
    ]
    return duels.tell(home, matches, name, [f"{bot}@1" for bot in names], **fields)
