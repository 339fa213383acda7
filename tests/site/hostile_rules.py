"""A game whose every text is hostile; in a module of its own, as matches name it."""

from arena.games import ChoiceOption, IntOption
from arena.games.drawing import Drawing
from tests.mistaken_games import Counting
from tests.site.hostile import TEXTS

ALL = " ".join(TEXTS)[:900]


class Hostile(Counting):
    """</pre><script>alert(1)</script> ]]> {{ 7 * 7 }}

    1. <img src=x onerror=alert(1)> `<b>` **<i>** [link](javascript:alert(1)) http://x.invalid/"onclick="alert(1)
    """

    name = "<script>alert(1)</script>"
    summary = ALL
    OPTIONS = (
        IntOption("goal", 9, 1, 10_000, ALL),
        ChoiceOption('"><img src=x onerror=alert(1)>', "<b>", ("<b>", "]]>", "=1+1"), ALL),
    )
    action_format = ALL

    def format_action(self, action):
        return f"{action}{TEXTS[2]}"

    def parse_action(self, text):
        return super().parse_action(text[:1])

    def render(self, state):
        return "\n".join(TEXTS)

    def drawing(self, state):
        shapes = [("rect", 0, 0, 9, 9, "board")]
        shapes += [("text", k % 9, k // 9, 0.5, one[:900], "label") for k, one in enumerate(TEXTS)]
        return Drawing(9, 9, tuple(shapes), tuple(one[:900] for one in TEXTS))
