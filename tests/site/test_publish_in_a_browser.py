"""A published folder from the disk, in a browser without a network: nothing is missed."""

from urllib.parse import quote

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


def test_no_page_misses_anything_and_an_address_can_name_a_ply(folder, seen):
    """That links lead from page to page, test_publish.py shows."""
    root = f"{folder.as_uri()}/"
    for path in content(folder):
        if path.endswith(".html"):
            seen.goto(root + quote(path))
    match = sorted(folder.glob("tournaments/League*/matches/0/*.html"))[0]
    for address in ("#ply-2", "?ply=2"):
        seen.goto(match.as_uri() + address)
        assert seen.text_content("#ply").startswith("ply 2 of ")
    assert seen.complaints == []
    assert all(address.startswith(root) for address in seen.asked)
