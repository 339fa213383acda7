"""Addresses of sites, and the proxies on the way to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.client.proxy import proxy_for
from arena.client.site_address import site_address
from arena.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://arena.example.org", "https://arena.example.org"),
        ("https://arena.example.org/", "https://arena.example.org"),
        ("HTTPS://Arena.Example.ORG:443//", "https://arena.example.org"),
        ("https://arena.example.org.:8443", "https://arena.example.org:8443"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://localhost", "http://localhost"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
        ("https://[2001:DB8:0::1]", "https://[2001:db8::1]"),
    ],
)
def test_an_address_has_one_form(text, expected):
    assert str(site_address(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "arena.example.org", "ftp://arena.example.org", "file:///etc/passwd", "https://", "https:///x",
        "https://a b", "https://a\r\nX-Evil: 1", "https://a\tb", "https://ada:secret@arena.example.org",
        "https://arena.example.org@evil.example", "https://arena.example.org/path", "https://arena.example.org?x=1",
        "https://arena.example.org#x", "https://arena.example.org:0", "https://arena.example.org:70000",
        "https://arena.example.org:x", "https://[::1", "https://[fe80::1%eth0]", "https://a..b", "https://.a",
        "https://" + "a" * 64, "https://" + "a." * 200, "https://a\\b", "https://a%00b", "javascript://x",
    ],
)  # fmt: skip
def test_what_is_no_address_is_one_sentence(text):
    with pytest.raises(UsageError, match=r"\Asite '.*expected an address such as https://arena.example.org\Z"):
        site_address(text)


@pytest.mark.slow(sample=True)
@given(st.text(max_size=40))
def test_any_text_is_an_address_or_refused(text):
    try:
        address = site_address(f"https://{text}")
    except UsageError:
        return
    assert site_address(str(address)) == address
    assert str(address).isascii()
    assert not set(str(address).removeprefix("https://")) & set("/@?#\\ \r\n")


def test_tokens_are_not_sent_over_a_network_without_encryption():
    with pytest.raises(UsageError, match="everybody on the way could read the token; expected https://"):
        site_address("http://192.168.0.7:8000")
    assert str(site_address("http://192.168.0.7:8000", may_be_plain=True)) == "http://192.168.0.7:8000"


def test_a_proxy_is_what_the_environment_names(monkeypatch):
    site, here = site_address("https://arena.example.org"), site_address("http://127.0.0.1:8000")
    assert proxy_for(site) is None
    monkeypatch.setenv("HTTPS_PROXY", "http://ada:p%40ss@proxy.example.org:3128")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.org")
    proxy = proxy_for(site)
    assert (proxy.host, proxy.port) == ("proxy.example.org", 3128)
    assert proxy.headers == {"Proxy-Authorization": "Basic YWRhOnBAc3M="}  # ada:p@ss
    assert "YWRh" not in repr(proxy)
    assert proxy_for(here) is None
    monkeypatch.setenv("NO_PROXY", "example.org")
    assert proxy_for(site) is None


@pytest.mark.parametrize("text", ["socks5://proxy:1080", "http://", "http://[x", "http://a:99999", "https://proxy"])
def test_a_proxy_that_can_not_be_used_is_one_sentence_without_its_password(text, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", text.replace("://", "://u:hunter2@"))
    with pytest.raises(UsageError, match=r"\$HTTPS_PROXY or \$ALL_PROXY can't be used; expected") as caught:
        proxy_for(site_address("https://arena.example.org"))
    assert "hunter2" not in str(caught.value)
