"""The whole of an open arena in one run: one command, a link, a contest, an author who mends a bot and is ranked, a
visitor who plays against it. Nothing is made beforehand, and all of it is real.
"""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from arena.community.uploads.containment import can_contain_uploads
from tests.browser.conftest import built, expect
from tests.browser.test_authors import BOT, PASSWORD, submit_bot

PATIENT = 90_000


@pytest.fixture
def arena(tmp_path, port):
    if not can_contain_uploads().is_enough:
        pytest.skip("needs a machine that can contain uploads")
    home = tmp_path / "home"
    site = f"http://127.0.0.1:{port}"
    arena = [sys.executable, "-m", "arena", "--home", str(home)]
    add = ["people", "add", "ada", "--role", "director", "--site", site]
    added = subprocess.run([*arena, *add], capture_output=True, text=True, check=True)
    command = [*arena, "serve", "--open-to", "authors", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert site in server.stdout.readline()
        yield site, re.search(r"http\S+", added.stdout).group()
        server.terminate()
        assert server.wait(60) in (0, -15)


def choose_password(page, name):
    page.get_by_label("Password", exact=False).first.fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.locator("main form button").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def announce_contest(page, site, now):
    """Make a contest with a ladder that is open for a quarter of an hour."""
    page.goto(f"{site}/contests/new?template=league")
    fields = {
        "title": "Spring league",
        "name": "spring",
        "opens_at": (now - timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%S"),
        "deadline_at": (now + timedelta(minutes=15)).strftime("%Y-%m-%dT%H:%M:%S"),
        "time_zone": "UTC",
        "options": '{"size": 4}',
    }
    for name, value in fields.items():
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
    director, author, visitor = (chromium.new_context().new_page() for _ in range(3))
    director.goto(link)
    choose_password(director, "ada")
    announce_contest(director, site, datetime.now(UTC))

    author.goto(invitation(director, site))
    author.get_by_label("Name").first.fill("bob")
    choose_password(author, "bob")
    bot = tmp_path / "mine.py"
    bot.write_text(BOT.replace("LEGAL", "legal_action"))
    submit_bot(author, site, bot)
    expect(author.locator("p.verdict")).to_have_text("It is refused.", timeout=PATIENT)
    expect(author.locator("pre.report")).to_contain_text('File "mine.py", line 5, in choose')
    bot.write_text(BOT.replace("LEGAL", "legal_actions"))
    submit_bot(author, site, bot)
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
    visitor.get_by_role("button", name="Play").click()
    play_to_the_end(visitor)
    expect(visitor.locator("p.verdict")).to_contain_text(re.compile(r"\d : \d"))
    for page in (director, author, visitor):
        page.context.close()
