"""The whole of an open arena in one run: one command, a link, a contest, an author without scripts who mends a bot and
is ranked, a signed result, a visitor who plays against the bot. Nothing is made beforehand, and all of it is real.
"""

import csv
import io
import json
import re
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from urllib.request import Request, urlopen

import pytest

from arena.site.publish.signature import public_key
from arena.site.publish.verification import verify_folder
from tests import needs
from tests.browser.conftest import PASSWORD, SMALL_LADDER, expect, served, submit_bot

PATIENT = 90_000


@pytest.fixture
def arena(tmp_path, port):
    needs.contained_uploads()
    home = tmp_path / "home"
    site = f"http://127.0.0.1:{port}"
    add = [sys.executable, "-m", "arena", "--home", home, "people", "add", "ada", "--role", "director", "--site", site]
    added = subprocess.run(add, capture_output=True, text=True, check=True)
    (tmp_path / "ladder.toml").write_text(SMALL_LADDER)
    with served(home, "--open-to", "authors", "--port", str(port), "--ladder", tmp_path / "ladder.toml"):
        yield site, re.search(r"http\S+", added.stdout).group()


def choose_password(page, name):
    page.get_by_label("Password", exact=False).first.fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.locator("main form button").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def announce_contest(page, site, deadline):
    page.goto(f"{site}/contests/new?template=class")
    times = {"opens_at": datetime.now(UTC) - timedelta(minutes=1), "deadline_at": deadline}
    fields = {name: f"{time:%Y-%m-%dT%H:%M:%S}" for name, time in times.items()} | {"encounters": "1"}
    fields |= {"title": "Spring contest", "name": "spring", "time_zone": "UTC", "option_size": "4"}
    for name, value in fields.items():
        page.locator(f"input[name={name}]").fill(value)
    page.get_by_role("button", name="Announce it").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Spring contest")
    expect(page.locator("p.verdict")).to_contain_text(f"{deadline:%H:%M:%S} (UTC)")


def invitation(page, site):
    page.goto(f"{site}/people")
    page.get_by_text("Make an invitation").first.click()
    made = page.locator("pre", has_text=f"{site}/invitations/")
    return re.search(rf"{re.escape(site)}/invitations/[\w-]+", made.inner_text()).group()


def reload_until(page, is_there):
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
def test_from_a_link_to_a_signed_result_and_a_match_against_a_ranked_bot(chromium, arena, tmp_path):
    site, link = arena
    director, visitor = (chromium.new_context().new_page() for _ in range(2))
    author = chromium.new_context(java_script_enabled=False).new_page()
    director.goto(link)
    choose_password(director, "ada")
    invited = invitation(director, site)
    announce_contest(director, site, datetime.now(UTC) + timedelta(seconds=75))

    author.goto(invited)
    author.get_by_label("Name").first.fill("bob")
    choose_password(author, "bob")
    author.goto(f"{site}/contests")
    author.get_by_role("link", name="Spring contest").click()
    expect(author.locator("#now")).to_contain_text("until the deadline")
    author.get_by_role("link", name="Submit a bot").click()
    waiting = chromium.new_context(storage_state=author.context.storage_state()).new_page()
    for page in (waiting, visitor):  # neither is loaded again until the results are there
        page.goto(f"{site}/contests/spring")
        page.evaluate("window.isTheSame = true")
    expect(waiting.get_by_role("link", name="Submit a bot")).to_have_count(1)
    submit_bot(author, site, tmp_path / "mine.py", "legal_action")
    expect(author.locator("p.verdict")).to_have_text("It is rejected.", timeout=PATIENT)
    expect(author.locator("pre.report")).to_contain_text('File "mine.py", line 4, in choose')
    expect(author.locator("pre.report")).to_contain_text("Did you mean: 'legal_actions'?")
    submit_bot(author, site, tmp_path / "mine.py", "legal_actions")
    reload_until(author, lambda: "It is accepted" in author.locator("p.verdict").inner_text())

    listing = chromium.new_context().new_page()
    listing.goto(f"{site}/contests")
    for page in (visitor, waiting):
        row = page.get_by_role("row").filter(has_text="bob").filter(has_text="mine")
        expect(row).to_have_count(1, timeout=60_000)
    expect(waiting.get_by_role("link", name="Submit a bot")).to_have_count(0, timeout=2 * PATIENT)  # after the deadline
    expect(waiting.locator("p.verdict")).to_contain_text("The deadline has passed")
    expect(visitor.locator(".notice")).to_contain_text("The results are sealed")
    director.goto(f"{site}/contests/spring")
    expect(director.locator("p.verdict")).to_have_text("Everything is played.", timeout=120_000)
    expect(visitor.locator("p.verdict")).to_contain_text("only directors see how far the matches are")
    expect(listing.locator("#contests")).not_to_contain_text("played; the results are not revealed yet")
    for page in (visitor, waiting):
        assert page.get_by_text("standings").count() == 0
    assert visitor.get_by_role("link", name="standings and matches").count() == 0
    for path in ("/tournaments/spring", "/contests/spring/result.zip"):
        assert visitor.request.get(site + path).status == 404
    hidden = f"{site}/contests/spring/hidden/tournaments/spring"
    assert visitor.request.get(hidden, headers={"accept": "application/json"}).status == 401
    assert author.request.get(hidden).status == 403

    director.goto(f"{site}/contests/spring")
    expect(director.locator("#results .notice")).to_contain_text("Only directors see this", timeout=60_000)
    expect(director.locator("#results .places")).to_contain_text("1. bob")
    director.get_by_role("link", name="standings and matches, for directors only").click()
    expect(director.locator(".notice").first).to_contain_text("Only directors see this page")
    expect(director.get_by_role("row").filter(has_text="mine").first).to_be_visible()
    director.get_by_role("link", name="match", exact=False).first.click()
    expect(director).to_have_url(re.compile("/contests/spring/hidden/tournaments/spring/match"))
    director.get_by_role("link", name="Back to the contest").click()
    expect(director).to_have_url(f"{site}/contests/spring")
    answer = director.request.get(f"{site}/contests/spring/grades.csv")
    [grade] = csv.DictReader(io.StringIO(answer.text()))
    assert (grade["person"], grade["bot"], grade["tournament"]) == ("bob", "mine@1", "spring")
    assert int(grade["rank"]) in (1, 2, 3)

    director.goto(f"{site}/contests/spring")
    director.get_by_text("Reveal the results").first.click()
    director.get_by_role("button", name="Reveal the results").click()

    for page in (visitor, waiting):
        expect(page.locator("p.verdict")).to_contain_text("It is finished. bob wins with mine @1.", timeout=60_000)
        expect(page.locator("#standings-table")).to_contain_text("@1 of bob")
    assert visitor.evaluate("window.isTheSame")
    visitor.get_by_role("link", name="standings and matches").click()
    visitor.wait_for_url("**/tournaments/spring")
    reload_until(visitor, visitor.get_by_role("row").filter(has_text="mine").count)  # it was not there before
    visitor.goto(f"{site}/contests/spring")
    reload_until(visitor, visitor.get_by_role("link", name="all pages and records").count)
    with visitor.expect_download() as download:
        visitor.get_by_role("link", name="all pages and records").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {"spring"}
        archive.extractall(tmp_path)
    with urlopen(Request(f"{site}/signing-key", headers={"accept": "application/json"})) as answer:
        key = public_key(json.load(answer)["key"])
    found = verify_folder(tmp_path / "spring", key=key)
    assert (found.problems, found.signed_by) == ([], key.text)
    visitor.goto(f"{site}/log")
    expect(visitor.locator("ol.log")).to_contain_text("revealed the results of")

    visitor.goto(f"{site}/play?game=differences")
    reload_until(visitor, visitor.locator("select[name=bot] option[value='mine@1']").count)
    visitor.locator("input[name=option_size]").fill("4")
    visitor.locator("select[name=bot]").select_option("mine@1")
    visitor.locator("select[name=seconds]").select_option("5.0")  # it needs little, but may have to wait for it
    visitor.get_by_role("button", name="Play", exact=True).click()
    play_to_the_end(visitor)
    expect(visitor.locator("p.verdict")).to_contain_text(re.compile(r"\d : \d"))
    for page in (director, author, visitor, waiting, listing):
        page.context.close()
