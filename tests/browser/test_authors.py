"""An arena that others enter: a link, a broken bot, the line to fix, a rank with an interval. All of it is real."""

import pytest

from arena.community.uploads.containment import can_contain_uploads
from arena.store.home import ArenaHome, open_people
from arena.store.people.values import Role
from tests.browser.conftest import built, expect, served

PASSWORD = "correct horse battery"
LADDER = """
name = "spring"
game = "differences"
options = { size = 4 }
format = "ladder"
opening_plies = 1
[ladder]
margin_95 = 8.0
[[entrants]]
bot = "arena:random_legal"
[[entrants]]
bot = "arena:greedy"
"""
BOT = """from arena.botkit import run


def choose(game, state, clock):
    return game.LEGAL(state)[0]


run(choose)
"""


@pytest.fixture
def arena(tmp_path):
    if not can_contain_uploads().is_enough:
        pytest.skip("needs a machine that can contain uploads")
    directory = tmp_path / "home"
    with ArenaHome(directory):
        pass
    with open_people(directory) as people:
        people.accounts.add("ada", Role.AUTHOR, "the command line")
        secret = people.invitations.invite_person("ada", "the command line", 7)
    ladder = tmp_path / "spring.toml"
    ladder.write_text(LADDER)
    with served(directory, "--open-to", "authors", "--ladder", ladder) as site:
        yield site, f"{site}/invitations/{secret}"


def submit_bot(page, site, path):
    page.goto(f"{site}/submissions")
    page.get_by_label("Your bot").set_input_files(path)
    page.get_by_role("button", name="Hand it in").click()


@pytest.mark.slow
@pytest.mark.parametrize("has_scripts", [True, False])
def test_an_author_mends_a_broken_bot_and_is_ranked(chromium, arena, tmp_path, has_scripts):
    site, link = arena
    page = chromium.new_context(java_script_enabled=has_scripts).new_page()
    page.goto(link)
    page.get_by_label("Password", exact=False).first.fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.get_by_role("button", name="Choose it and sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("ada")

    bot = tmp_path / "mine.py"
    bot.write_text(BOT.replace("LEGAL", "legal_action"))
    submit_bot(page, site, bot)
    expect(page.locator("p.verdict")).to_have_text("It is refused.", timeout=60_000)
    expect(page.locator("pre.report")).to_contain_text('File "mine.py", line 5, in choose')
    expect(page.locator("pre.report")).to_contain_text("Did you mean: 'legal_actions'?")

    bot.write_text(BOT.replace("LEGAL", "legal_actions"))
    submit_bot(page, site, bot)
    expect(page.locator("p.verdict")).to_contain_text("It is accepted", timeout=60_000)

    standings = page.get_by_role("row").filter(has=page.get_by_role("link", name="mine", exact=True))
    while "mine" not in built(f"{site}/tournaments/spring"):
        page.wait_for_timeout(250)
    page.goto(f"{site}/tournaments/spring")
    while "±" not in standings.first.inner_text():
        page.wait_for_timeout(250)
        page.reload()
    page.context.close()
