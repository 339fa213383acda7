import configparser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path

import pytest

from arena.cli.group import run
from arena.community.submissions.upload_directory import NO_CHECKER, noted_refusal
from tests.waiting import wait_until

PLACE = Path("/run/systemd/system")
USER = "daemon"
"""Debian and its relatives have it, and a group of this name."""
PORT = 18471
SERVICES_AND_SOCKET = ["arena-web.socket", "arena-web.service", "arena-work.service"]

pytestmark = [
    pytest.mark.skipif(not PLACE.is_dir(), reason="needs systemd as the first process"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(not os.environ.get("CI"), reason="needs a machine of CI: it starts units on it"),
    pytest.mark.skipif(Path("/etc/systemd/system/arena.target").exists(), reason="needs a machine without an arena"),
]


def systemctl(*arguments):
    done = subprocess.run(["systemctl", *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr + journal()
    return done.stdout


def journal():
    return subprocess.run(["journalctl", "-u", "arena-*", "-n", "60"], capture_output=True, text=True).stdout


def active():
    listed = systemctl("list-units", "--state=active", "--plain", "--no-legend", *SERVICES_AND_SOCKET)
    return {line.split()[0] for line in listed.splitlines()}


def main_process(unit):
    return int(systemctl("show", "--property=MainPID", "--value", unit))


def get(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}", timeout=120) as response:
        return response.status, json.loads(response.read())


@pytest.fixture
def units():
    if subprocess.run([sys.executable, "-P", "-c", "import arena"], user=USER, group=USER, cwd="/").returncode:
        pytest.skip(f"needs an installation that the user {USER} can read")
    home = Path(tempfile.mkdtemp(prefix="arena-units-", dir="/var/lib"))
    shutil.chown(home, USER, USER)
    assert run(["units", str(PLACE), "--home", str(home), "--user", USER, "--port", str(PORT)]) == 0
    target = configparser.ConfigParser(interpolation=None)
    target.read(PLACE / "arena.target")
    names = target["Unit"]["Wants"].split()
    try:
        systemctl("daemon-reload")
        systemctl("start", "arena.target", "arena-web.socket")
        yield [name for name in names if name.endswith(".service")], home
    finally:
        systemctl("stop", "arena.target", "arena-*")
        for name in [*names, "arena.target", "arena.slice"]:
            (PLACE / name).unlink()
        systemctl("daemon-reload")
        shutil.rmtree(home)


def test_they_start_confine_bots_are_replaced_without_a_failed_request_and_end(units):
    services, home = units
    assert active() == {"arena-web.socket", *services}
    assert get("/health.json")[0] == 200

    wait_until(lambda: noted_refusal(home) != NO_CHECKER, explained=journal)
    has_one_hierarchy = Path("/sys/fs/cgroup/cgroup.controllers").exists()
    assert (noted_refusal(home) == "") is has_one_hierarchy, noted_refusal(home)

    before = {name: main_process(name) for name in services}
    failed, is_over = [], threading.Event()

    def ask():
        while not is_over.is_set():
            try:
                get("/health.json")
            except OSError as error:
                failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    systemctl("restart", *services)
    is_over.set()
    asking.join()
    assert failed == []
    after = {name: main_process(name) for name in services}
    assert all(before[name] != after[name] for name in services)

    os.kill(after["arena-web.service"], 9)
    wait_until(lambda: main_process("arena-web.service") not in (0, after["arena-web.service"]), explained=journal)
    assert get("/health.json")[0] == 200

    systemctl("stop", "arena.target", "arena-*")
    assert active() == set()
    groups = subprocess.run(["systemd-cgls", "--unit", "arena.slice"], capture_output=True, text=True).stdout
    assert "arena serve" not in groups
