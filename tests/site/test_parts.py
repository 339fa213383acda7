import re
from importlib.resources import files
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from arena.analysis.text.tables import Column
from arena.base.enums import FaultKind, Termination
from arena.base.errors import UnknownNameError
from arena.site.frame.model import Model, Table
from arena.site.links import ServedLinks
from arena.site.pages.results_model import ListedFault, ListedResult
from arena.site.render import Setting, asset_digests, environment


class AllLinks(ServedLinks):
    def page(self, name, suffix="", **values):
        return f"/{name}{suffix}?{'&'.join(f'{key}={value}' for key, value in values.items())}"


def part(call, links=None, **values):
    source = '{% import "parts.html.jinja" as parts with context %}' + call
    links = links or AllLinks(asset_digests())
    html = environment().from_string(source).render(setting=Setting(links=links), link=links.page, **values)
    return re.sub(r"\s+", " ", html).strip()


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html)).strip()


def result(**changed):
    fixed = {
        "tournament": "t", "match": 744, "game": "differences", "bots": ("stepper@2", "greedy@1"), "plies": 12,
        "names": ("stepper", "greedy"), "scores": (9, 7.5), "ranks": (1, 2), "termination": Termination.NORMAL,
    }  # fmt: skip
    return ListedResult(**{**fixed, **changed})


@pytest.mark.parametrize(
    ("is_finished", "is_over", "told"),
    [
        (False, False, "So far, ann leads with a @1."),
        (False, True, "The arena is computing who is first; reload the page in a minute."),
        (True, True, "ann wins with a @1."),
    ],
    ids=["playing", "late", "over"],
)
def test_a_contest_that_is_over_has_no_leader_so_far(is_finished, is_over, told):
    shown = SimpleNamespace(is_finished=is_finished, places=[SimpleNamespace(rank=1, person="ann", bot="a@1")])
    call = '{% import "contest_parts.html.jinja" as c with context %}{{ c.winners(shown, is_over) }}'
    assert text(part(call, shown=shown, is_over=is_over)) == told


@pytest.mark.parametrize(
    ("is_over", "told"),
    [
        (False, "No match has been recorded yet."),
        (True, "The arena is computing who is first; reload the page in a minute."),
    ],
)
def test_directors_see_no_result_from_before_the_end_once_everything_is_played(is_over, told):
    verdict = SimpleNamespace(parts=lambda: ["No match has been recorded yet."])
    shown = SimpleNamespace(is_hidden=True, is_finished=False, places=[], standings=[], verdict=verdict)
    call = '{% import "contest_parts.html.jinja" as c with context %}{{ c.result(shown, is_over) }}'
    only_directors = "Only directors see this until the results are revealed."
    assert text(part(call, shown=shown, is_over=is_over)) == f"{only_directors}{told}"


def test_a_text_leads_to_a_page_and_a_heading_says_what_its_column_means():
    assert part('{{ parts.to("a & b", "matches", tournament="t") }}') == '<a href="/matches?tournament=t">a &amp; b</a>'
    assert part('{{ parts.to("a", "no such page") }}', ServedLinks({})) == "a"
    html = part('{{ parts.bot("mcts@2") }}')
    assert 'href="/bot?bot=mcts@2"' in html
    assert text(html) == "mcts @2"
    assert text(part('{{ parts.bot("mcts") }}')) == "mcts"
    assert text(part('{{ parts.bot("mcts@2", version=false) }}')) == "mcts"
    assert 'href="/why?tournament=t&amp;bot=mcts@2"' in part('{{ parts.bot("mcts@2", within="t") }}')
    html = part('{{ parts.head("rank", "rank", number=true, kind="rank", sorted=true) }}')
    assert 'class="number rank"' in html and 'aria-sort="ascending"' in html
    assert "by exposure" in html
    assert part('{{ parts.head("match") }}') == '<th scope="col">match</th>'
    found = [text(part(f"{{{{parts.number({call})}}}}")) for call in ("1234", "12.345, 1, ' %'", "none")]
    assert found == ["1,234", "12.3 %", "–"]


def test_the_winner_of_a_match_is_strong_and_after_a_forfeit_scores_say_nothing():
    html = part("{{ parts.seats(result) }}", result=result())
    assert text(html) == "stepper 9 – 7.5 greedy"
    assert re.findall("<b>(.*?)</b>", html) == ["<bdi>stepper</bdi>"]
    assert "<b>" not in part("{{ parts.seats(result) }}", result=result(scores=(8, 8), ranks=(1, 1)))
    three = result(bots=("a@1", "b@1", "c@1"), names=("a", "b", "c"), scores=(1, 2, 3), ranks=(3, 2, 1))
    assert text(part("{{ parts.seats(result) }}", result=three)) == "a 1, b 2, c 3"
    assert text(part("{{ parts.seats(result) }}", result=result(faults=(LATE,)))) == "stepper – greedy"

    html = part("{{ parts.results([result], of_tournament=true) }}", result=result())
    assert 'href="/match?tournament=t&amp;match=744"' in html
    assert text(html) == "t 744 stepper 9 – 7.5 greedy 12 plies"


UNSTARTED = ListedFault(seat=0, kind=FaultKind.START, ply=0)
LATE = ListedFault(seat=1, kind=FaultKind.TIMEOUT, ply=4)


@pytest.mark.parametrize(
    ("changed", "ending"),
    [
        ({}, "12 plies"),
        ({"ranks": (1, 1)}, "draw"),
        ({"termination": Termination.ADJUDICATION}, "adjudicated"),
        ({"termination": Termination.FORFEIT, "faults": (LATE,)}, "forfeit: timeout at ply 4"),
        (
            {"termination": Termination.FORFEIT, "faults": (UNSTARTED, LATE)},
            "forfeit: stepper start at ply 0, greedy timeout at ply 4",
        ),
    ],
)
def test_a_few_words_say_how_a_match_ended(changed, ending):
    assert text(part("{{ parts.ended(result) }}", result=result(**changed))) == ending


@pytest.mark.parametrize("template", sorted(environment().list_templates()))
def test_every_time_says_its_zone(template):
    """Beside it, or in the heading of its column."""
    text, _, _ = environment().loader.get_source(environment(), template)
    for line in text.splitlines():
        for found in re.finditer(r"\| minute \}\}", line):
            has_heading = "<td" in line and "(UTC)" in text
            assert has_heading or "UTC" in line[found.end() :][:60], line


BOT = Column("bot", "bot", is_number=False)


class Page(Model):
    bots: tuple[str, ...] = ()

    def tables(self):
        return {"bots": Table([BOT], [{"bot": bot} for bot in self.bots]), "none": Table([BOT], [])}


def test_the_first_table_is_meant_where_none_is_named_and_a_model_takes_its_own_fields():
    assert Page(bots=("a", "b")).csv() == Page(bots=("a", "b")).csv("bots") == "bot\na\nb\n"
    assert Page().csv("none") == "bot\n"
    with pytest.raises(UnknownNameError, match="bots"):
        Page().csv("bot")
    with pytest.raises(UnknownNameError, match="table"):
        Model().csv()
    value = SimpleNamespace(bot="a", note="n", secret="s")
    assert Line.of(value, note="").model_dump() == {"bot": "a", "note": ""}
    assert Line.of(SimpleNamespace(bot="b"), value).model_dump() == {"bot": "b", "note": "n"}
    with pytest.raises(ValidationError, match="bot"):
        Line.of(SimpleNamespace(note="n"))


class Line(Model):
    bot: str
    note: str = ""


CSS = (files("arena.site") / "static" / "site.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): ([^;]+);", block)) for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
)
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)


def rgb(colour):
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def mixed(colour, paper, share):
    return [share * a + (1 - share) * b for a, b in zip(rgb(colour), rgb(paper), strict=True)]


def luminance(channels):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (value / 255 for value in channels)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_numbers_on_marks_and_in_the_heat_map_can_be_read(tokens):
    assert contrast([0, 0, 0], [255, 255, 255]) == pytest.approx(21)
    for ink in ("ink", "soft", "bad"):
        for ground in ("paper", "raised", "wash"):
            assert contrast(rgb(tokens[ink]), rgb(tokens[ground])) >= 4.5, (ink, ground)
    for seat in range(8):
        assert contrast(rgb(tokens["paper"]), rgb(tokens[f"seat{seat}"])) >= 4.5, seat
    assert sorted(float(share) for share in set(re.findall(r"--share: ([\d.]+)", CSS))) == list(SHARES)
    heat = float(tokens["heat"].rstrip("%")) / 100
    for accent in ("good", "bad"):
        for share in SHARES:
            cell = mixed(tokens[accent], tokens["paper"], heat * share)
            assert contrast(rgb(tokens["ink"]), cell) >= 4.5, (accent, share)
