import json
import os
import stat
import threading
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.errors import UsageError
from arena.cli.remote.credentials import Credentials, credentials_path, site_address
from arena.cli.remote.exchange import proxy_for
from arena.cli.remote.site_client import for_site
from arena.store.people.secret import new_token

HERE, THERE = site_address("http://127.0.0.1:8000"), site_address("https://arena.example.org")


@pytest.fixture
def file():
    return Credentials()


def test_tokens_are_kept_for_each_site_and_forgotten(file):
    first, second, third = new_token(), new_token(), new_token()
    assert file.all() == []
    for site, token in ((HERE, first), (THERE, second), (HERE, third)):
        file.put(site, token)
    assert (file.find(HERE), file.find(THERE)) == (third, second)
    file.remove(HERE)
    assert (file.find(HERE), file.find(THERE)) == (None, second)
    assert second not in repr(file.all())


def test_the_file_is_for_its_owner_alone_from_its_first_byte(file, monkeypatch):
    modes = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda one: (modes.append(stat.S_IMODE(os.fstat(one).st_mode)), real(one)))
    before = os.umask(0)
    try:
        file.put(HERE, new_token())
    finally:
        os.umask(before)
    path = credentials_path()
    assert modes == [0o600]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_what_was_there(file, monkeypatch):
    token = new_token()
    file.put(HERE, token)

    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(UsageError, match="No space left on device"):
        file.put(THERE, new_token())
    assert (file.find(HERE), file.find(THERE)) == (token, None)
    assert list(credentials_path().parent.iterdir()) == [credentials_path()]


def test_programs_that_write_at_once_lose_nothing(file):
    sites = [site_address(f"https://arena{number}.example.org") for number in range(20)]
    threads = [threading.Thread(target=Credentials().put, args=(site, new_token())) for site in sites]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(file.all()) == 20


def test_a_link_is_followed_and_stays(file, tmp_path):
    real, link = tmp_path / "real.json", credentials_path()
    link.parent.mkdir()
    link.symlink_to(real)
    Credentials().put(HERE, new_token())
    assert link.is_symlink()
    assert Credentials().find(HERE)
    assert real.is_file()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_can_use_is_refused(file, mode):
    file.put(HERE, new_token())
    path = credentials_path()
    path.chmod(mode)
    with pytest.raises(UsageError) as caught:
        file.find(HERE)
    assert str(caught.value) == f"{path}: others can read it; take that from them with: chmod 600 {path}"
    with pytest.raises(UsageError):
        file.put(HERE, new_token())


def sites(*lines):
    return json.dumps({"sites": list(lines)})


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        ("", "is not JSON"),
        ("[]", "expected an object"),
        ("[" * 30_000, "nested too deeply"),
        ("{}", "has no field 'sites'"),
        ('{"sites": 1}', "expected a list"),
        ('{"sites": [1]}', "expected an object"),
        ('{"sites": [], "more": 1}', "a newer arena is needed"),
        (sites({"site": "https://a"}), "has no field 'token'"),
        (sites({"site": "https://a", "token": "arena_short"}), "'https://a' is malformed; sign in there again"),
        (sites({"site": "https://A", "token": new_token()}), "'https://A' is malformed"),
        (sites({"site": "file:///x", "token": new_token()}), "expected an address"),
        (sites(*({"site": f"https://a{n}", "token": new_token()} for n in range(101))), "more than 100 sites"),
        (" " * 65_537, "longer than 65,536 bytes"),
        (b"\xff\xfe", "expected text in UTF-8"),
    ],
)
def test_contents_that_are_not_right_are_one_sentence(file, contents, sentence):
    path = credentials_path()
    path.parent.mkdir()
    path.touch(0o600)
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    with pytest.raises(UsageError) as caught:
        file.all()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_is_refused_at_once(file):
    path = credentials_path()
    path.parent.mkdir()
    os.mkfifo(path, 0o600)
    with pytest.raises(UsageError, match="this is no file"):
        file.all()
    path.unlink()
    path.mkdir(0o700)
    with pytest.raises(UsageError, match="this is no file"):
        file.all()


def test_where_the_file_is(monkeypatch, tmp_path):
    monkeypatch.delenv("ARENA_CREDENTIALS")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert credentials_path() == tmp_path / ".config" / "arena" / "credentials.json"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert credentials_path() == tmp_path / ".config" / "arena" / "credentials.json"
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert str(credentials_path()) == "/elsewhere/arena/credentials.json"


def test_the_environment_outweighs_the_file(file, monkeypatch):
    token = new_token()
    with pytest.raises(UsageError, match=r"you are not signed in there; sign in with: arena site login http://127.0.0"):
        for_site("http://127.0.0.1:8000")
    file.put(HERE, token)
    monkeypatch.setenv("ARENA_TOKEN", new_token())
    client = for_site("http://127.0.0.1:8000/")
    assert client._headers["Authorization"] == f"Bearer {os.environ['ARENA_TOKEN']}"
    with pytest.raises(UsageError, match="everybody on the way"):
        for_site("http://192.168.0.7")
    monkeypatch.setenv("ARENA_TOKEN", "arena_x\r\nX: 1")
    with pytest.raises(UsageError, match=r"\$ARENA_TOKEN is no token"):
        for_site("http://127.0.0.1:8000")
    monkeypatch.delenv("ARENA_TOKEN")
    assert for_site("http://127.0.0.1:8000")._headers["Authorization"] == f"Bearer {token}"


# addresses of sites, and the proxies on the way to them


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://arena.example.org/", "https://arena.example.org"),
        ("HTTPS://Arena.Example.ORG:443//", "https://arena.example.org"),
        ("https://arena.example.org.:8443", "https://arena.example.org:8443"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
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


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_refused(text):
    try:
        address = site_address(f"https://{text}")
    except UsageError:
        return
    assert site_address(str(address)) == address
    assert str(address).isascii()
    assert not set(str(address).removeprefix("https://")) & set("/@?#\\ \r\n")


def test_tokens_are_not_sent_over_a_network_without_encryption_unless_who_signed_in_said_so(file):
    with pytest.raises(UsageError, match="everybody on the way could read the token; expected https://"):
        site_address("http://192.168.0.7:8000")
    site = site_address("http://192.168.0.7:8000", may_be_plain=True)
    file.put(site, new_token())
    assert for_site("http://192.168.0.7:8000").site == site


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
