import re
from html import unescape

import pytest

from arena.match.players.manifest import load_bot
from arena.server.http.addresses import Hosts
from arena.site import guide
from arena.site.links import ServedLinks
from arena.site.render import asset_digests
from tests.server.conftest import answered, client_of
from tests.site.parsed import Parsed

HOSTILE = """# <script>alert(1)</script>

First. [a](javascript:alert(1)) [b](../../../etc/passwd) [c](//evil.example) [d](time.md#x) <img src=x onerror=alert(2)>

| left | right |
| --- | ---: |
| <b>1</b> | 2 |
"""


@pytest.mark.slow
async def test_every_link_of_every_page_leads_somewhere(directory):
    async with client_of(directory) as client:
        pages = {"/guide": (await client.get("/guide")).text}
        waiting = list(pages)
        while waiting:
            for target in re.findall(r'href="(/[^"#]*)', pages[waiting.pop()]):
                if target.startswith("/guide") and target not in pages:
                    response = await client.get(target)
                    assert response.status_code == 200, target
                    pages[target] = response.text
                    waiting.append(target)
    assert {"/guide/protocol", "/guide/first_bot", "/guide/games/plaid", "/guide/people"} <= pages.keys()
    assert len(pages) >= len(guide.guide_names())
    for address, html in pages.items():
        Parsed(re.sub('href="https://[^"]*"', 'href="/"', html)).check()
        assert " style=" not in html
        for target, anchor in re.findall(r'href="([^"#]*)#([^"]+)"', html):
            if not target.startswith("http"):
                assert f'id="{anchor}"' in pages[target or address], (address, target, anchor)


@pytest.mark.parametrize(
    ("site", "option"), [("http://localhost:8123", ""), ("http://192.168.1.5", " --plain-http"), ("https://[::1]", "")]
)
async def test_commands_name_the_address_by_which_one_asks(directory, site, option):
    links = ServedLinks(asset_digests(), "/account")
    async with client_of(directory, links=links) as client:
        client.site._app = Hosts("0.0.0.0").guarding(client.site._answer, client.site._responses.problem)
        text = (await client.get(f"{site}/guide")).text
        assert f"arena submit my_bot.py --to {site}{option}\n" in text.replace("</code>", "\n")
        assert f"arena site login {site}{option}\n" in text
        page = (await client.get(f"{site}/guide/people")).text
        assert f"arena submit my_bot --to {site}\n" in page and "arena.example.org" not in page


async def test_the_bot_of_the_guide_and_its_next_version_are_whole(directory, tmp_path):
    async with client_of(directory, links=ServedLinks(asset_digests(), "/account")) as client:
        text = (await client.get("/guide")).text
    for name in ("my_bot.py", "bot.toml"):
        [shown] = re.findall(f'aria-label="{name}"><code>(.*?)</code>', text, re.DOTALL)
        (tmp_path / name).write_text(unescape(shown))
    assert [load_bot(tmp_path / name).label for name in ("my_bot.py", "")] == ["my_bot@1", "my_bot@2"]


async def test_what_people_try_leads_there_and_where_nobody_signs_in_nothing_is_submitted(directory):
    async with client_of(directory) as client:
        text = (await client.get("/guide")).text
        assert "--to " not in text and "/submissions" not in text
        for address in ("/docs", "/help", "/about", "/protocol", "/play"):
            response = await client.get(address, follow_redirects=True)
            assert response.status_code == 200 and response.url.path.startswith("/guide")
        await answered(client.get("/guide/protocoll"), 404, "did you mean &#39;protocol&#39;?")
        assert (await client.get("/guide/..%2F..%2FLICENSE")).status_code == 404


def test_a_document_is_text_and_links_only_to_pages_and_other_sites(tmp_path, monkeypatch):
    for name in ("hostile.md", "time.md"):
        (tmp_path / name).write_text(HOSTILE)
    found = {f"docs/{name}": tmp_path / name for name in ("hostile.md", "time.md")}
    monkeypatch.setattr(guide, "documents", lambda: found)
    guide._names_by_path.cache_clear()
    guide._page.cache_clear()
    try:
        html = guide.guide_page("hostile").html
    finally:
        guide._names_by_path.cache_clear()
        guide._page.cache_clear()
    assert "<script" not in html and "<img" not in html and "<b>" not in html
    assert re.findall(r'href="([^"]*)"', html) == ["/guide/time#x"]
    assert '<td class="number">2</td>' in html
