import gzip
import re
import xml.etree.ElementTree as ElementTree
from types import MappingProxyType
from urllib.parse import parse_qs, urlsplit

import pytest

from arena.analysis.measures.overview import leaders_of
from arena.analysis.measures.rounds_played import bracket_of, round_cards_of
from arena.analysis.measures.standings_cache import standings_of
from arena.base.errors import UnknownNameError
from arena.base.records import Bot
from arena.base.until import Until
from arena.site.pages.tournament import shown_card, shown_stages
from arena.site.render import Setting, environment
from arena.store.results.live_state import PlayedNow, RunProgress
from arena.tournament.corrections.corrected_tournament import void_matches
from tests.analysis.text.test_bracket_text import named, published_swiss, six
from tests.analysis.text.test_tables import HOSTILE
from tests.analysis.text.tournaments import play
from tests.site.parsed import Parsed, checked, csv_rows, html_of, model_of
from tests.site.stories import STORY, tell
from tests.store.results.samples import definition, line
from tests.tournament.test_formats import made, scored

FIVE = ["alpha", "beta", "gamma", "delta", "epsilon"]


def told(home, name="t"):
    return model_of(home, "tournament", tournament=name)


def page_of(home, name="t"):
    return checked(home, "tournament", tournament=name)


def test_the_standings_count_what_was_played_and_the_crosstable_leads_to_the_matches(home):
    """a beats everybody; of b and c, b wins one match and draws the other."""
    tell(home, STORY)
    page, found = page_of(home), told(home)
    heads, *rows = page.part("standings").rows()
    assert [[row[1], *row[6:9]] for row in rows] == [
        ["a @1", "4 – 0 – 0", "100.0 %", "4"],
        ["b @1", "1 – 1 – 2", "37.5 %", "4"],
        ["c @1", "0 – 1 – 3", "12.5 %", "4"],
    ]
    shown = [row[heads.index("exposure")] for row in rows]
    assert shown == [f"{line.exposure:.1f}" for line in found.standings]
    assert shown == sorted(shown, key=float, reverse=True)
    folded = re.findall(r'<details class="folded"><summary><h2 id="(\w+)">', page.source)
    assert folded == ["balance", "method"], "what referees read"
    latest = [(one.match, one.names, one.ranks) for one in found.latest[:2]]
    assert latest == [(6, ("c", "b"), (1, 1)), (5, ("b", "c"), (1, 2))]
    seen = [(row["bot"], row["wins"], row["draws"], row["losses"]) for row in csv_rows(found.csv())]
    assert seen == [("a", "4", "0", "0"), ("b", "1", "1", "2"), ("c", "0", "1", "3")]
    assert [row["against_3"] for row in csv_rows(found.csv("crosstable"))] == ["1.0", "0.75", ""]
    assert list(found.tables()) == ["standings", "crosstable", "latest"]
    page = page.part("crosstable")
    assert page.rows()[1:] == [["1 a", "", "100", "100"], ["2 b", "0", "", "75"], ["3 c", "0", "25", ""]]
    found = [cell.get("class") for cell in page.all("td")[1:]]
    assert found == [*(None, "h10", "h10"), *("h0", None, "h8"), *("h0", "h2", None)]
    links = page.all("a")
    assert len(links) == 6
    address = urlsplit(links[0]["href"])
    assert address.path == "/tournaments/t/matches"
    assert parse_qs(address.query) == {"bot": ["a@1"], "rival": ["b@1"]}
    chosen = model_of(home, "matches", tournament="t", bot="a@1", rival="b@1")
    assert [one.match for one in chosen.matches] in ([1, 2], [2, 1])


def test_before_the_first_match_and_in_the_middle_the_page_says_so(home):
    tell(home, "", missing=2)
    page = page_of(home)
    assert "No match has been recorded yet." in page.part("verdict").text
    assert "0 of 2 matches so far" in page.part("progress").text
    assert [link["href"] for link in page.part("standings").all("a")] == ["/bots/a@1", "/bots/b@1", "/bots/c@1"]
    tell(home, STORY, name="more", missing=4)
    page = page_of(home, "more")
    assert "6 of 10 matches so far" in page.part("progress").text
    assert page.part("verdict").text.startswith("So far, ")


def test_a_thick_line_separates_bots_that_can_be_told_apart(home):
    tell(home, "a b 1\nb a 0\n" * 12, names=("a", "b"))
    page = page_of(home)
    assert page.part("verdict").text == "a is clearly better than b."
    assert len(page.part("standings").all("tr", **{"class": "apart"})) == 1
    assert told(home).more_encounters is None


def test_of_a_close_lead_it_says_how_many_encounters_would_settle_it(home):
    story = "a b 1\nb a 0\n" * 3 + "a b 0\nb a 1\n" * 1 + "a b 1\nb a 1\n" * 4

    def after(name, times):
        tell(home, story * times, name=name, names=("a", "b"), encounters=8 * times)
        return told(home, name)

    found = after("t", 1)
    assert found.standings[0].same_as_next
    times = round((8 + found.more_encounters) / 8)
    assert not after("more", times + 1).standings[0].same_as_next
    assert after("less", max(1, times // 2)).standings[0].same_as_next


def test_a_knockout_has_a_bracket_and_its_own_ranking_first(home):
    play(home, "cup", FIVE, format="knockout", encounters=2, settings={"seeding": "entrants"})
    page = page_of(home, "cup")
    found = told(home, "cup")
    winner = found.ranking.lines[0].bot
    assert page.part("verdict").text.startswith(
        f"{winner} wins the tournament, as the better seed, after 3 more encounters of a drawn final. By the ratings, "
    )
    assert [stage.name for stage in found.rounds.bracket] == ["quarterfinals", "semifinals", "final"]
    byes = [duel for duel in found.rounds.bracket[0].duels if duel.is_bye]
    assert len(byes) == 3  # five of eight places
    assert len(page.part("bracket").all("li")) == 4 + 2 + 1
    assert page.source.index('id="ranking"') < page.source.index('id="standings"')
    final = csv_rows(found.csv("rounds"))[-1]
    assert (final["stage"], final["winner"]) == ("final", winner)


def test_a_swiss_has_a_card_for_each_entrant(home):
    play(home, "swiss", FIVE, format="swiss", settings={"rounds": 3})
    found = told(home, "swiss")
    (result,) = model_of(home, "overview").results
    first = found.verdict.text.partition(".")[0]
    assert result.winners.text.removesuffix(".").split()[0] == first.split()[0], "the first of its own ranking"
    assert len(found.rounds.cards) == 5
    for card in found.rounds.cards:
        assert len(card.rounds) == 3
        assert card.total == sum(cell.score for cell in card.rounds)
    assert sum(cell.rival is None for card in found.rounds.cards for cell in card.rounds) == 3  # a bye in each round
    assert len(page_of(home, "swiss").part("cards").rows()) == 6


def test_corrections_are_listed_with_their_reason(home):
    play(home, "t", ["alpha", "beta"], encounters=3)
    void_matches(home.store, "t", [2], reason="the <machine> was asleep")
    row = page_of(home).part("corrections").rows()[1]
    assert row[1:3] == ["1 match void: 2", "the <machine> was asleep"]
    assert row[4] == "1"


def test_hostile_names_do_nothing_and_unknown_ones_are_errors(home):
    names = [text for text in dict.fromkeys(HOSTILE) if text][:12]
    play(home, "t", names, failing=names[:2], note="</script><img src=x onerror=alert(1)>")
    html = html_of(home, "tournament", tournament="t")
    page = Parsed(html)
    page.check()
    assert not page.all("img")
    assert len(page.all("script")) == html.count("<script") == 3, "parts.js, live.js, tables.js"
    assert not any(letter in html for letter in "\u202e\u2066\x1b\x00")
    with pytest.raises(UnknownNameError, match="tournament 'x'"):
        told(home, "x")


@pytest.mark.slow
def test_a_large_field_has_a_hundred_lines_at_a_time_and_a_small_page(home):
    names = [f"bot_{number:03}" for number in range(131)]
    story = "\n".join(f"{one} {other} 1" for one, other in zip(names, names[1:] + names[:1], strict=True))
    tell(home, story, names=names)
    first = html_of(home, "tournament", tournament="t")
    page = Parsed(first)
    page.check()
    assert len(page.part("standings").rows()) == 101
    assert [link["href"] for link in page.part("standings").all("a", rel="next")] == ["/tournaments/t?first=101"]
    assert len(page.part("crosstable").rows()) == 31
    assert "The first 30 of 131 bots" in page.part("crosstable").text
    assert len(gzip.compress(first.encode())) < 30_000
    last = Parsed(html_of(home, "tournament", tournament="t", first=101)).part("standings")
    assert len(last.rows()) == 32
    assert [link["href"] for link in last.all("a", rel="prev")] == ["/tournaments/t"]
    assert len(csv_rows(told(home).csv())) == 131


def test_an_empty_home_says_how_to_begin_and_another_lists_tournaments_with_their_winners(home):
    page = checked(home, "overview")
    assert "0 tournaments, 0 matches" in page.text
    assert "arena quickstart" in page.text and "arena run FILE" in page.text
    tell(home, STORY, name="older")
    tell(home, "a b =\nb a =\n", name="newer", names=("a", "b"))
    page = checked(home, "overview")
    assert [row[0] for row in page.part("tournaments").rows()[1:]] == ["newer", "older"]
    assert "2 tournaments, 8 matches" in page.text
    found = model_of(home, "overview")
    seen = [one.winners.text for one in found.results]
    assert seen == ["a and b share the highest score, 50.0 %.", "a has the highest score, 100.0 %."]
    assert [one.tournament for one in found.latest] == ["newer", "newer"]
    tell(home, STORY, name="unfinished", missing=2)
    assert model_of(home, "overview").results[0].winners.text == "So far, a has the highest score, 100.0 %."
    assert "6 of 8" in Parsed(html_of(home, "overview")).part("tournaments").text


def test_scores_name_no_winner_where_bots_meet_until_it_is_decided(home):
    """There, who is told apart from its neighbours plays no more, so that scores are of other rivals."""
    play(home, "decided", ["a", "b", "c"], until=Until(max_matches=24))
    assert home.store.tournament("decided").finished_at is not None
    assert model_of(home, "overview").results[0].winners.text == ""
    (leader,) = leaders_of(home.store, home.store.tournament("decided")).bots
    assert leader == standings_of(home.store, "decided").lines[0].bot
    assert leaders_of(home.store, home.store.tournament("decided")).score_share is None


def test_what_is_being_played_says_how_far_it_is_and_who_plays(home):
    tournament = tell(home, STORY, missing=6)
    playing = (PlayedNow(match=7, since="2026-01-01T00:00:00+00:00"),)
    counts = {"recorded": 6, "scheduled": 12, "expected": 12}
    progress = RunProgress(**counts, matches_per_second=18.2, seconds_left=25.0, playing=playing)
    home.store.live_state(tournament).write_progress(progress)
    with home.store.lock("t"):
        for name, parameters in (("overview", {}), ("tournament", {"tournament": "t"})):
            page = checked(home, name, **parameters)
            assert "Being played: 6 of 12 matches · 18 a second · about 25 s left" in page.text
            assert "Watch a – b" in page.text
            assert page.all("a", href="/tournaments/t/matches/7")
    assert "Being played" not in Parsed(html_of(home, "overview")).text


def test_of_many_tournaments_there_are_pages(home):
    entrants = tuple(Bot(name=bot, version="1", command=(bot,), directory="") for bot in "ab")
    for number in range(1, 122):
        home.store.create_tournament(definition(name=f"t{number}", entrants=entrants), [line(1)])
    first = model_of(home, "overview")
    assert [one.name for one in first.tournaments] == [f"t{number}" for number in range(121, 71, -1)]
    second = model_of(home, "overview", before=first.older)
    third = model_of(home, "overview", before=second.older)
    assert [one.name for one in third.tournaments] == [f"t{number}" for number in range(21, 0, -1)]
    assert third.older is None
    assert "121 tournaments" in checked(home, "overview", before=second.older).text
    assert [found["href"] for found in Parsed(html_of(home, "overview")).all("a", rel="next")] == ["/?before=72"]


def test_every_rival_is_listed_with_what_was_scored_and_its_influence(home):
    tell(home, STORY * 3)
    page = checked(home, "why", tournament="t", bot="b@1")
    rows = page.part("rivals-table").rows()
    assert {(row[0], row[2], row[3]) for row in rows[1:]} == {("a @1", "6", "0.0 %"), ("c @1", "6", "75.0 %")}
    assert page.part("verdict").text.startswith("b has rank 2 of 3")
    found = model_of(home, "why", tournament="t", bot="b")
    influence = {one.name: one.influence for one in found.rivals}
    assert influence["a"] < 0 < influence["c"]
    raised = f"What raises its rating most are its matches with c: by {influence['c']:.1f}."
    assert f"{raised} What lowers it most are those with a: by {-influence['a']:.1f}." in found.verdict.text
    assert {(row["rival"], row["points"]) for row in csv_rows(found.csv())} == {("a@1", "0.0"), ("c@1", "4.5")}
    for bot in found.verdict.bots:
        assert found.verdict.text[bot.start : bot.start + len(bot.name)] == bot.name
        assert not found.verdict.text[bot.start - 1 : bot.start].isalpha()
    parts = (part if isinstance(part, str) else part.name for part in found.verdict.parts())
    assert "".join(parts) == found.verdict.text
    for unknown in ("x", "b@2", "<b>"):
        with pytest.raises(UnknownNameError, match="bot"):
            model_of(home, "why", tournament="t", bot=unknown)


def test_a_surprise_leads_to_its_matches(home):
    tell(home, "a b 1\nb a 0\n" * 8 + "a b 0\nb a 1\n", names=("a", "b"))
    page = Parsed(html_of(home, "why", tournament="t", bot="a"))
    row = page.part("surprises-table").rows()[1]
    assert (row[0], row[1], row[-2]) == ("b", "0.0 of 2", "1")
    links = {link["href"] for link in page.part("surprises-table").all("a")}
    assert links >= {"/tournaments/t/matches/17", "/tournaments/t/matches/18"}
    tell(home, "a b 1\nb a 0\n", name="more", missing=2)
    without = checked(home, "why", tournament="more", bot="c").part("verdict").text
    assert without == "c has no rated match yet, and so no rating of its own."


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
    rows = cards(swiss, {"bot 2": "disqualified"}).findall(".//tbody/tr")
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
