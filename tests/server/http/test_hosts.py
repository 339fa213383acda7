import pytest

from arena.base.machine import is_loopback
from arena.server.http.hosts import Hosts


@pytest.mark.parametrize(
    "header", ["localhost", "localhost:8000", "LOCALHOST.", "127.0.0.1:1", "[::1]:8000", "a.example"]
)
def test_our_names_are_answered_to(header):
    assert Hosts("127.0.0.1", ["A.example"]).has(header)


@pytest.mark.parametrize(
    "header",
    ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "192.168.0.7",
     "localhost:8000:9", "localhost/", "[localhost]", "::1", "a" * 3000, "localhost evil"],
)  # fmt: skip
def test_other_names_are_refused(header):
    assert not Hosts("127.0.0.1").has(header)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_where_all_addresses_are_listened_on_any_address_is_ours_but_no_name(host):
    assert Hosts(host).has("192.168.0.7:8000")
    assert Hosts(host).has("[fe80::1]:8000")
    assert not Hosts(host).has("evil.example")


def test_only_this_machine_reaches_a_loopback_address():
    assert all(map(is_loopback, ["127.0.0.1", "127.3.2.1", "::1", "localhost", "LocalHost.", "::ffff:127.0.0.1"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.168.0.7", "::ffff:192.168.0.7", "example.org", ""]))
