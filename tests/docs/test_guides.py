import configparser
import csv
import io
import re
import shlex
import shutil
import subprocess
from importlib.util import find_spec

import pytest

from arena.server.operating import health_check
from arena.server.operating.service_programs import SERVICES, units
from arena.tournament.definition import load_definition
from arena.tournament.formats.format import FORMATS, format_class
from arena.tournament.opening_information import with_openings
from arena.tournament.schedule import schedule
from arena.tournament.tournament_file import TournamentFile
from tests import needs
from tests.conftest import ROOT
from tests.docs.reader import FENCE
from tests.server.operating.test_units import PLAIN

GUIDE = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")


def block(beginning):
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
    assert (done.returncode, [line for line in done.stderr.splitlines() if "arena" in line]) == (0, [])


def command_of(service, directory):
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


DOCS = ROOT / "docs"
GUIDES = ("first_bot", "time", "debugging", "isolation", "packaging", "dependencies", "learning", "add_a_game")
OTHERS = ("cannot_be_a_game", "publish")
LONG = ("time", "packaging", "dependencies", "learning", "add_a_game")
LONG_LAB = re.compile(r"--within 60s|lab quality|kernels --")
"""Commands of a minute and more."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [*(pytest.param(name, marks=pytest.mark.soak) if name in LONG else name for name in GUIDES), *OTHERS],
)
def test_a_guide_does_what_it_says(name, reader, tmp_path):
    if name == "learning" and not (find_spec("pettingzoo") and find_spec("pyspiel")):
        pytest.skip("needs pettingzoo and pyspiel")
    program = {"packaging": "cc", "add_a_game": "cc", "publish": "openssl"}.get(name)
    if program and shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    assert reader.follow((DOCS / f"{name}.md").read_text(), tmp_path) > 0


@pytest.mark.slow
@needs.program("cc")
@pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_the_commands_of_the_lab_can_be_pasted(reader, tmp_path, is_long):
    blocks = [body for language, _, body in FENCE.findall((DOCS / "lab.md").read_text()) if language == "sh"]
    assert len(blocks) > 7
    for block in blocks:
        lines = block.splitlines()
        chosen = [line for line in lines if line.startswith("arena run") or is_long == bool(LONG_LAB.search(line))]
        done = reader.paste("\n".join(chosen), tmp_path)
        assert done.returncode == 0, f"{block}\n{done.stdout}"


def test_the_game_in_the_guide_is_the_example_and_every_guide_is_reached_from_the_first_one_and_the_readme():
    whole = (DOCS / "examples" / "domineering.py").read_text()
    assert f"```python domineering.py\n{whole}```" in (DOCS / "add_a_game.md").read_text()
    first = (DOCS / "first_bot.md").read_text()
    assert all(f"({name}.md)" in first for name in GUIDES if name != "first_bot")
    assert "docs/first_bot.md" in (ROOT / "README.md").read_text()


def test_no_page_counts_on_standing_in_the_checkout():
    """Apart from README's three commands and the one that ends with ``activate``, which are for the checkout."""
    for page in [*DOCS.glob("*.md"), ROOT / "README.md"]:
        of_the_checkout = 4 if page.name == "README.md" else 0
        shell_blocks = [body for language, _, body in FENCE.findall(page.read_text()) if language == "sh"]
        others = [body for language, _, body in FENCE.findall(page.read_text()) if language in ("python", "toml")]
        for block in [*shell_blocks[of_the_checkout:], *others]:
            without_addresses = re.sub(r"https?://\S+", "", block)
            found = re.search(r"\bbots/|\btournaments/|\.venv|\.\./|-m arena", without_addresses)
            assert not found, f"{page.name}: {block}"


FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(?:#[^)\s]*)?\)")
ELSEWHERE = {".venv", "build", "tests"}
PAGES = sorted(path for path in ROOT.glob("**/*.md") if not ELSEWHERE & {*path.relative_to(ROOT).parts})


@pytest.mark.parametrize("page", [*PAGES, DOCS / "researcher.ipynb"], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_links_to_files(page):
    """The site of the docs follows these links, too."""
    targets = LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    assert [target for target in targets if not (page.parent / target).is_file()] == []


TOURNAMENTS = (ROOT / "docs" / "tournaments.md").read_text(encoding="utf-8")
FILES = re.findall(r"```toml\n(.*?)```", TOURNAMENTS, re.DOTALL)
MOVING = (ROOT / "docs" / "moving.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", TOURNAMENTS + MOVING, re.DOTALL) for line in block.splitlines()
]


@pytest.mark.slow
def test_every_file_on_the_page_has_a_schedule(tmp_path):
    for number, text in enumerate(FILES):
        path = tmp_path / f"page{number}.toml"
        path.write_text(text)
        loaded = load_definition(path)
        assert next(iter(schedule(with_openings(loaded, format_class(loaded))))).match == 1


IN_ONE_PROCESS = f"""
import contextlib, io, shlex, subprocess
from arena.cli.group import run

def call(command):
    if "|" in command:
        return subprocess.run(command, shell=True, check=True, capture_output=True).stdout
    with contextlib.redirect_stdout(io.StringIO()) as output:
        code = run(shlex.split(command)[1:])
    assert code == 0, (command, code)
    return output.getvalue()

if __name__ == "__main__":
    for command in {COMMANDS!r}:
        assert call(command), command
"""


@pytest.mark.slow
def test_every_command_and_program_on_the_page_runs_in_order(reader, tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", TOURNAMENTS, re.DOTALL)
    for name, text in (("commands.py", IN_ONE_PROCESS), ("season.py", program)):
        (tmp_path / name).write_text(text)
        done = reader.paste(f"python3 {name}", tmp_path)
        assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("300 records\n")


def test_every_format_and_setting_is_on_the_page():
    table = TOURNAMENTS[TOURNAMENTS.index("| format |") : TOURNAMENTS.index("The unit of everything")]
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (.*) \|$", table, re.MULTILINE))
    assert rows.keys() == FORMATS.keys()
    for name, settings in rows.items():
        kind = TournamentFile.model_fields[name.replace("-", "_")].annotation.__args__[0]
        assert set(re.findall(r"`(\w+)`", settings)) == set(kind.model_fields)
    assert {found for text in FILES for found in re.findall('format = "(.*)"', text)} == set(FORMATS)


@pytest.mark.slow
def test_a_teacher_gets_from_submissions_to_grades(reader, tmp_path):
    assert reader.follow((ROOT / "docs" / "class_contest.md").read_text(encoding="utf-8"), tmp_path) > 20
    grades = csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text(encoding="utf-8")))
    points = {row["student"].split()[0]: float(row["points"]) for row in grades}
    assert points == {"Ada": 10, "Ben": 5, "Cleo": 0, "Dan": 10, "Eva": 5, "Fay": 5, "Gus": 0, "Hal": 0}
    for page in ("contest.html", "table.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert "ada" in text and "cleo" not in text
