import json
import os
import socket
from dataclasses import replace

import pytest

from arena.cli.group import run
from arena.community.submissions.upload_directory import Containment
from arena.server.operating import serve_checks as module
from arena.server.operating.serve_checks import Machine, Verdict, findings, look_at, must_be_mended
from arena.server.operating.service_programs import locked_services
from arena.store.home import ArenaHome, open_people
from arena.store.people.values import Role

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
        ({"refusal": "uploads can't be contained: no"}, "mend", "uploads", "for they can't be contained: no."),
        ({"cores": 1}, "note", "cores", "one core"),
        ({"memory_bytes": None}, "note", "memory", "unknown"),
        ({"memory_bytes": GIB}, "mend", "memory", "one bot can take all of it"),
        ({"memory_bytes": 2 * GIB}, "note", "memory", "2.0 GiB"),
        ({"memory_bytes": 8 * GIB}, "ok", "memory", "8.0 GiB"),
        ({"disk_free_bytes": 511 * 1024**2}, "mend", "disk", "nothing is taken any more"),
        ({"disk_free_bytes": 512 * 1024**2}, "note", "disk", "watch it"),
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
    monkeypatch.setattr(module, "can_contain_uploads", lambda: Containment(True, "uploads are contained: here", None))


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
        (["--port", "80"], "--port: is for --serve"),
        (["--host", "::1"], "--host: is for --serve"),
    ],
)
def test_what_does_not_belong_together_is_refused(capsys, arguments, sentence):
    assert run(["doctor", *arguments]) == 2
    assert capsys.readouterr().err == f"arena: {sentence}\n"
