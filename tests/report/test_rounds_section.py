"""The bracket and the round cards as HTML, compared with a bracket made by hand and a published crosstable."""

import xml.etree.ElementTree as ElementTree

from arena.analysis.bracket import bracket_of, round_cards_of
from arena.report.rounds_section import bracket_html, round_cards_html
from tests.report.test_bracket_text import named, published_swiss, six
from tests.tournament.test_formats import made, scored


def parsed(html):
    return ElementTree.fromstring(f"<body>{html.replace('<br>', '<br/>')}</body>")


def texts(element, path):
    return ["".join(found.itertext()) for found in element.findall(path)]


def test_the_bracket_is_a_list_of_duels_for_each_stage():
    page = parsed(bracket_html(bracket_of(six()), {"ada": "bot-1"}, {"eve": "withdrawn"}))
    stages = page.findall(".//div[@class='stage']")
    assert [texts(stage, "h3") for stage in stages] == [["quarterfinals"], ["semifinals"], ["final"]]
    assert [[texts(duel, "div/div") for duel in stage.findall("ol/li")] for stage in stages] == [
        [[], ["4 dan1", "5 eve withdrawn0"], [], ["3 cleo0", "6 fay1"]],
        [["1 ada1", "4 dan0"], ["2 bob0", "6 fay1"]],
        [["1 ada", "6 fay"]],
    ]
    assert texts(page, ".//div[@class='won']") == ["4 dan1", "6 fay1", "1 ada1", "6 fay1"]
    assert [link.get("href") for link in page.iter("a")] == ["#bot-1", "#bot-1"]


def test_a_duel_without_a_winner_has_unknown_entrants_behind_it():
    format_ = named(made("knockout", 4, seeding="entrants"), ("ada", "bob", "cleo", "dan"))
    page = parsed(bracket_html(bracket_of(format_)))
    assert texts(page, ".//div[@class='stage'][2]//div/div") == ["?", "?"]
    format_.add_results([scored((0, 3), 1.0), scored((1, 2), 0.5)])
    page = parsed(bracket_html(bracket_of(format_)))
    assert texts(page, ".//div[@class='stage'][2]//div/div") == ["1 ada", "?"]


def test_round_cards_are_the_published_crosstable():
    swiss, lines = published_swiss()
    page = parsed(round_cards_html(round_cards_of(swiss), {}, {"bot 2": "disqualified"}))
    rows = page.findall(".//tbody/tr")
    for number, (row, (_, score, *cells)) in enumerate(zip(rows, lines, strict=True), 1):
        shown = [cell.text for cell in row.findall("td")]
        assert shown[1:-1] == [cell.replace("=", "½").replace("U", "bye") for cell in cells]
        assert texts(row, "td/b") == [score.replace(".5", "½")]
        assert texts(row, "th") == [f"bot {number}" + ("disqualified" if number == 2 else "")]
        assert texts(row, "td/small")[-1] == score.replace(".5", "½")
    assert rows[0].findall("td")[2].get("title") == "against bot 2: 1–1 points"


def test_names_are_escaped():
    name = '<script>alert("x")</script>\x1b'
    format_ = named(made("knockout", 2, seeding="entrants"), (name, "bob"))
    for html in (bracket_html(bracket_of(format_)), bracket_html(bracket_of(format_), {name: "a"}, {name: name})):
        assert "<script" not in html
        assert "\x1b" not in html
    swiss = named(made("swiss", 2, rounds=1), (name, "bob"))
    swiss.add_results([scored((0, 1), 1.0)])
    html = round_cards_html(round_cards_of(swiss), {}, {name: name})
    assert "<script" not in html
    assert parsed(html).find(".//td[@title]") is not None
