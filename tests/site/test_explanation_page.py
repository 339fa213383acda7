import pytest

from arena.base.errors import UnknownNameError
from tests.site.parsed import Parsed, checked, csv_rows, html_of, model_of
from tests.site.stories import STORY, tell


def test_every_rival_is_listed_with_what_was_scored(home):
    tell(home, STORY * 3)
    page = checked(home, "why", tournament="t", bot="b@1")
    rows = page.part("rivals-table").rows()
    assert {(row[0], row[2], row[3]) for row in rows[1:]} == {("a @1", "6", "0.0 %"), ("c @1", "6", "75.0 %")}
    assert page.part("verdict").text.startswith("b has rank 2 of 3")


def test_losing_to_the_best_lowers_a_rating_less_than_beating_the_last_raises_it(home):
    tell(home, STORY * 3)
    influence = {one.name: one.influence for one in model_of(home, "why", tournament="t", bot="b").rivals}
    assert influence["a"] < 0 < influence["c"]


def test_a_surprise_leads_to_its_matches(home):
    tell(home, "a b 1\nb a 0\n" * 8 + "a b 0\nb a 1\n", names=("a", "b"))
    page = Parsed(html_of(home, "why", tournament="t", bot="a"))
    row = page.part("surprises-table").rows()[1]
    assert (row[0], row[1], row[-2]) == ("b", "0.0 of 2", "1")
    assert {"/tournaments/t/matches/17", "/tournaments/t/matches/18"} <= {
        link["href"] for link in page.part("surprises-table").all("a")
    }


def test_a_bot_without_a_match_has_no_reasons(home):
    tell(home, "a b 1\nb a 0\n", missing=2)
    page = checked(home, "why", tournament="t", bot="c")
    assert page.part("verdict").text == "c has no rated match yet, and so no rating of its own."


def test_a_short_name_is_marked_where_it_is_a_name(home):
    tell(home, STORY * 3)
    sentence = model_of(home, "why", tournament="t", bot="b").verdict
    for bot in sentence.bots:
        assert sentence.text[bot.start : bot.start + len(bot.name)] == bot.name
        assert not sentence.text[bot.start - 1 : bot.start].isalpha()
    assert "".join(part if isinstance(part, str) else part.name for part in sentence.parts()) == sentence.text


def test_csv_has_the_rivals(home):
    tell(home, STORY)
    rows = csv_rows(model_of(home, "why", tournament="t", bot="b").csv())
    assert {(row["rival"], row["points"]) for row in rows} == {("a@1", "0.0"), ("c@1", "1.5")}


@pytest.mark.parametrize("bot", ["x", "b@2", "<b>"])
def test_a_bot_that_is_not_there_is_an_error(home, bot):
    tell(home, STORY)
    with pytest.raises(UnknownNameError, match="bot"):
        model_of(home, "why", tournament="t", bot=bot)
