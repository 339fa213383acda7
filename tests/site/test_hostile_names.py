from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from arena.analysis.text.tables import printable
from arena.base.names import is_name
from arena.store.home import ArenaHome
from tests.site.duels import bot, duels, tell
from tests.site.parsed import Parsed, checked, html_of

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


PAGES = {
    "bot": lambda name, rival: {"bot": name},
    "versus": lambda name, rival: {"bot": name, "rival": f"{rival}@1"},
    "leaderboard": lambda name, rival: {"game": GAME, "season": name},
    "leaderboards": lambda name, rival: {},
    "bots": lambda name, rival: {"search": name},
}


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_well_formed_and_links_lead_where_they_should(told, page):
    home, name, rival = told
    parsed = checked(home, page, **PAGES[page](name, rival))
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
