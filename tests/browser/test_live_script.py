"""The scripts of pages that change, with answers and a stream that the test makes, and a clock that it sets."""

import pytest

from arena.base.text import duration_text
from arena.site.render import asset

pytestmark = pytest.mark.slow

ADDRESS = "http://localhost/tournaments/t"
START, PAUSED = "2026-11-22T12:00:00Z", "2026-11-22T13:00:00Z"

SERVER = """
window.asked = 0;
window.answers = [];
window.streams = [];
window.fetch = async (address, { signal }) => {
  const stopped = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  if (String(address).startsWith("/events")) {
    if (window.isAway) throw new TypeError("away");
    streams.push(new URL(address, location).searchParams.get("topics"));
    return new Response(new ReadableStream({ start: (stream) => {
      window.stream = stream;
      stopped.catch((reason) => stream.error(reason));
    }}));
  }
  asked++;
  window.first ??= document.querySelector("#part").outerHTML;
  const { hangs, isAway, text, html, status = 200, headers = {} } = answers.shift() || {};
  if (hangs) await stopped;
  if (isAway) throw new TypeError("away");
  return new Response(html || text ? html || `<p id="part" data-live>${text}</p>` : first, { status, headers });
};
window.send = (text) => { try { stream.enqueue(new TextEncoder().encode(text)); } catch { /* it has ended */ } };
"""
ALIVE = ": alive\nid: 0123abcd-1.2\n\n"
EVENT = 'event: results\nid: 0123abcd-1.2\ndata: {"topic":"tournaments/t","seq":2,"matches":[1],"match_count":1}\n\n'

SETTLED = """async () => {
  for (let k = 0; k < 10; k++) await new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(0);
  });
}"""
"""Ten turns of the browser's loop, whatever its clock says."""


def fulfil(route, html):
    name = route.request.url.rpartition("/")[2]
    if name.endswith(".js"):
        route.fulfill(body=asset(name).decode(), content_type="text/javascript")
    else:
        route.fulfill(body=html, content_type="text/html")


class Live:
    def __init__(self, context, body, script="live", **media):
        self.page = context.new_page()
        self.page.emulate_media(**media)
        self.page.clock.install(time=START)
        self.page.add_init_script(SERVER)
        scripts = "".join(f'<script src="/{name}.js" defer></script>' for name in ("parts", script))
        html = f'<!DOCTYPE html><body data-topics="tournaments/t">{scripts}{body}'
        self.page.route("**", lambda route: fulfil(route, html))
        self.page.clock.pause_at(PAUSED)
        self.page.goto(ADDRESS)
        while script == "live" and self.page.locator("html").get_attribute("data-stream") != "open":
            self.wait(0.1)
        self.wait(1 if script == "live" else 0)

    def wait(self, seconds, is_silent=False):
        """Let time pass, and between the seconds what takes no time; the stream is alive unless it is to be silent.

        Return how often the page was asked for, and what it shows.
        """
        while seconds > 0:
            if not is_silent and self.page.evaluate("Boolean(window.stream)"):
                self.send(ALIVE)
            self.page.evaluate(SETTLED)
            self.page.clock.run_for(1000 * min(1, seconds))
            seconds -= 1
        self.page.evaluate(SETTLED)
        return self.seen

    def answer(self, *answers):
        self.page.evaluate("(all) => answers.push(...all)", list(answers))

    def send(self, text):
        self.page.evaluate("(text) => send(text)", text)

    def event(self, seconds, *answers):
        self.answer(*answers)
        self.send(EVENT)
        return self.wait(seconds)

    def cut(self, is_away=False):
        self.page.evaluate("(isAway) => { window.isAway = isAway; stream.close(); }", is_away)

    @property
    def asked(self):
        return self.page.evaluate("asked")

    @property
    def text(self):
        return self.page.locator("#part").text_content()

    @property
    def seen(self):
        return self.asked, self.text


@pytest.fixture
def context(chromium):
    context = chromium.new_context()
    yield context
    context.close()


PART = '<p id="part" data-live>as it was</p>'


@pytest.fixture
def live(context):
    return Live(context, PART)


def test_the_page_is_fetched_when_the_stream_opens_and_after_each_event(live):
    assert live.asked == 1, "what has happened since it was loaded"
    live.answer({"text": "first"})
    for character in EVENT:  # in pieces, it is one
        live.send(character)
    assert live.wait(1) == (2, "first")
    live.send(EVENT.replace("tournaments/t", "tournaments/u"))
    live.wait(60)
    assert live.asked == 2


def test_a_page_that_is_late_is_fetched_again_when_it_may_be_there(live):
    assert live.event(1, {"text": "old", "headers": {"retry-after": "7"}}, {"text": "new"}) == (2, "old")
    live.wait(5)
    assert live.asked == 2
    assert live.wait(2) == (3, "new")
    live.wait(60)
    assert live.asked == 3


def test_a_page_that_was_late_often_is_new_ten_seconds_after_it_is_there(live):
    live.event(120, *[{"headers": {"retry-after": "1"}}] * 15)
    assert 15 <= live.asked <= 17
    live.event(12, {"headers": {"retry-after": "300"}}, {"text": "new"})
    assert live.text == "new"


@pytest.mark.parametrize("answer", [{"status": 503, "text": "away"}, {"hangs": True}])
def test_after_an_answer_that_is_no_page_it_is_asked_for_again(live, answer):
    assert live.event(1, answer, {"text": "new"}) == (2, "as it was")
    assert live.wait(36) == (3, "new")


@pytest.mark.slow(sample=True)
def test_a_page_that_waits_is_fetched_at_once_when_the_server_is_back(live):
    live.event(1, {"headers": {"retry-after": "300"}}, {"text": "new"})
    assert live.asked == 2
    live.cut()
    assert live.wait(3) == (3, "new")


def test_a_page_that_is_gone_is_left_alone(live):
    live.event(1, {"status": 404, "text": "not found"})
    live.page.evaluate("window.stream = null")
    assert live.wait(100) == (2, "as it was")
    assert live.page.evaluate("stream === null"), "no other stream was opened"


def test_a_stream_that_says_nothing_is_opened_again(live):
    live.wait(100)
    assert live.asked == 1
    live.wait(45, is_silent=True)
    assert live.asked == 2


def test_events_that_come_while_a_tab_joins_do_not_put_it_off(live):
    live.page.evaluate("new BroadcastChannel('arena').postMessage({ tab: 'other', topics: ['arena'] })")
    for _ in range(100):
        live.wait(0.02)
    assert live.page.evaluate("streams") == ["tournaments/t", "tournaments/t,arena"]


def test_a_page_that_is_about_another_match_follows_that_one(live):
    newer = '<body data-topics="tournaments/t tournaments/t/matches/2"><p id="part" data-live>new</p></body>'
    live.event(2, {"html": newer}, {"html": newer})
    assert live.text == "new"
    assert live.page.evaluate("streams") == ["tournaments/t", "tournaments/t,tournaments/t/matches/2"]


def test_while_the_server_is_away_it_is_asked_more_and_more_rarely(live):
    live.cut(is_away=True)
    live.wait(100)
    assert live.page.locator("html").get_attribute("data-stream") == "lost"
    assert live.asked == 1
    live.page.evaluate("window.isAway = false")
    live.answer({"text": "new"})
    live.wait(31)
    assert live.page.locator("html").get_attribute("data-stream") == "open"
    assert live.text == "new"


TIME_LEFT = (
    '<p id="part" data-live>about'
    ' <b data-clock-about data-clock-since="{since}" data-clock-seconds="{left}">{left} s</b> left</p>'
)


def test_the_time_left_runs_as_the_server_says_it_and_stands_still_for_those_who_want_no_motion(context):
    live = Live(context, TIME_LEFT.format(since=START, left=0))
    clock = live.page.locator("b")
    for left in (190_000, 172_799, 50_000, 7201, 7199, 300, 121, 119, 61, 5, 0):
        clock.evaluate(
            """(clock, seconds) => {
              clock.dataset.clockSince = new Date().toISOString();
              clock.dataset.clockSeconds = seconds;
            }""",
            left + 10,
        )
        live.wait(10)
        assert clock.text_content() == duration_text(left)
    assert live.page.locator("[role=status]").text_content() == "", "nothing is read aloud"
    live = Live(context, TIME_LEFT.format(since=START, left=100), reduced_motion="reduce")
    live.wait(30)
    assert live.page.locator("b").text_content() == "100 s"


def test_the_time_until_a_deadline_runs_to_its_second(context):
    deadline = "2026-11-22T13:05:00Z"
    live = Live(context, f'<p id="part" data-live><b data-clock-about data-clock-until="{deadline}">?</b></p>')
    clock = live.page.locator("b")
    now = live.page.evaluate("Date.now()")
    left = (live.page.evaluate(f"Date.parse('{deadline}')") - now) / 1000
    for seconds in (10, 200, left - 215, 10):
        live.wait(seconds)
        left -= seconds
        assert clock.text_content() == duration_text(round(max(left, 0)))


def test_what_was_typed_stays_when_the_part_around_it_is_replaced(context):
    fields = '<input name="why" value="as it was"><textarea name="text">one</textarea>'
    form = f'<div id="part" data-live>{{}}<form>{fields}</form></div>'
    live = Live(context, form.format("before"))
    live.page.locator("[name=why]").fill("typed")
    live.event(1, {"html": form.format("after")})
    assert live.text.startswith("after")
    assert live.page.locator("[name=why]").input_value() == "typed"
    assert live.page.locator("[name=text]").input_value() == "one"


def test_a_form_in_which_something_was_typed_stays_one_from_before_the_change(context):
    form = '<form><input type="hidden" name="before" value="{0}"><input name="title" value="{0}"></form>'
    part = f'<div id="part" data-live>{form * 2}</div>'
    live = Live(context, part.format("old"))
    live.page.locator("[name=title]").first.fill("mine")
    for number, value in enumerate(("new", "newest"), 1):
        live.event(number, {"html": part.format(value)})
        values = live.page.eval_on_selector_all("input", "inputs => inputs.map(one => one.value)")
        assert values == ["old", "mine", value, value]


EVERY_SECONDS, AWAY_SECONDS = 5, 15
SEE = """(state) => {
  Object.defineProperty(document, "visibilityState", {value: state, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def asking(context):
    """A page that no event tells of: it asks again and again."""
    return Live(context, PART, "asking")


def test_a_page_that_asks_again_shows_what_is_new_while_it_is_seen_and_at_once_when_it_is_seen_again(asking):
    asking.answer({"text": "new"}, {"text": "newer"}, {"text": "newest"})
    assert asking.wait(EVERY_SECONDS - 1) == (0, "as it was")
    assert asking.wait(1) == (1, "new")
    assert asking.wait(EVERY_SECONDS) == (2, "newer")
    asking.page.evaluate(SEE, "hidden")
    assert asking.wait(60) == (2, "newer")
    asking.page.evaluate(SEE, "visible")
    asking.page.clock.run_for(1)
    assert asking.wait(0) == (3, "newest")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_page_that_asks_again_leaves_alone_what_is_not_shown_any_more(asking, status):
    asking.answer({"status": status, "text": "refused"})
    assert asking.wait(60) == (1, "as it was")


@pytest.mark.slow(sample=("answer0",))
@pytest.mark.parametrize("answer", [{"status": 503, "text": "away"}, {"isAway": True}])
def test_a_page_that_asks_again_does_it_more_rarely_while_the_server_is_away(asking, answer):
    asking.answer(answer, {"text": "new"})
    asking.wait(EVERY_SECONDS)
    assert asking.wait(AWAY_SECONDS - 1) == (1, "as it was")
    assert asking.wait(1) == (2, "new")
