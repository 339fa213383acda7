from arena.base.machine import is_loopback
from arena.server.http.hosts import Hosts

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
