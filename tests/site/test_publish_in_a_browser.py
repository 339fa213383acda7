"""A published folder from the disk, in a browser without a network: every page by clicks, and nothing is missed."""

from urllib.parse import urldefrag

import pytest

from arena.store.home import ArenaHome
from tests.browser.conftest import a_browser
from tests.site.folders import content, published, two_tournaments

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    directory = tmp_path_factory.mktemp("from disk")
    with ArenaHome(directory / "home") as home:
        two_tournaments(home)
        return published(home, directory / "out")


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


def note_failure(page, request):
    if request.failure != "net::ERR_ABORTED":  # the page was left before it was there
        page.complaints.append(f"{request.url}: {request.failure}")


@pytest.fixture
def seen(browser):
    """A page in a browser without a network; its complaints and requests are collected."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.complaints, page.asked = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("requestfailed", lambda request: note_failure(page, request))
    page.on("request", lambda request: page.asked.append(request.url))
    yield page
    context.close()


def test_every_page_is_reached_by_clicks(folder, seen):
    root = f"{folder.as_uri()}/"
    found, waiting = {f"{root}index.html"}, [(None, f"{root}index.html")]
    while waiting:
        before, address = waiting.pop()
        if before is None:
            seen.goto(address)
        else:
            seen.goto(before)
            seen.evaluate(
                "address => [...document.links].find((link) => link.href.split('#')[0] === address).click()", address
            )
            seen.wait_for_url(lambda url, wanted=address: urldefrag(url)[0] == wanted)
        links = seen.evaluate("[...document.links].map((link) => link.href.split('#')[0])")
        for link in dict.fromkeys(links):
            assert link.startswith(root), link
            if link.endswith(".html") and link not in found:
                found.add(link)
                waiting.append((address, link))
    assert found == {root + path for path in content(folder) if path.endswith(".html")}
    assert seen.complaints == []
    assert all(address.startswith(root) for address in seen.asked)


def match_page(folder):
    return next(path for path in sorted(folder.glob("tournaments/League*/matches/0/*.html")))


@pytest.mark.slow
@pytest.mark.parametrize("address", ["#ply-2", "?ply=2"])
def test_an_address_can_name_a_ply(folder, seen, address):
    seen.goto(match_page(folder).as_uri() + address)
    assert seen.text_content("#ply").startswith("ply 2 of ")
    assert seen.complaints == []
