"""A contest from its announcement to the signed result: a director, an author and a visitor, each in a browser."""

import csv
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from urllib.request import Request, urlopen

import pytest

from arena.site.publish.signature import public_key
from arena.site.publish.verification import verify_folder
from arena.store.home import ArenaHome, open_people
from arena.store.people.values import Role
from tests.browser.conftest import SMALL_LADDER, expect, served, submit_bot

TO_HAND_IN = timedelta(seconds=40)


@pytest.fixture
def arena(tmp_path, contained):
    directory = tmp_path / "home"
    with ArenaHome(directory):
        pass
    with open_people(directory) as people:
        sessions = {
            name: people.sessions.begin(people.accounts.add(name, role, "the command line"), "a browser", "192.0.2.1")
            for name, role in (("dora", Role.DIRECTOR), ("ada", Role.AUTHOR), ("eve", Role.AUTHOR))
        }
    (tmp_path / "ladder.toml").write_text(SMALL_LADDER)
    with served(directory, "--open-to", "authors", "--ladder", tmp_path / "ladder.toml") as site:
        yield site, sessions


def page_of(chromium, arena, who=None):
    site, sessions = arena
    context = chromium.new_context()
    if who is not None:
        context.add_cookies([{"name": "arena-here", "value": sessions[who], "url": site}])
    return context.new_page()


def until(page, is_so):
    while not is_so(page):
        page.wait_for_timeout(500)
        page.reload()


def announce(page, site):
    """Fill in the form, first with a mistake; return the deadline."""
    page.goto(f"{site}/contests")
    page.get_by_role("link", name="Make a contest").click()
    page.locator("[name=title]").fill("Spring contest")
    for template in ("cup", "class"):
        page.locator("select[name=template]").select_option(template)
        page.get_by_role("button", name="Use these").click()
        expect(page.locator("select[name=template]")).to_have_value(template)
        expect(page.locator("[name=title]")).to_have_value("Spring contest")
    page.locator("[name=name]").fill("spring")
    size = page.locator("[name=option_size]")
    size.fill("1000")
    size.evaluate("field => { field.form.noValidate = true }")  # the server is asked, not the browser
    page.locator("[name=encounters]").fill("1")
    deadline = datetime.now(UTC) + TO_HAND_IN
    page.locator("[name=opens_at]").fill((deadline - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S"))
    page.locator("[name=deadline_at]").fill(deadline.strftime("%Y-%m-%dT%H:%M:%S"))
    page.get_by_role("button", name="Announce it").first.click()
    expect(page.get_by_role("alert")).to_contain_text("size = 1000: expected")
    expect(page.locator("[name=title]")).to_have_value("Spring contest")
    size.fill("4")
    page.get_by_role("button", name="Announce it").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Spring contest")
    expect(page.locator("p.verdict")).to_contain_text(f"{deadline:%H:%M:%S} (UTC)")


@pytest.mark.slow
def test_a_contest_from_the_form_to_the_signed_result(chromium, arena, tmp_path):
    site, _ = arena
    director, author, visitor = (page_of(chromium, arena, who) for who in ("dora", "ada", None))
    announce(director, site)

    author.goto(f"{site}/contests")
    author.get_by_role("link", name="Spring contest").click()
    expect(author.locator("#now")).to_contain_text("until the deadline")
    waiting = page_of(chromium, arena, "ada")  # is not loaded again until the results are there
    waiting.goto(f"{site}/contests/spring")
    expect(waiting.get_by_role("link", name="Submit a bot")).to_have_count(1)
    author.get_by_role("link", name="Submit a bot").click()
    submit_bot(author, site, tmp_path / "mine.py", "legal_actions")
    expect(author.locator("p.verdict")).to_contain_text("It is accepted", timeout=60_000)

    listing = page_of(chromium, arena)
    listing.goto(f"{site}/contests")
    visitor.goto(f"{site}/contests/spring")
    visitor.evaluate("window.isTheSame = true")
    for page in (visitor, waiting):
        row = page.get_by_role("row").filter(has_text="ada").filter(has_text="mine")
        expect(row).to_have_count(1, timeout=60_000)
    expect(waiting.get_by_role("link", name="Submit a bot")).to_have_count(0, timeout=60_000)  # after the deadline
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
    expect(director.locator("#results .places")).to_contain_text("1. ada")
    director.get_by_role("link", name="standings and matches, for directors only").click()
    expect(director.locator(".notice").first).to_contain_text("Only directors see this page")
    expect(director.get_by_role("row").filter(has_text="mine").first).to_be_visible()
    director.get_by_role("link", name="match", exact=False).first.click()
    expect(director).to_have_url(re.compile("/contests/spring/hidden/tournaments/spring/match"))
    director.get_by_role("link", name="Back to the contest").click()
    expect(director).to_have_url(f"{site}/contests/spring")
    answer = director.request.get(f"{site}/contests/spring/grades.csv")
    grade, absent = csv.DictReader(io.StringIO(answer.text()))
    assert (absent["person"], absent["bot"], absent["state"]) == ("eve", "", "absent")
    assert (grade["person"], grade["bot"], grade["tournament"]) == ("ada", "mine@1", "spring")
    assert int(grade["rank"]) in (1, 2, 3)

    director.goto(f"{site}/contests/spring")
    director.get_by_text("Reveal the results").first.click()
    director.get_by_role("button", name="Reveal the results").click()

    for page in (visitor, waiting):
        expect(page.locator("p.verdict")).to_contain_text("It is finished. ada wins with mine @1.", timeout=60_000)
        expect(page.locator("#standings-table")).to_contain_text("@1 of ada")
    assert visitor.evaluate("window.isTheSame")
    visitor.get_by_role("link", name="standings and matches").click()
    visitor.wait_for_url("**/tournaments/spring")
    until(visitor, lambda page: page.get_by_role("row").filter(has_text="mine").count() > 0)  # it was not there before
    visitor.goto(f"{site}/contests/spring")
    until(visitor, lambda page: page.get_by_role("link", name="all pages and records").count() == 1)
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
    for page in (director, author, visitor, waiting, listing):
        page.context.close()
