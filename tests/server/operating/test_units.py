import configparser
import getpass
import json
import os
import re
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.cli.group import run
from arena.community.submissions.upload_directory import Containment
from arena.sandbox.isolation.levels import NO_CONTROL_GROUPS
from arena.server.operating import serve_checks as checks
from arena.server.operating import service_programs as module
from arena.server.operating.serve_checks import Machine, Verdict, findings, look_at, must_be_mended
from arena.server.operating.service_programs import Installation, locked_services, units
from arena.store.home import PEOPLE_CREDENTIAL, STORE_CREDENTIAL, ArenaHome, open_people
from arena.store.people.values import Role
from tests import needs

PLAIN = Installation(
    home=Path("/var/lib/arena"),
    user=getpass.getuser(),
    address="127.0.0.1:8000",
    is_public=False,
    options=(),
    play_slots=4,
    has_metrics=False,
    ladders=("arena:open_ladder",),
    has_network=False,
)


def section(text, name):
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str
    parser.read_string(text)
    return parser[name]


def test_there_are_two_services_and_a_socket():
    made = units(replace(PLAIN, ladders=("arena:open_ladder", "/etc/arena/a+b.toml")))
    services = {name for name in made if name.endswith(".service")}
    assert services == {"arena-web.service", "arena-work.service"}
    assert set(made) - services == {"arena.target", "arena.slice", "arena-web.socket"}
    assert set(section(made["arena.target"], "Unit")["Wants"].split()) == services | {"arena-web.socket"}
    for name in services:
        assert section(made[name], "Service")["Slice"] == "arena.slice"
        assert section(made[name], "Service")["Type"] == "notify"
    started = section(made["arena-work.service"], "Service")["ExecStart"]
    both = "--ladder arena:open_ladder --ladder /etc/arena/a+b.toml"
    assert started.endswith(f"serve --home /var/lib/arena --only work {both} --play-slots 4")
    assert "--ladder none" in units(replace(PLAIN, ladders=()))["arena-work.service"]


def test_what_is_given_stands_where_systemd_reads_it():
    options = ("--allowed-host", "arena.example.org", "--trusted-proxy", "10.0.0.0/8")
    made = units(replace(PLAIN, home=Path("/srv/a"), user="u", address="[::]:80", is_public=True, options=options))
    web = section(made["arena-web.service"], "Service")
    command = " ".join(["serve --home /srv/a --only web --open-to authors --public", *options])
    assert web["ExecStart"].endswith(f" -P -m arena {command}")
    assert (web["User"], web["ReadWritePaths"]) == ("u", "/srv/a")
    assert section(made["arena-web.socket"], "Socket")["ListenStream"] == "[::]:80"
    assert not re.search(r"@[A-Z_]+@", "".join(made.values()))


def test_the_site_has_most_of_a_busy_machine_runs_no_bots_and_need_not_have_credentials():
    web, work = (section(units(PLAIN)[f"arena-{name}.service"], "Service") for name in ("web", "work"))
    assert int(web["CPUWeight"]) > int(work["CPUWeight"])
    assert ("Delegate" in web, work["Delegate"]) == (False, "yes")
    for setting in ("RestrictNamespaces", "RestrictSUIDSGID"):  # bubblewrap, and openat2 for Landlock, need them
        assert setting not in work
    made = units(PLAIN)  # urls with passwords are credentials that need not be there
    for name in (name for name in made if name.endswith(".service")):
        for credential in (STORE_CREDENTIAL, PEOPLE_CREDENTIAL):
            place = f"/etc/arena/{credential.removeprefix('arena.')}"
            lines = made[name].splitlines()
            assert f"LoadCredential={credential}:{place}" in lines
            assert f"SetCredential={credential}:\\n" in lines


def test_metrics_and_a_database_server_are_reached_by_network_and_people_play_in_slots(tmp_path):
    arguments = ["units", str(tmp_path), "--home", "/var/lib/arena", "--metrics-address", "127.0.0.1:9100"]
    assert run([*arguments, "--play-slots", "12"]) == 0
    web, work = (section((tmp_path / f"arena-{name}.service").read_text(), "Service") for name in ("web", "work"))
    assert web["ExecStart"].endswith("--only web --open-to authors --metrics-address 127.0.0.1:9100")
    assert (web["PrivateNetwork"], web["RestrictAddressFamilies"]) == ("no", "AF_UNIX AF_INET AF_INET6")
    assert work["ExecStart"].endswith(" --play-slots 12")
    assert work["PrivateNetwork"] == "yes"
    assert "PrivateNetwork=yes" in units(PLAIN)["arena-web.service"]
    with_a_server = section(units(replace(PLAIN, has_network=True))["arena-web.service"], "Service")
    assert (with_a_server["PrivateNetwork"], with_a_server["RestrictAddressFamilies"]) == (
        web["PrivateNetwork"], web["RestrictAddressFamilies"],
    )  # fmt: skip


@pytest.mark.parametrize("at_home", ["", "python", "package", "ladder"])
def test_homes_of_people_are_hidden_where_neither_the_arena_nor_a_ladder_is(monkeypatch, at_home):
    place = {name: "/home/a/x" if name == at_home else "/opt/x" for name in ("python", "package", "ladder")}
    monkeypatch.setattr(module.sys, "executable", place["python"])
    monkeypatch.setattr(module, "package_directory", lambda: Path(place["package"]))
    monkeypatch.setattr(module.sys, "base_prefix", "/usr")
    made = units(replace(PLAIN, ladders=("arena:open_ladder", f"{place['ladder']}.toml")))
    assert section(made["arena-work.service"], "Service")["ProtectHome"] == ("read-only" if at_home else "yes")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"home": Path("/a b")}, "--home '/a b': expected an absolute path"),
        ({"home": Path("/a%n")}, "--home '/a%n': expected an absolute path"),
        ({"home": Path("/a\nExecStartPre=/bin/x")}, "expected an absolute path"),
        ({"user": "a b"}, "--user 'a b': expected the name of a user"),
        ({"user": "x\nAmbientCapabilities=CAP_SYS_ADMIN"}, "expected the name of a user"),
        ({"options": ("--allowed-host", "a;b")}, "'a;b': expected letters"),
        ({"options": ("--allowed-host", "a\nUser=root")}, "expected letters"),
        ({"ladders": ("/a/$HOME.toml",)}, "--ladder '/a/$HOME.toml': expected an absolute path"),
    ],
)
def test_what_systemd_would_read_as_something_else_is_refused(change, sentence):
    with pytest.raises(UsageError, match=re.escape(sentence)):
        units(replace(PLAIN, **change))


@needs.program("systemd-analyze")
def test_systemd_understands_each_line_and_finds_little_that_the_site_could_harm(tmp_path):
    for name, text in units(replace(PLAIN, has_network=True)).items():
        (tmp_path / name).write_text(text)
    paths = sorted(map(str, tmp_path.iterdir()))
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", *paths], capture_output=True, text=True)
    about_us = [line for line in verified.stderr.splitlines() if "arena" in line]
    assert (verified.returncode, about_us) == (0, [])
    rate = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(tmp_path / "arena-web.service")]
    rated = subprocess.run(rate, capture_output=True, text=True, check=True)
    [exposure] = re.findall(r"Overall exposure level for arena-web.service: (\d+\.\d)", rated.stdout)
    assert float(exposure) <= 2.0  # as systemd rates the web service


def test_the_command_writes_them_and_says_how_to_start(tmp_path, capsys):
    place = tmp_path / "units"
    arguments = ["units", str(place), "--home", "/var/lib/arena", "--allowed-host", "a.example.org"]
    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert f"{len(list(place.iterdir()))} units are in {place}." in out
    assert "Copy them to /etc/systemd/system first. To start the arena" in out
    assert "systemctl enable --now arena.target arena-web.socket" in out
    assert "User=arena\n" in (place / "arena-work.service").read_text()
    assert "--allowed-host a.example.org" in (place / "arena-web.service").read_text()
    (place / "arena-checker.service").write_text("# Written by arena units. A part that runs bots: it checks\n")
    (place / "arena-own.service").write_text("[Service]\n")
    assert run(arguments) == 0  # again, over those that are there
    assert "  systemctl stop arena-checker.service\n  systemctl daemon-reload\n" in capsys.readouterr().out
    services = sorted(one.name for one in place.glob("*.service"))
    assert services == ["arena-own.service", "arena-web.service", "arena-work.service"]
    (tmp_path / "file").write_text("in the way")
    assert run(["units", str(tmp_path / "file"), "--home", "/var/lib/arena"]) == 2
    assert "file/arena.target: can't be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--host", "0.0.0.0"], "add --public"),
        (["--ladder", "missing.toml"], "--ladder 'missing.toml': there is no such file"),
        (["--ladder", "x" * 300], "x': there is no such file"),
        (["--ladder", "arena:missing"], "unknown tournament"),
        (["--trusted-proxy", "x"], "--trusted-proxy 'x'"),
        *(
            (["--allowed-host", name], f"--allowed-host {name!r}: expected a name or an address without https://")
            for name in ("https://arena.example.org", "arena.example.org:8000", "", "a b", "*.example.org", "[::1]")
        ),
        (["--port", "0"], "--port 0: the socket unit needs one that stays the same"),
        (["--user", "no one"], "--user 'no one'"),
        (["--metrics-address", "0.0.0.0:9100"], "metrics are for operators; add --public to allow it"),
        (["--metrics-address", "9100"], "--metrics-address '9100': expected HOST:PORT"),
        (["--metrics-address", "127.0.0.1:0"], "expected a port that is not 0"),
        (["--play-slots", "201"], "--play-slots"),
    ],
)
def test_the_command_refuses_in_a_sentence(tmp_path, capsys, arguments, sentence):
    assert run(["units", str(tmp_path / "u"), *arguments]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "u").exists()


GIB = 1024**3
GOOD = Machine(
    refusal="",
    containment="uploads are contained: at landlock+cgroup",
    missing_packages=(),
    cores=4,
    memory_bytes=16 * GIB,
    disk_free_bytes=100 * GIB,
    descriptors=65_536,
    is_root=False,
    home_problem="",
    home_mode=0o700,
    is_home_own=True,
    people_problem="",
    people_mode=0o600,
    operators=1,
    invited_operators=(),
    is_clock_kept=True,
    clock_behind_seconds=0.0,
    is_served=False,
    port_problem="",
    has_https=True,
)


def test_of_a_good_machine_nothing_is_said_to_be_mended():
    found = findings(GOOD)
    assert {finding.verdict for finding in found} == {Verdict.OK}
    assert len({finding.thing for finding in found}) == len(found) == 13


@pytest.mark.parametrize(
    ("change", "verdict", "thing", "part_of_sentence"),
    [
        ({"missing_packages": ("argon2",)}, "mend", "packages", "missing: argon2; try: pip install"),
        ({"is_root": True}, "note", "user", "this is root"),
        ({"refusal": "uploads can't be contained: no"}, "mend", "uploads", "they can't be contained: no."),
        ({"refusal": f"uploads can't be contained: {NO_CONTROL_GROUPS}"}, "mend", "uploads", "arena serve …"),
        ({"cores": 1}, "note", "cores", "one core"),
        ({"memory_bytes": None}, "note", "memory", "unknown"),
        ({"memory_bytes": GIB}, "mend", "memory", "one bot can take all of it"),
        ({"memory_bytes": 2 * GIB}, "note", "memory", "2.0 GiB"),
        ({"memory_bytes": 8 * GIB}, "ok", "memory", "8.0 GiB"),
        ({"disk_free_bytes": 511 * 1024**2}, "mend", "disk", "the site takes no uploads"),
        ({"disk_free_bytes": 512 * 1024**2}, "note", "disk", "check it often"),
        ({"descriptors": 1024}, "note", "files", "LimitNOFILE=65536"),
        ({"descriptors": -1}, "ok", "files", "any number of"),
        ({"home_problem": "a/b: newer"}, "mend", "home", "a/b: newer."),
        ({"home_mode": None}, "note", "home", "does not exist yet"),
        ({"is_home_own": False}, "mend", "home", "belongs to another user"),
        ({"home_mode": 0o770}, "mend", "home", "others can write in it (mode 0770)"),
        ({"home_mode": 0o755}, "note", "home", "look into it (mode 0755)"),
        ({"people_problem": "people: away"}, "mend", "people", "people: away."),
        ({"people_mode": 0o640}, "mend", "people", "others can read people.sqlite3 (mode 0640)"),
        ({"people_mode": None, "operators": None}, "mend", "operators", "arena site people add NAME --role operator"),
        ({"operators": 0}, "mend", "operators", "nobody can sign in who manages people"),
        ({"operators": 0, "invited_operators": ("ada",)}, "mend", "operators", "ada is invited but has not opened the"),
        ({"operators": 2}, "ok", "operators", "2 operators can sign in"),
        ({"is_clock_kept": False}, "note", "clock", "chrony"),
        ({"is_clock_kept": None}, "ok", "clock", "plausible"),
        ({"clock_behind_seconds": 61.0}, "mend", "clock", "set the clock"),
        ({"port_problem": "Address already in use"}, "mend", "address", "address already in use"),
        ({"port_problem": "Address already in use", "is_served": True}, "ok", "address", "runs now"),
        ({"has_https": False}, "note", "https", "a web server with a certificate"),
    ],
)
def test_each_thing_has_a_sentence(change, verdict, thing, part_of_sentence):
    found = findings(replace(GOOD, **change))
    [about] = [finding for finding in found if finding.thing == thing]
    assert about.verdict == verdict
    assert part_of_sentence in about.sentence
    assert about.sentence.endswith(".")
    assert [one.thing for one in must_be_mended(found)] == ([thing] if verdict == "mend" else [])


@pytest.fixture
def contained(monkeypatch):
    monkeypatch.setattr(checks, "can_contain_uploads", lambda: Containment(True, "uploads are contained: here", None))


def looked(home, port=0):
    return look_at(home, None, "127.0.0.1", port)


def test_a_home_that_is_not_there_is_not_made(tmp_path, contained):
    seen = looked(tmp_path / "home")
    assert (seen.home_mode, seen.operators, seen.home_problem, seen.people_problem) == (None, None, "", "")
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_this_user_cannot_enter_is_a_problem(tmp_path, contained):
    seen = looked(tmp_path / ("x" * 300))  # which no system lets anybody look into
    assert (seen.home_mode, seen.operators) == (None, None)
    assert seen.home_problem == seen.people_problem != ""


def test_a_home_is_looked_at(tmp_path, contained):
    with ArenaHome(tmp_path), open_people(tmp_path) as people:
        tmp_path.chmod(0o750)
        people.accounts.add("ada", Role.OPERATOR, "test")
        seen = looked(tmp_path)
        assert (seen.home_mode, seen.people_mode, seen.operators) == (0o750, 0o600, 0)  # she has no password yet
        assert seen.invited_operators == ("ada",)
        people.accounts.set_password(people.accounts.get("ada"), "a hash")
        assert looked(tmp_path).operators == 1
        people.accounts.add("bo", Role.OPERATOR, "test")
        people.accounts.set_password(people.accounts.get("bo"), "a hash")
        people.accounts.close("bo", "test", "left")
        assert looked(tmp_path).operators == 1
        assert not seen.is_served
        with locked_services(tmp_path, ["web"]):
            assert looked(tmp_path).is_served


def test_what_is_wrong_with_databases_the_port_and_the_clock_is_seen(tmp_path, contained):
    (tmp_path / "arena.sqlite3").write_text("no database" * 1000)
    (tmp_path / "people.sqlite3").write_text("no database" * 1000)
    os.utime(tmp_path / "arena.sqlite3", (4e9, 4e9))
    with socket.create_server(("127.0.0.1", 0)) as other:
        seen = looked(tmp_path, other.getsockname()[1])
    assert "arena.sqlite3" in seen.home_problem
    assert "people.sqlite3" in seen.people_problem
    assert (seen.port_problem, looked(tmp_path).port_problem) == ("Address already in use", "")
    assert seen.clock_behind_seconds > 1e9


def test_the_command_says_it_in_lines_of_a_narrow_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    arguments = ["--home", str(tmp_path / "h"), "doctor", "--serve", "--port", "0"]
    assert run(arguments) == 1  # nobody can sign in
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines()[1:])) <= 80
    assert "must be mended before strangers enter." in out.splitlines()[-1]
    assert run([*arguments, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {"verdict": "mend", "thing": "operators"}.items() <= found[9].items()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--serve", "--clock"], "--serve: can't be combined with --clock; expected one of them"),
        (["--port", "80"], "--port: expected only together with --serve"),
        (["--host", "::1"], "--host: expected only together with --serve"),
    ],
)
def test_what_does_not_belong_together_is_refused(capsys, arguments, sentence):
    assert run(["doctor", *arguments]) == 2
    assert capsys.readouterr().err == f"arena: {sentence}\n"
