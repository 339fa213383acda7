import re
import unicodedata
from urllib.parse import parse_qs, unquote, urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.analysis.text.tables import printable
from arena.base.names import is_name
from arena.site.links import MAX_PATH_BYTES, FolderLinks, ServedLinks
from arena.site.page_table import PAGES
from arena.site.publish.contents import file_names
from arena.store.home import ArenaHome
from tests.analysis.text.test_tables import HOSTILE
from tests.site.duels import bot, duels, tell
from tests.site.parsed import Parsed, checked, html_of


def test_every_page_has_a_name_and_an_address_of_its_own_also_for_the_longest_names():
    assert len({page.name for page in PAGES}) == len({page.path for page in PAGES}) == len(PAGES)
    for page in PAGES:
        assert set(page.path_fields) <= set(page.parameters.model_fields)
        optional = set(page.parameters.model_fields) - set(page.path_fields)
        assert all(not page.parameters.model_fields[name].is_required() for name in optional)
    assert ServedLinks({}).page("overview") == "/"
    assert ServedLinks({}).page("overview", ".json") == "/index.json"
    longest = "\N{ROBOT FACE}" * 200
    address = ServedLinks({}).page("versus", ".json", bot=longest, rival=longest)
    assert len(address.partition("?")[0]) <= MAX_PATH_BYTES


@pytest.mark.parametrize("name", ["", ".", "..", "a\0b", "w" * 201])
def test_a_name_that_no_page_takes_has_no_address(name):
    links = ServedLinks({})
    assert links.page("bot", bot=name) is None
    assert links.page("match", tournament=name, match=1) is None
    assert links.page("versus", bot="a", rival=name) is None
    is_in_path_alone = name in (".", "..")
    assert (links.page("leaderboard", game="differences", season=name) is None) is not is_in_path_alone
    assert links.page("bots", after="a", search="w" * 201) is None


# in a folder of files


def place_of(name, _):
    return None if name == "health" else {"overview": "index", "match": "tournaments/t/matches/0/1"}.get(name, name)


@pytest.mark.parametrize("here", ["index.html", "games/index.html", "tournaments/t/matches/0/1.html"])
@pytest.mark.parametrize("base", ["file:///media/stick/my site/", "https://example.org/~prof/contest/"])
def test_they_hold_wherever_the_folder_is(base, here):
    links = FolderLinks(place_of, here)
    assert urljoin(base + here, links.page("overview")) == f"{base}index.html"
    assert urljoin(base + here, links.page("match", ".json", match=1)) == f"{base}tournaments/t/matches/0/1.json"
    assert urljoin(base + here, links.asset("site.css")) == f"{base}static/site.css"
    assert links.page("health") is None, "the folder lacks it"


FORBIDDEN = set('"*/:<>?\\|%#') | {chr(code) for code in range(32)}
"""What exFAT and Windows refuse, and what has a meaning in addresses."""

DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}


def assert_fit(names):
    found = file_names(names)
    assert set(found) == set(names)
    for file_name in found.values():
        assert not set(file_name) & FORBIDDEN
        assert file_name.isascii()
        assert 1 <= len(file_name) <= 120
        assert file_name[0] not in ".-"
        assert file_name[-1] not in ". "
        assert file_name.partition(".")[0] not in DEVICES
    assert len({unicodedata.normalize("NFC", name.casefold()) for name in found.values()}) == len(found)
    return found


@given(
    st.sets(st.text() | st.sampled_from(["con", "NUL", "nul.txt", "a", "A", "é", "e\u0301", "a.", "a ", "..", "index"]))
)
@example({"Foo", "foo-0e8ebd", "foo"})
@example(set(HOSTILE))
def test_any_names_have_files_of_their_own(names):
    assert_fit(names)


def test_names_stay_readable_and_a_name_that_is_another_s_file_name_does_not_get_its_file():
    plain = ["greedy", "greedy@2", "random_legal"]
    others = {"my cup 2026": "my-cup-2026", "MyBot": "MyBot", "hex:Hex": "hex-Hex", "x" * 64: "x" * 48}
    found = file_names([*plain, *others])
    assert [found[name] for name in plain] == plain
    for name, shown in others.items():
        assert re.fullmatch(rf"{shown}-[0-9a-f]{{6}}", found[name])
    stolen = file_names(["Foo"])["Foo"].lower()
    found = file_names(["Foo", stolen])
    assert found[stolen] == stolen
    assert found["Foo"].startswith(f"Foo-{stolen[4:]}")
    assert len(found["Foo"]) > len(stolen)


@given(st.text(min_size=1), st.sets(st.text(min_size=1)))
def test_a_name_has_the_same_file_whatever_else_is_there(name, others):
    assert file_names([name])[name] == file_names({name, *others})[name]


NAMES = [
    '"><script>alert(1)<', "&lt;b&gt; &#64; ]]>", "100% %2F%00", "?a=b&c=d#e", "{{ 7 * 7 }} {% raw %}", "=1+1",
    "\u05e9\u05dc\u05d5\u05dd abc (1)", "Z\u0351\u036b\u0357q\u0300\u0301\u0302\u0303lgo", "w" * 64, "a-b_c.json",
]  # fmt: skip
GAME = "package.module:Game"


@pytest.fixture(scope="module", params=NAMES)
def told(request, tmp_path_factory):
    """A bot with this name beats one that ends with it, in a tournament and a season of the same name."""
    name = request.param
    assert is_name(name)
    rival = f"b{name}"[:64].strip()
    with ArenaHome(tmp_path_factory.mktemp("hostile")) as home:
        for tournament in (name, "second"):
            entrants = (bot(f"{name}@{name}", author=name), f"{rival}@1")
            matches = duels(f"{name}@{name}", f"{rival}@1", "wwwl")
            tell(home, matches, tournament, entrants, games=(GAME,), faults={(4, 0): "exit"})
        home.store.seasons.add(name, home.store.tournaments())
        yield home, name, rival


WITH_NAMES = {
    "bot": lambda name, rival: {"bot": name},
    "versus": lambda name, rival: {"bot": name, "rival": f"{rival}@1"},
    "leaderboard": lambda name, rival: {"game": GAME, "season": name},
    "leaderboards": lambda name, rival: {},
    "bots": lambda name, rival: {"search": name},
}


@pytest.mark.parametrize("page", WITH_NAMES)
def test_pages_are_well_formed_and_links_lead_where_they_should(told, page):
    home, name, rival = told
    parsed = checked(home, page, **WITH_NAMES[page](name, rival))
    bots = {name, rival, f"{name}@{name}", f"{rival}@1"}
    known = {"bots": bots, "tournaments": {name, "second"}, "leaderboards": {GAME}}
    seen = set()
    for link in parsed.all("a"):
        if link["href"].startswith("#"):
            continue
        parts = urlsplit(link["href"])
        room, *fields = map(unquote, parts.path.removesuffix(".json").removesuffix(".csv").split("/")[1:])
        if fields and room in known:
            assert fields[0] in known[room] or f"{fields[0]}.json" in known[room], link
            seen.add(room)
            assert set(parse_qs(parts.query).get("season", [name])) == {name}
    assert seen >= ({"bots", "leaderboards"} if page != "bots" else {"bots"})
    assert printable(name) in parsed.text or len(name) > 16 or "  " in name


def test_what_the_rating_chart_says_is_only_text(told):
    home, name, _ = told
    parsed = Parsed(html_of(home, "leaderboard", game=GAME))
    (chart,) = parsed.all("svg", **{"class": "ratings"})
    assert f"{printable(name)}@{printable(name)} " in chart["aria-label"]
    assert not parsed.all("script", src=None)
