import json
import re
from html import unescape

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from arena.base.machine import is_loopback
from arena.match.players.manifest import load_bot
from arena.server.http.addresses import Addresses, Hosts, query_of, warn_of_plain_http
from arena.server.http.openapi import document
from arena.server.http.problems import ProblemError
from arena.site import guide
from arena.site.links import MAX_PATH_BYTES, MAX_QUERY_BYTES, ServedLinks
from arena.site.page_table import PAGES
from arena.site.render import asset_digests
from tests.server.conftest import answered, client_of
from tests.server.http.test_serve import served
from tests.site.parsed import Parsed

ADDRESSES = Addresses(
    [
        ("/", "first", True),
        ("/bots/{bot}", "bot", True),
        ("/bots/{bot}/versus/{rival}", "versus", True),
        ("/games", "games", True),
        ("/bots/{bot}/feed.atom", "feed", False),
    ]
)


def found(path):
    match = ADDRESSES.find(path.encode())
    return match.target, dict(match.fields), match.suffix


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", ("first", {}, "")),
        ("/index.json", ("first", {}, ".json")),
        ("/bots/a", ("bot", {"bot": "a"}, "")),
        ("/bots/a@1.json", ("bot", {"bot": "a@1"}, ".json")),
        ("/bots/a.json.csv", ("bot", {"bot": "a.json"}, ".csv")),
        ("/bots/a%2Ejson", ("bot", {"bot": "a.json"}, "")),
        ("/bots/a%2Fb", ("bot", {"bot": "a/b"}, "")),
        ("/bots/a%2520b", ("bot", {"bot": "a%20b"}, "")),
        ("/bots/%C3%A4/versus/b.csv", ("versus", {"bot": "ä", "rival": "b"}, ".csv")),
        ("/bots/a/feed.atom", ("feed", {"bot": "a"}, "")),
    ],
)
def test_a_path_is_split_and_then_decoded_once(path, expected):
    assert found(path) == expected


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/bot/a", 404), ("/bots", 404), ("/bots/", 404), ("//bots/a", 404), ("/../games", 404), ("/index", 404),
        ("/.json", 404),
        ("/bots/a/feed.atom.json", 404), ("/bots/.json", 404), ("/games/x.json", 404),
        ("/bots/%ff", 400), ("/bots/%", 400), ("/bots/%zz", 400), ("/bots/%00", 404), ("bots/a", 400), ("*", 400),
        ("/" + "a" * MAX_PATH_BYTES, 414),
    ],
)  # fmt: skip
def test_a_path_without_a_page_is_refused(path, status):
    with pytest.raises(ProblemError) as refusal:
        found(path)
    assert refusal.value.problem.status == status


def test_a_query_is_decoded_and_an_invalid_one_refused():
    assert query_of(b"a=1+2&b=%C3%A4&c=") == {"a": "1 2", "b": "ä", "c": ""}
    many = b"&".join([b"%d=" % i for i in range(60)])
    for query in (b"a=1&a=2", b"a=%ff", b"a=%00", b"a=%", b"a" * (MAX_QUERY_BYTES + 1), many):
        with pytest.raises(ProblemError):
            query_of(query)


@given(st.binary(max_size=60))
def test_whatever_is_asked_there_is_a_page_or_a_sentence(raw):
    try:
        ADDRESSES.find(b"/" + raw)
    except ProblemError as error:
        assert error.problem.status in (400, 404)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_an_address_that_we_write_leads_back(name):
    pages = Addresses([(page.path, page, True) for page in PAGES])
    links = ServedLinks({})
    for page in PAGES:
        values = dict.fromkeys(page.path_fields, name)
        for suffix in ("", ".json", ".csv"):
            address = links.page(page.name, suffix, **values)
            if name in (".", "..") and values:  # which browsers take out of a path
                assert address is None
                continue
            match = pages.find(address.partition("?")[0].encode())
            assert (match.target, dict(match.fields), match.suffix) == (page, values, suffix)


OURS = ("localhost", "localhost:8000", "LOCALHOST.", "127.0.0.1:1", "[::1]:8000", "a.example")
OTHERS = (
    "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "192.168.0.7",
    "localhost:8000:9", "localhost/", "[localhost]", "::1", "a" * 3000, "localhost evil",
)  # fmt: skip


def test_our_names_are_answered_to_and_where_all_addresses_are_listened_on_any_address_but_no_other_name():
    hosts = Hosts("127.0.0.1", ["A.example"])
    assert [name for name in OURS + OTHERS if hosts.has(name)] == [*OURS]
    for host in ("0.0.0.0", "::"):
        assert [Hosts(host).has(name) for name in ("192.168.0.7:8000", "[fe80::1]:8000", "evil.example")] == [
            True, True, False,
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("host", "proxies", "warns"),
    [("0.0.0.0", [], True), ("0.0.0.0", ["10.88.0.1"], False), ("127.0.0.1", [], False), ("localhost", [], False)],
)
def test_whoever_serves_accounts_to_a_network_hears_that_they_need_https(caplog, host, proxies, warns):
    warn_of_plain_http(host, proxies)
    assert ("--trusted-proxy" in caplog.text) == warns


def test_only_this_machine_reaches_a_loopback_address():
    assert all(map(is_loopback, ["127.0.0.1", "127.3.2.1", "::1", "localhost", "LocalHost.", "::ffff:127.0.0.1"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.168.0.7", "::ffff:192.168.0.7", "example.org", ""]))


THERE = {"tournament": "t", "match": 1, "bot": "a", "rival": "b", "game": "differences"}
"""Names that exist, for which the answer is a page."""

FEW = settings(
    max_examples=8, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


def check_openapi(description):
    validator = pytest.importorskip("openapi_spec_validator", reason="needs openapi-spec-validator")
    validator.OpenAPIV31SpecValidator(description).validate()


def test_every_page_has_a_twin_and_every_table_an_address():
    assert "securitySchemes" not in document(PAGES, ())["components"], "without people there is nothing to sign in to"
    paths = document(PAGES, ())["paths"]
    for page in PAGES:
        assert page.path in paths
        assert (f"{page.path}.json" if page.path != "/" else "/index.json") in paths
    assert "/index.csv" in paths


@pytest.mark.slow
async def test_the_site_has_it(directory):
    async with client_of(directory) as client:
        response = await client.get("/openapi.json")
        assert response.json() == json.loads(json.dumps(document(PAGES, client.site._endpoints)))
        assert "/tournaments/{tournament}/feed.atom" in response.json()["paths"]
        check_openapi(response.json())


@pytest.mark.slow
def test_whatever_a_program_asks_the_answer_is_as_described(directory):
    schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
    from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

    def ask(case):
        chooses = case.method.lower() == "post"  # among the games and bots that are here, which no schema lists
        case.call_and_validate(excluded_checks=[positive_data_acceptance] if chooses else [])
        case.path_parameters = {name: THERE.get(name, value) for name, value in (case.path_parameters or {}).items()}
        case.call_and_validate(excluded_checks=[positive_data_acceptance, negative_data_rejection])

    with served("--home", directory) as server:
        schema = schemathesis.openapi.from_url(f"http://{server.address}/openapi.json")
        for operation in schema.exclude(path="/events").get_all_operations():  # a stream has no end
            FEW(given(case=operation.ok().as_strategy())(ask))()


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
