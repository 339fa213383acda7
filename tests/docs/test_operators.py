import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from arena.server.operating import health_check
from arena.server.operating.service_programs import SERVICES, units
from tests import needs
from tests.server.operating.test_units import PLAIN

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")


def block(beginning):
    """Return the code block of the guide that begins with a text."""
    [text] = [text for text in re.findall(r"```\w*\n(.*?)```", GUIDE, re.DOTALL) if text.startswith(beginning)]
    return text


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_names_each_part_and_what_it_does():
    for service in SERVICES:
        assert re.search(rf"^\| `{service.name}` \| {service.summary}\b.* \|$", GUIDE, re.MULTILINE)


@needs.program("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
@needs.program("openssl")
def test_nginx_takes_its_example(tmp_path, port):
    key, certificate = tmp_path / "privkey.pem", tmp_path / "fullchain.pem"
    subject = ["-subj", "/CN=arena.example.org", "-days", "2", "-nodes"]
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", *subject, "-keyout", str(key), "-out", str(certificate))
    server = block("server {").replace("/etc/letsencrypt/live/arena.example.org", str(tmp_path))
    assert "listen 443 " in server
    server = server.replace("listen 443 ", f"listen 127.0.0.1:{port} ")  # it binds ports, and 443 is root's
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"pid {tmp_path}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{server}}}\n")
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    run(nginx, "-t", "-p", str(tmp_path), "-c", str(whole))


@needs.program("caddy")
def test_caddy_takes_its_example(tmp_path):
    (tmp_path / "Caddyfile").write_text(block("arena.example.org {"))
    home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin:/usr/local/bin"}
    run("caddy", "validate", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile"), env=home)


@needs.program("hadolint")
def test_the_container_file_is_in_order():
    run("hadolint", str(ROOT / "Containerfile"))


def test_a_command_at_a_prompt_runs_as_the_user_of_the_units_with_their_variables(tmp_path):
    script = block("sudo tee /usr/local/sbin/arena").partition("'END'\n")[2].partition("END\n")[0]
    (tmp_path / "arena").write_text(script)
    (tmp_path / "systemd-run").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    for path in tmp_path.iterdir():
        path.chmod(0o755)
    command = [str(tmp_path / "arena"), "people", "add", "a b"]
    lines = run(*command, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, cwd=tmp_path).splitlines()
    at = lines.index("/opt/arena/bin/arena")
    assert lines[at:] == ["/opt/arena/bin/arena", "--home", "/var/lib/arena", "people", "add", "a b"]
    service = units(PLAIN)["arena-work.service"]
    for line in ("EnvironmentFile=-/etc/arena/environment", "Delegate=yes", "UMask=0077"):
        assert line in lines[:at]
        assert f"\n{line}\n" in service
    assert lines[lines.index("--uid") + 1] == "arena"
    assert f"WorkingDirectory=-{tmp_path}" in lines


def test_the_container_runs_one_process_of_an_ordinary_user_and_says_how_it_is():
    instructions = dict(re.findall(r"^([A-Z]+) (.*)$", CONTAINERFILE, re.MULTILINE))  # the last of each
    assert instructions["USER"] == "10001:10001"
    assert instructions["ENTRYPOINT"] == '["arena"]'
    assert '"serve", "--open-to", "authors"' in instructions["CMD"]
    assert instructions["VOLUME"] == '["/var/lib/arena"]'
    assert f'"{health_check.__name__}"' in CONTAINERFILE.partition("HEALTHCHECK")[2].partition("ENTRYPOINT")[0]


PAGE = (ROOT / "docs" / "backup.md").read_text(encoding="utf-8")
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
    lines = tmp_path / "said"
    program = tmp_path / "arena"
    program.write_text(f"#!/bin/sh\necho $@ >> {lines}\nexit {code}\n")
    program.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert subprocess.run(command_of(SERVICE, tmp_path), env=environment).returncode == code
    made, *checked = lines.read_text().splitlines()
    [(home, place)] = re.findall(rf"--home (\S+) home backup make ({tmp_path}/\d{{4}}-\d\d-\d\dT\d{{4}})", made)
    assert home == "/var/lib/arena"
    assert checked == ([f"home backup verify {place}"] if code == 0 else [])
