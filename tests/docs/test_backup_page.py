"""The page about backups: systemd takes the units of the nightly one, which makes a backup and checks that one."""

import configparser
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests import needs

PAGE = (Path(__file__).parents[2] / "docs" / "backup.md").read_text(encoding="utf-8")
SERVICE, TIMER = re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL)


@needs.program("systemd-analyze")
def test_systemd_understands_each_line(tmp_path):
    for name, text in (("backup-arena.service", SERVICE), ("backup-arena.timer", TIMER)):
        (tmp_path / name).write_text(text)
        assert f"`/etc/systemd/system/{name}`" in PAGE
    paths = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *paths], capture_output=True, text=True)
    about_us = [line for line in done.stderr.splitlines() if "arena" in line]
    assert (done.returncode, about_us) == (0, [])


def command_of(service, directory):
    """Return the command of a service as systemd reads it, with other directories."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(service)
    text = parser["Service"]["ExecStart"].replace("$$", "$").replace("%%", "%")
    return shlex.split(text.replace("/backups", str(directory)))


@pytest.mark.parametrize("code", [0, 1])
def test_it_checks_the_backup_that_it_has_made(tmp_path, code):
    said = tmp_path / "said"
    program = tmp_path / "arena"
    program.write_text(f"#!/bin/sh\necho $@ >> {said}\nexit {code}\n")
    program.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert subprocess.run(command_of(SERVICE, tmp_path), env=environment).returncode == code
    made, *checked = said.read_text().splitlines()
    [(home, place)] = re.findall(rf"--home (\S+) backup make ({tmp_path}/\d{{4}}-\d\d-\d\dT\d{{4}})", made)
    assert home == "/var/lib/arena"
    assert checked == ([f"backup verify {place}"] if code == 0 else [])
