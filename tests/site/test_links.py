from urllib.parse import urljoin

import pytest

from arena.site.links import MAX_PATH_BYTES, FolderLinks, ServedLinks
from arena.site.page_table import PAGES


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


class Everything:
    def place(self, name, values):
        return None if name == "health" else {"overview": "index", "match": "tournaments/t/matches/0/1"}.get(name, name)


@pytest.mark.parametrize("here", ["index.html", "games/index.html", "tournaments/t/matches/0/1.html"])
@pytest.mark.parametrize("base", ["file:///media/stick/my site/", "https://example.org/~prof/contest/"])
def test_they_hold_wherever_the_folder_is(base, here):
    links = FolderLinks(Everything(), here)
    assert urljoin(base + here, links.page("overview")) == f"{base}index.html"
    assert urljoin(base + here, links.page("match", ".json", match=1)) == f"{base}tournaments/t/matches/0/1.json"
    assert urljoin(base + here, links.asset("site.css")) == f"{base}static/site.css"
    assert links.page("health") is None, "the folder lacks it"
