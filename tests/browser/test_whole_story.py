"""The whole of an open arena in one run: one command, a link, a contest, an author without scripts who mends a bot and
is ranked, a visitor who plays against it. Nothing is made beforehand, and all of it is real.
"""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tests.browser.conftest import PASSWORD, built, expect, served, submit_bot

PATIENT = 90_000


@pytest.fixture
def arena(tmp_path, port, contained):
    home = tmp_path / "home"
    site = f"http://127.0.0.1:{port}"
    add = [sys.executable, "-m", "arena", "--home", home, "people", "add", "ada", "--role", "director", "--site", site]
    added = subprocess.run(add, capture_output=True, text=True, check=True)
    with served(home, "--open-to", "authors", "--port", str(port)):
        yield site, re.search(r"http\S+", added.stdout).group()


def choose_password(page, name):
    page.get_by_label("Password", exact=False).first.fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.locator("main form button").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def announce_contest(page, site, now):
    """Make a contest with a ladder that is open for a quarter of an hour."""
    page.goto(f"{site}/contests/new?template=league")
    opens, deadline = (f"{now + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S}" for minutes in (-1, 15))
    fields = {"title": "Spring league", "name": "spring", "opens_at": opens, "deadline_at": deadline}
    for name, value in {**fields, "time_zone": "UTC", "option_size": "4"}.items():
        page.locator(f"input[name={name}]").fill(value)
    page.locator("select[name=qualification]").select_option("ladder")
    page.get_by_role("button", name="Announce it").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Spring league")
    expect(page.locator("p.verdict")).to_contain_text("The deadline is")


def invitation(page, site):
    page.goto(f"{site}/people")
    page.get_by_text("Make an invitation").first.click()
    made = page.locator("pre", has_text=f"{site}/invitations/")
    return re.search(rf"{re.escape(site)}/invitations/[\w-]+", made.inner_text()).group()


def reload_until(page, is_there):
    """Look again and again; the time limit of the test ends what never comes."""
    while not is_there():
        page.wait_for_timeout(250)
        page.reload()


def play_to_the_end(page):
    while True:
        expect(page.locator("#match[data-waiting]")).to_have_count(0, timeout=PATIENT)
        if page.locator("p.verdict").inner_text() != "It is your turn.":
            return
        before = page.locator("#match").get_attribute("data-plies")
        page.locator("#board-form .place[value]").first.click(force=True)
        expect(page.locator("#match")).not_to_have_attribute("data-plies", before, timeout=PATIENT)


@pytest.mark.slow
def test_from_a_link_to_a_match_against_a_ranked_bot(chromium, arena, tmp_path):
    site, link = arena
    director, visitor = (chromium.new_context().new_page() for _ in range(2))
    author = chromium.new_context(java_script_enabled=False).new_page()
    director.goto(link)
    choose_password(director, "ada")
    announce_contest(director, site, datetime.now(UTC))

    author.goto(invitation(director, site))
    author.get_by_label("Name").first.fill("bob")
    choose_password(author, "bob")
    submit_bot(author, site, tmp_path / "mine.py", "legal_action")
    expect(author.locator("p.verdict")).to_have_text("It is rejected.", timeout=PATIENT)
    expect(author.locator("pre.report")).to_contain_text('File "mine.py", line 4, in choose')
    expect(author.locator("pre.report")).to_contain_text("Did you mean: 'legal_actions'?")
    submit_bot(author, site, tmp_path / "mine.py", "legal_actions")
    expect(author.locator("p.verdict")).to_contain_text("It is accepted", timeout=PATIENT)

    author.goto(f"{site}/contests/spring")
    reload_until(author, lambda: author.get_by_role("link", name="mine", exact=True).count())
    reload_until(author, lambda: author.get_by_role("link", name="standings and matches").count())
    built(f"{site}/tournaments/spring-qualification")
    author.get_by_role("link", name="standings and matches").click()
    row = author.get_by_role("row").filter(has=author.get_by_role("link", name="mine", exact=True))
    reload_until(author, lambda: row.count() and "±" in row.first.inner_text())

    visitor.goto(f"{site}/play?game=differences")
    reload_until(visitor, visitor.locator("select[name=bot] option[value='mine@1']").count)
    visitor.locator("input[name=option_size]").fill("4")
    visitor.locator("select[name=bot]").select_option("mine@1")
    visitor.locator("select[name=seconds]").select_option("5.0")  # it needs little, but may have to wait for it
    visitor.get_by_role("button", name="Play", exact=True).click()
    play_to_the_end(visitor)
    expect(visitor.locator("p.verdict")).to_contain_text(re.compile(r"\d : \d"))
    for page in (director, author, visitor):
        page.context.close()
