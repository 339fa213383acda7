import re
import xml.etree.ElementTree as ElementTree
from types import MappingProxyType

from arena.analysis.measures.rounds_played import bracket_of, round_cards_of
from arena.site.pages.rounds import shown_card, shown_stages
from arena.site.render import Setting, environment
from tests.analysis.text.test_bracket_text import named, published_swiss, six
from tests.tournament.test_formats import made, scored


class Bots:
    """Only some bots have a page."""

    def __init__(self, *labels):
        self._labels = labels

    def page(self, name, suffix="", **values):
        return f"#{values['bot']}" if name == "bot" and values["bot"] in self._labels else None


def parsed(call, links, **values):
    source = '{% import "tournament_parts.html.jinja" as own with context %}' + call
    html = environment().from_string(source).render(setting=Setting(links=links), link=links.page, **values)
    html = re.sub(r"\s+", " ", html.replace("<br>", "<br/>"))
    return ElementTree.fromstring(f"<body>{html.replace('&nbsp;', ' ')}</body>")


class Labels(dict):
    def __missing__(self, name):
        return f"{name}@1"


def bracket(format_, *linked, departed=MappingProxyType({})):
    stages = shown_stages(bracket_of(format_), Labels(), departed)
    return parsed("{{ own.bracket(stages) }}", Bots(*linked), stages=stages)


def cards(swiss, departed):
    shown = [shown_card(card, Labels(), departed) for card in round_cards_of(swiss)]
    return parsed("{{ own.cards(cards) }}", Bots(), cards=shown)


def texts(element, path):
    return [" ".join("".join(found.itertext()).split()) for found in element.findall(path)]


def test_the_bracket_is_a_list_of_duels_for_each_stage_with_unknown_entrants():
    page = bracket(six(), "ada@1")
    stages = page.findall(".//div[@class='stage']")
    assert [texts(stage, "h3") for stage in stages] == [["quarterfinals"], ["semifinals"], ["final"]]
    assert [[texts(duel, "div/div") for duel in stage.findall("ol/li")] for stage in stages] == [
        [[], ["4 dan1", "5 eve0"], [], ["3 cleo0", "6 fay1"]],
        [["1 ada1", "4 dan0"], ["2 bob0", "6 fay1"]],
        [["1 ada", "6 fay"]],
    ]
    assert texts(page, ".//div[@class='won']") == ["4 dan1", "6 fay1", "1 ada1", "6 fay1"]
    assert [link.get("href") for link in page.iter("a")] == ["#ada@1", "#ada@1"]
    departed = bracket(six(), departed={"dan": "withdrawn"})
    left = [text for text in texts(departed, ".//li/div/div") if "withdrawn" in text]
    assert left == ["4 dan withdrawn1", "4 dan withdrawn0"]
    format_ = named(made("knockout", 4, seeding="entrants"), ("ada", "bob", "cleo", "dan"))
    assert texts(bracket(format_), ".//div[@class='stage'][2]//div/div") == ["?", "?"]
    format_.add_results([scored((0, 3), 1.0), scored((1, 2), 0.5)])
    assert texts(bracket(format_), ".//div[@class='stage'][2]//div/div") == ["1 ada", "?"]


def test_round_cards_are_the_published_crosstable():
    swiss, lines = published_swiss()
    page = cards(swiss, {"bot 2": "disqualified"})
    rows = page.findall(".//tbody/tr")
    for number, (row, (_, score, *cells)) in enumerate(zip(rows, lines, strict=True), 1):
        shown = ["".join(cell.itertext()) for cell in row.findall("td")]
        totals = texts(row, "td/small")
        points = [cell.strip().removesuffix(total) for cell, total in zip(shown[1:-1], totals, strict=True)]
        assert points == [cell.replace("=", "½").replace("U", "bye") for cell in cells]
        assert texts(row, "td/b") == [score.replace(".5", "½")]
        assert texts(row, "th")[0].startswith(f"bot {number}")
        assert ("disqualified" in texts(row, "th")[0]) == (number == 2)
        assert totals[-1] == score.replace(".5", "½")
    assert rows[0].findall("td")[2].get("title") == "against bot 2: 1–1 points"
