import pytest

from arena.site.links import ServedLinks
from arena.site.render import Setting, asset_digests, render_template
from tests.browser.conftest import expect, wait_until


@pytest.mark.slow
def test_a_page_that_is_being_computed_outlives_its_server(site, chromium):
    pending = render_template("pending.html.jinja", Setting(links=ServedLinks(asset_digests())), room="", twin=None)
    answers, is_looked_at = ["pending", "away", "away", "pending"], []

    def answer(route):
        match answers.pop(0) if answers else "there" if is_looked_at else "pending":
            case "pending":
                route.fulfill(status=202, body=pending, content_type="text/html", headers={"retry-after": "1"})
            case "away":
                route.abort("connectionrefused")
            case _:
                route.continue_()

    page = chromium.new_page()
    page.route(f"{site}/games", answer)
    page.goto(f"{site}/games")
    page.evaluate("window.isFirst = true")
    wait_until(page, lambda: not answers)
    assert page.evaluate("window.isFirst"), "it is still there, and not the browser's page of errors"
    is_looked_at.append(True)
    expect(page.locator("h1")).to_have_text("Games")
    page.close()
