import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from pydantic import ValidationError

from arena.base.enums import FaultKind, Termination
from arena.base.errors import UnknownNameError
from arena.site.pages.results import build_matches
from arena.site.pages.results_model import MatchesParameters
from arena.store.home import ArenaHome
from tests.analysis.text.tournaments import play
from tests.site.parsed import rendered, text_in, tree

HOSTILE = "<img src=x onerror=alert(1)>\u202e]]>"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("home")) as home:
        play(home, "league", ["alpha", "beta", "gamma"], encounters=2)
        play(home, "forfeits", ["alpha", HOSTILE, "=cmd()"], failing=[HOSTILE], encounters=4)
        games = [("differences", {"size": 5}), ("plusminus", {"size": 4})]
        play(home, "games", ["alpha", "beta"], games)
        yield home


def page_of(home, **values):
    return build_matches(home, MatchesParameters(**{"tournament": "league", "limit": 5, **values}))


def html_of(home, **values):
    parameters = MatchesParameters(**{"tournament": "league", "limit": 5, **values})
    return tree(rendered("matches", build_matches(home, parameters), parameters))


def numbers(page):
    return [match.match for match in page.matches]


def walk(home, name, **values):
    """Return the pages that the links of one direction lead to, each as its numbers."""
    pages, query = [], {}
    for _ in range(50):
        found = html_of(home, **values, **query)
        table = next(found.iter("tbody"), None)
        pages.append([int(text_in(row[0]).replace(",", "")) for row in table] if table is not None else [])
        links = [one.get("href") for one in found.iter("a") if one.get("rel") == name]
        if not links:
            return pages
        query = {key: value for key, value in parse_qsl(urlsplit(links[0]).query) if key in ("before", "after")}
    raise AssertionError("the links never end")


def test_pages_of_matches_lead_on_and_back_and_have_those_that_are_asked_for(home):
    """Three bots, two encounters of two matches each: 12 matches."""
    assert walk(home, "next") == [[12, 11, 10, 9, 8], [7, 6, 5, 4, 3], [2, 1]]
    assert walk(home, "prev", before=3) == [[2, 1], [7, 6, 5, 4, 3], [12, 11, 10, 9, 8]]
    of_alpha = [match for page in walk(home, "next", bot="alpha") for match in page]
    of_both = [match for page in walk(home, "next", bot="alpha", rival="beta") for match in page]
    seats = {record.match: record.bots for record in home.store.records("league")}
    assert of_alpha == [match for match in range(12, 0, -1) if "alpha@1" in seats[match]]
    assert of_both == [match for match in range(12, 0, -1) if set(seats[match]) == {"alpha@1", "beta@1"}]
    assert (len(of_alpha), len(of_both)) == (8, 4)
    empty = dict.fromkeys(("termination", "fault", "before", "after", "bot", "rival", "game"), "")
    assert numbers(page_of(home, **empty)) == [12, 11, 10, 9, 8], "empty fields of the form do not count"
    assert {match.game for match in page_of(home, tournament="games", game="plusminus").matches} == {"plusminus"}
    forfeits = page_of(home, tournament="forfeits", termination=Termination.FORFEIT).matches
    assert forfeits
    assert {match.termination for match in forfeits} == {Termination.FORFEIT}
    assert page_of(home, tournament="forfeits", fault=FaultKind.PROTOCOL).matches == forfeits
    assert page_of(home, tournament="forfeits", fault=FaultKind.TIMEOUT).matches == ()


def test_a_row_says_who_sat_where_and_how_it_ended_and_rows_are_harmless_csv(home):
    record = home.store.record_of("league", 12)
    row = next(html_of(home).iter("tbody"))[0]
    cells = [text_in(cell) for cell in row]
    assert cells[0] == "12"
    assert cells[1] == " – ".join(bot.partition("@")[0] for bot in record.bots)
    assert cells[2] == " : ".join(str(score) for score in record.scores)
    assert cells[3] == ("draw" if record.ranks == (1, 1) else "win")
    assert cells[4] == "5"
    assert row[0][0].get("href") == "/tournaments/league/matches/12"
    lines = page_of(home, tournament="forfeits").csv().splitlines()
    assert lines[0] == "match,encounter,round,game,bots,scores,ranks,plies,termination,faults,started_at"
    assert len(lines) == 6
    assert not any(re.search("[\u202e\x1b]|(^|,)[=+@-]", line) for line in lines[1:])
    assert numbers(page_of(home, limit=1000)) == list(range(12, 0, -1))
    assert numbers(page_of(home, limit=1000, before=4)) == [3, 2, 1]
    for limit in (0, 1001):
        with pytest.raises(ValidationError, match="limit"):
            page_of(home, limit=limit)


def test_a_forfeit_is_said_in_words(home):
    (match, *_) = page_of(home, tournament="forfeits", termination=Termination.FORFEIT).matches
    row = next(html_of(home, tournament="forfeits", termination="forfeit").iter("tbody"))[0]
    fault = match.faults[0]
    assert text_in(row[3]) == f"forfeit: <img src=x onerror=alert(1)>\\u202e]]> protocol at ply {fault.ply}"
    assert list(html_of(home, tournament="forfeits").iter("img")) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"fault": "late"}, "'start', 'exit', 'timeout', 'protocol', 'illegal' or 'limit'"),
        ({"termination": "lost"}, "'normal', 'forfeit', 'adjudication' or 'void'"),
        ({"before": "-1"}, "a whole number in digits"),
        ({"after": str(2**31)}, "less than or equal to 2147483647"),
        ({"bot": "a" * 201}, "at most 200"),
        ({"sort": "x"}, "not permitted"),
    ],
)
def test_a_wrong_filter_says_what_is_accepted(values, message):
    with pytest.raises(ValidationError, match=message):
        MatchesParameters(tournament="league", **values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bot": "alhpa"}, "did you mean 'alpha'"),
        ({"game": "difference"}, "'difference': .*differences"),
        ({"tournament": "leage"}, "did you mean 'league'"),
    ],
)
def test_an_unknown_name_leads_to_the_nearest(home, values, message):
    with pytest.raises(UnknownNameError, match=message):
        page_of(home, **values)
