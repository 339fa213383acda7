import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.machine import is_loopback
from arena.server.http.addresses import Addresses, Hosts, query_of
from arena.server.http.problems import ProblemError
from arena.site.links import MAX_PATH_BYTES, MAX_QUERY_BYTES, ServedLinks
from arena.site.page_table import PAGES

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
            path = address.partition("?")[0]
            match = pages.find(path.encode())
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


def test_only_this_machine_reaches_a_loopback_address():
    assert all(map(is_loopback, ["127.0.0.1", "127.3.2.1", "::1", "localhost", "LocalHost.", "::ffff:127.0.0.1"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.168.0.7", "::ffff:192.168.0.7", "example.org", ""]))
