"""The script of pages that ask again, with answers that the test makes, and a clock that it sets."""

import pytest

from tests.browser.test_live_script import PAUSED, SETTLED, START, fulfil

pytestmark = pytest.mark.slow

ADDRESS = "http://localhost/tournaments/t/direct"
EVERY_SECONDS, AWAY_SECONDS = 5, 15
SERVER = """
window.asked = 0;
window.answers = [];
window.fetch = async () => {
  asked++;
  const { text = "new", status = 200, isAway } = answers.shift() || {};
  if (isAway) throw new TypeError("away");
  return new Response(`<p id="part" data-live>${text}</p>`, { status });
};
"""
SEE = """(state) => {
  Object.defineProperty(document, "visibilityState", {value: state, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


class Asking:
    def __init__(self, page):
        self.page = page
        page.clock.install(time=START)
        page.add_init_script(SERVER)
        scripts = "".join(f'<script src="/{name}.js" defer></script>' for name in ("parts", "asking"))
        page.route("**", lambda route: fulfil(route, f'<!DOCTYPE html>{scripts}<p id="part" data-live>old</p>'))
        page.clock.pause_at(PAUSED)
        page.goto(ADDRESS)

    def wait(self, seconds):
        self.page.clock.run_for(1000 * seconds)
        self.page.evaluate(SETTLED)

    def answer(self, **answer):
        self.page.evaluate("(answer) => answers.push(answer)", answer)

    @property
    def seen(self):
        return self.page.evaluate("[asked, document.querySelector('#part').textContent]")


@pytest.fixture
def asking(chromium):
    context = chromium.new_context()
    yield Asking(context.new_page())
    context.close()


def test_it_asks_again_and_again_and_shows_what_is_new(asking):
    asking.wait(EVERY_SECONDS - 1)
    assert asking.seen == [0, "old"]
    asking.wait(1)
    assert asking.seen == [1, "new"]
    asking.answer(text="newer")
    asking.wait(EVERY_SECONDS)
    assert asking.seen == [2, "newer"]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_it_leaves_alone_what_is_not_shown_any_more(asking, status):
    asking.answer(status=status, text="refused")
    asking.wait(600)
    assert asking.seen == [1, "old"]


@pytest.mark.slow(sample=("answer0",))
@pytest.mark.parametrize("answer", [{"status": 503}, {"isAway": True}])
def test_it_asks_more_rarely_while_the_server_is_away(asking, answer):
    asking.answer(**answer)
    asking.wait(EVERY_SECONDS)
    asking.wait(AWAY_SECONDS - 1)
    assert asking.seen == [1, "old"]
    asking.wait(1)
    assert asking.seen == [2, "new"]


def test_it_asks_only_while_it_is_seen_and_at_once_when_it_is_seen_again(asking):
    asking.page.evaluate(SEE, "hidden")
    asking.wait(600)
    assert asking.seen == [0, "old"]
    asking.page.evaluate(SEE, "visible")
    asking.wait(0)
    assert asking.seen == [1, "new"]
