from urllib.parse import urljoin

import pytest

from arena.site.links import FolderLinks


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


def test_a_page_that_the_folder_lacks_has_no_address():
    assert FolderLinks(Everything(), "index.html").page("health") is None
