import json
import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import html5lib
import pytest

from arena.base.records import TimeControl
from arena.community.contests.contest_file import reading_of
from arena.community.play.view import Played, view_of
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.lab.matches.puzzle import keep_puzzles
from arena.server.operations.opened_people import OPERATIONS
from arena.site.page_table import PAGES as PAGE_TABLE
from arena.store.home import PEOPLE_FILE, ArenaHome, open_people
from arena.store.people.directors import DesiredState, DirectorState, RunFigures, Suspension
from arena.store.people.people_store import PeopleStore
from arena.store.people.secret import hash_password
from arena.store.people.unrated_match import Choices, MatchState, Position
from arena.store.people.values import DAY_SECONDS, Role, Scope, SubmissionState
from tests.analysis.text.tournaments import play
from tests.browser.conftest import PASSWORD, SMALL_LADDER, served
from tests.browser.visit import Visit, barriers
from tests.lab.made_puzzles import made_puzzle

pytestmark = pytest.mark.slow

CONTEST = """
name = "{}"
title = "{}"
description = "{}"
game = "differences"
options = {{ size = 4 }}
opens_at = {}
deadline_at = {}
time_zone = "UTC"
entrants = "invited"
invited = ["ann"]
house_bots = ["arena:greedy"]
results = "sealed"
[qualification]
format = "ladder"
places = 4
[qualification.ladder]
margin_95 = 1.0
"""
NO_MENU = "{}"
LONG = "Some-very-long-name-of-32-chars0"
ROLES = {"olga": Role.OPERATOR, "dora": Role.DIRECTOR, "ann": Role.AUTHOR, LONG: Role.AUTHOR}
REASON = "It took part with two accounts, and said so itself when it was asked: " + "unbroken" * 12

PAGES = {
    "sign-in": ("/sign-in", None),
    "invitation": ("/invitations/{open}", None),
    "account": ("/account", "olga"),
    "challenges": ("/challenges?bot=greedy", "ann"),
    "data": ("/account/data", "ann"),
    "answer to a puzzle": ("/tournaments/{league}/puzzles/{one}/answer", "dora"),
    "answered puzzle": ("/tournaments/{league}/puzzles/2/answer", "ann"),
    "people": ("/people", "olga"),
    "log": ("/log", None),
    "submissions": ("/submissions", "ann"),
    "submission": ("/submissions/{submission}", "ann"),
    "contests": ("/contests", "dora"),
    "new contest": ("/contests/new?template=cup", "dora"),
    "contest": ("/contests/{contest}", "ann"),
    "contest of a director": ("/contests/{contest}", "dora"),
    "signing key": ("/signing-key", None),
    "cancelled contest": ("/contests/{cancelled}", None),
    "play": ("/play", "ann"),
    "play a game": ("/play?game=differences", None),
    "unrated match": ("/play/{match}", None),
    "unrated match that is over": ("/play/{match_over}", "ann"),
    "ladders": ("/ladders", "dora"),
    "directing": ("/tournaments/{kept}/direct", "dora"),
    "directing what is paused": ("/tournaments/{paused}/direct", "olga"),
    "parts": ("/health/parts", "olga"),
    "logs of a match": ("/tournaments/{league}/matches/{one}/logs", "dora"),
    "logs of a bot": ("/bots/{alpha}/logs", "ann"),
    "no logs of a hidden match": ("/contests/{contest}/hidden/tournaments/{league}/matches/{one}/logs", "dora"),
    "guide": ("/guide", "ann"),
    "tables of the guide": ("/guide/reference/columns", None),
    "commands of the guide": ("/guide/people", None),
    "not allowed": ("/people", "ann"),
}
"""Addresses, and who looks: where others see less of the same, the one who sees most."""


class People:
    def __init__(self, directory):
        with open_people(directory) as store:
            self.sessions = {name: self._add(store, name, role) for name, role in ROLES.items()}
            store.accounts.add("newcomer", Role.DIRECTOR, "olga")  # who has no password yet
            store.accounts.close(LONG, "dora", REASON)
            olga = store.accounts.get("olga")
            browser = "Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0"
            store.sessions.begin(olga, browser, "2001:db8:1234:5678:9abc:def0:1:2")
            for name in ("laptop", "x" * 64):
                store.tokens.make(olga, name, list(Scope), 30)
            self._announce(store)
            self.values = {
                "open": store.invitations.invite(Role.AUTHOR, "dora", 7),
                "submission": self._submit_bot(store),
                "match": self._play(store, None, MatchState.PERSON),
                "match_over": self._play(store, store.accounts.get("ann").number, MatchState.OVER),
                **{"contest": "spring", "paused": LONG, "one": "1"},
                **{name: name for name in ("cancelled", "kept", "league", "alpha")},
            }
            _keep_going(store)
            store.puzzle_tries.add(store.accounts.get("ann").number, made_puzzle().key, is_solved=True)
        with PeopleStore(directory / PEOPLE_FILE, lambda: time.time() + DAY_SECONDS) as tomorrow:
            _say(tomorrow)

    def _play(self, store, person, state):
        """Return the address of a match that a person plays: no play host has anything to do with it."""
        store.unrated_matches.set_menu(NO_MENU, 4)
        choices = Choices(game="differences", options="{}", seat=0, bot="arena:greedy", per_action_milliseconds=1000)
        one = store.unrated_matches.begin(choices, person, "192.0.2.1")
        game = checked_game(make_game("differences"), "differences")
        actions = [Played(0, (1, 2)), Played(1, (3, 4), 0.01)]
        position = game.initial_state()
        for played in actions:
            position = game.apply(position, played.action)
        view = view_of("differences", game, position, actions, ("human", "greedy@1"), 0, TimeControl())
        shown = {"actions": json.dumps(actions), "view": view.model_dump_json(), "reason": REASON[:90]}
        assert store.unrated_matches.claim(one.number).write(Position(state=state, plies=2, **shown), "")
        return one.secret

    def _announce(self, store):
        now = datetime.now(UTC)
        times = [(now + timedelta(days=days)).isoformat(timespec="seconds")[:19] for days in (-1, 3)]
        for name in ("spring", "cancelled"):
            store.contests.add("dora", reading_of(CONTEST.format(name, REASON[:100], REASON, *times)).check())
        store.contests.cancel("dora", "cancelled", REASON)
        for text in (REASON, f"May a bot read files?\n{'unbroken' * 60}"):
            store.contest_messages.announce("dora", "spring", text)
        store.contest_messages.ask(store.accounts.get("ann"), "spring", REASON)

    def _submit_bot(self, store):
        ann = store.accounts.get("ann")
        numbers = []
        for state, bot, reason in (("refused", f"{LONG}@1", REASON), ("accepted", "alpha@1", "")):
            one = store.submissions.add(
                ann, f"{len(numbers):016x}-{0:016x}", state * 8, 12345, f"{LONG}.py", "the first one"
            )
            report = f'{bot}: copied\n  File "{LONG}.py", line 4, in choose\n{"unbroken" * 40}\n<b>no markup</b>'
            store.submissions.claim().finish(SubmissionState(state), report, reason, bot)
            numbers.append(one.number)
        return numbers[0]

    def _add(self, store, name, role):
        person = store.accounts.add(name, role, "the command line")
        store.accounts.set_password(person, hash_password(PASSWORD))
        return store.sessions.begin(person, "Mozilla/5.0 (Linux) Chrome/140.0 Safari/537.36", "192.0.2.1")


def _say(store):
    """Say what two supervised tournaments do; at a time at which it is never long ago."""
    slow = Suspension(bot=f"{LONG}@1", reason="its matches take 50 times as long as those of others", seconds=90)
    figures = RunFigures(recorded=12, scheduled=20, playing=2, margin_95=3.4, wanted_margin_95=1.5, seconds_left=600)
    store.directors.report_state("kept", "contest", DirectorState.PLAYING, "", figures)
    figures = replace(figures, sitting_out=(slow,))
    store.directors.report_state(LONG, "ladder", DirectorState.RESTING, REASON[:-1], figures)


def _keep_going(store):
    """Let two tournaments be kept going: one is paused, and has entrants who sit out."""
    _say(store)
    store.directors.set_desired_state(LONG, DesiredState.PAUSE, reason=REASON, by="dora")
    for kind, arguments in (("disqualify", {"bot": f"{LONG}@1", "rule": "keep"}), ("void", {"numbers": [1, 2]})):
        one = store.requests.add(LONG, kind, arguments, subject="", reason=REASON, by="dora")
    store.requests.finish(one.number, f"no record of match {'1' * 100}", is_done=False)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    directory = tmp_path_factory.mktemp("people-home")
    with ArenaHome(directory) as home:
        keep_puzzles(
            home.directory, play(home, "league", ["alpha", "beta"], encounters=1), [made_puzzle(), made_puzzle()]
        )
    found = People(directory)
    (directory / "ladder.toml").write_text(SMALL_LADDER)
    with served(directory, "--open-to", "authors", "--ladder", directory / "ladder.toml") as found.site:
        _wait_until_begun(directory)
        form = Request(
            f"{found.site}/contests/new?template=cup", headers={"cookie": f"arena-here={found.sessions['dora']}"}
        )
        while b'name="option_size"' not in urlopen(form).read():  # which a busy machine adds later
            time.sleep(0.05)
        yield found


def _wait_until_begun(directory):
    """Wait until pages stay as they are: one can choose what to play, and the ladder has been played."""
    with open_people(directory) as store:
        while (
            store.unrated_matches.menu() in (None, NO_MENU)
            or (ladder := store.directors.report("ladder")) is None
            or ladder.state is DirectorState.PLAYING
        ):
            time.sleep(0.05)


@pytest.fixture(scope="module")
def windows(chromium, people):
    """Return a function that returns somebody's window; it is kept, for a new one takes longer than a page in it."""
    kept = {}

    def window(who, **options):
        key = (who, *options.items())
        if key not in kept:
            context = chromium.new_context(**options)
            if who is not None:
                context.add_cookies([{"name": "arena-here", "value": people.sessions[who], "url": people.site}])
            kept[key] = context.new_page()
        return kept[key]

    yield window
    for page in kept.values():
        page.context.close()


@pytest.fixture(params=PAGES, scope="module")
def visit(request, windows, people):
    """A visit to each page, which all questions share; what it hides is opened, once it was seen whether that fits."""
    address, who = PAGES[request.param]
    visit = Visit(windows(who), people.site + address.format_map(people.values))
    visit.who = who
    visit.shown = shown_texts(visit.page)
    visit.too_narrow_closed = visit.too_narrow()
    visit.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    yield visit
    visit.end()


def shown_texts(page):
    return page.locator("h1, h2, p.verdict, th, label, button").all_inner_texts()


def test_every_page_for_people_has_an_example_and_is_in_a_part_of_the_navigation():
    pages = [one.path for one in OPERATIONS if one.method == "GET" and one.template]
    shown = [address.split("?")[0] for address, _ in PAGES.values()]
    nameless = [{re.sub(r"\{\w+\}", "{}", path) for path in paths} for paths in (shown, pages)]
    assert nameless[0] >= nameless[1]
    assert {one.room for one in OPERATIONS} <= {page.room for page in PAGE_TABLE} | {"contests", "play", "account"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_anybody(visit, scheme):
    assert barriers(visit.page, scheme) == []


def test_a_page_fits_every_width_and_asks_for_nothing_elsewhere(visit, people):
    assert visit.too_narrow_closed == []
    assert visit.too_narrow() == []
    assert visit.spills() == []
    assert {urlsplit(url).netloc for url in visit.asked} == {urlsplit(people.site).netloc}
    # of a page that says what is wrong
    assert [text for text in visit.console if "Failed to load resource" not in text] == []


def test_a_page_is_valid_html_and_says_the_same_without_scripts(visit, windows):
    page = windows(visit.who, java_script_enabled=False)
    for text in (visit.text, page.goto(visit.page.url).text()):
        html5lib.HTMLParser(strict=True).parse(text)
    assert visit.shown == shown_texts(page)
    assert visit.shown
    assert "The arena made a mistake" not in visit.shown
    assert not any("<bdi>" in text for text in visit.shown)
