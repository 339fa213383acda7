import email
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from arena.base.enums import IsolationLevel
from arena.base.errors import UsageError
from arena.base.shipped import documents
from arena.sandbox.isolation.levels import choose_isolation
from tests.docs.reader import ROOT, Reader, build, copy_dependencies, install

SHIPPED = ("bots", "tournaments", "protocol.md", "README.md", "SECURITY.md")


def shipped_files():
    """The files a wheel takes from beside the package, by the names they have in the checkout."""
    for name in SHIPPED:
        for path in [ROOT / name, *(ROOT / name).rglob("*")]:
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix()
    yield from documents()


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    environment = tmp_path_factory.mktemp("installed") / "venv"
    install(wheel, environment)
    return Reader(environment, tmp_path_factory.mktemp("home"))


def test_the_wheel_has_the_package_and_what_it_ships_and_the_image_is_built_from_all_that_it_takes(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for name in shipped_files():
            assert archive.read(f"arena/shipped_files/{name}") == (ROOT / name).read_bytes()
    for path in (ROOT / "arena").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT).as_posix() in names
    assert not [name for name in names if name.startswith(("tests/", "bots/", "docs/", "benchmarks/"))]
    lines = (ROOT / ".containerignore").read_text().splitlines()
    listed = {line[1:] for line in lines if line.startswith("!")}
    taken = {name.split("/")[2] for name in names if name.split("/")[1] == "shipped_files"}
    assert {"arena", "LICENSE", "pyproject.toml", "hatch_build.py", *taken} <= listed
    assert all((ROOT / name).exists() for name in listed)


def test_the_metadata_says_whose_it_is_and_under_which_license(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (place,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        about = email.message_from_bytes(archive.read(place))
        (license_file,) = (name for name in archive.namelist() if name.endswith("/LICENSE"))
        assert archive.read(license_file) == (ROOT / "LICENSE").read_bytes()
    assert about["License-Expression"] == "MIT"
    assert about["Author"] == "the Grid arena authors"
    assert "Operating System :: POSIX :: Linux" in about.get_all("Classifier")
    assert about["Keywords"]
    readme = about.get_payload(decode=True).decode()
    assert "# Grid arena" in readme
    assert all(link.startswith("https://") for link in re.findall(r"\]\(([^)]+)\)", readme)), "an index has no files"


def test_an_editable_installation_makes_arena_importable_alone_and_starts_like_a_bare_python(tmp_path):
    pytest.importorskip("hatchling", reason="needs hatchling")
    with zipfile.ZipFile(build(tmp_path, "wheel:editable")) as archive:
        archive.extractall(tmp_path / "site")
    lines = [line for path in (tmp_path / "site").glob("*.pth") for line in path.read_text().splitlines()]
    assert not [line for line in lines if not line.startswith("import ") and Path(line).exists()]
    code = "import importlib.util, site, sys\nbefore = {*sys.modules}\nsite.addsitedir(sys.argv[1])\n"
    code += "print(*({*sys.modules} - before), *{*sys.path} & {sys.argv[2]})\nimport arena.base.errors\n"
    code += "print(arena.__file__, *(importlib.util.find_spec(name) for name in ('tests', 'bots', 'benchmarks')))"
    command = [sys.executable, "-I", "-S", "-c", code, str(tmp_path / "site"), str(ROOT)]
    started, found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert started == "_editable_impl_grid_arena"
    assert found == f"{ROOT / 'arena' / '__init__.py'} None None None"


@pytest.mark.soak
def test_what_is_installed_is_the_wheel_whose_help_begins_with_what_works(installed, tmp_path):
    done = installed.paste('python3 -c "import arena; print(arena.__file__)"', tmp_path)
    assert Path(done.stdout.strip()).is_relative_to(installed.environment)
    shown = installed.paste("arena --help", tmp_path).stdout
    (command,) = re.findall(r"Start with: (.*)\.", shown)
    done = installed.paste(f"COLUMNS=80 {command}", tmp_path)
    assert done.returncode == 0
    assert "300 of 300 matches." in done.stdout
    shown = done.stdout.partition("What next:")[2]
    steps = re.findall(r"^  (arena (?:bot )?\S+)", shown, re.MULTILINE)
    assert {"arena new", "arena bot protocol"} <= set(steps)
    assert max(map(len, shown.splitlines())) <= 80
    for step in re.findall(r"^  (arena .*?)  ", shown, re.MULTILINE):
        done = installed.paste(f"echo quit | {step}", tmp_path)
        assert done.returncode == 0, f"{step}: {done.stdout}"
    assert installed.paste("arena bot protocol", tmp_path).stdout.strip() == (ROOT / "protocol.md").read_text().strip()


def skip_without(level):
    try:
        choose_isolation(level)
    except UsageError as error:
        pytest.skip(str(error))


@pytest.mark.soak
@pytest.mark.parametrize("level", IsolationLevel)
def test_example_bots_play_at_every_level(installed, tmp_path, level):
    skip_without(level)
    entrants = ("minimal", "random_legal", "greedy", "stepper")
    tables = "".join(f'[[entrants]]\nbot = "arena:{bot}"\n' for bot in entrants)
    (tmp_path / "t.toml").write_text(f'game = "differences"\noptions = {{ size = 4 }}\nisolation = "{level}"\n{tables}')
    done = installed.paste("arena run t.toml -q && arena tournament export t", tmp_path)
    assert done.returncode == 0, done.stdout
    assert "12 of 12 matches." in done.stdout
    assert done.stdout.count('"faults": []') == 12, done.stdout


@pytest.fixture(scope="module")
def for_one_user(wheel, tmp_path_factory):
    """A reader who has installed the wheel below HOME, as ``pip install --user`` does."""
    home = tmp_path_factory.mktemp("user")
    environment = home / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", environment], check=True)
    user = Reader(environment, home)
    place = user.paste('python3 -c "import site; print(site.getusersitepackages())"', home).stdout.strip()
    assert Path(place).is_relative_to(home)
    copy_dependencies(Path(place))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return user


@pytest.mark.soak
@pytest.mark.parametrize("level", IsolationLevel)
def test_example_bots_play_where_the_package_is_below_a_home(for_one_user, tmp_path, level):
    """A bot's HOME is another one, so Python would not look there."""
    skip_without(level)
    command = f"python3 -m arena play differences arena:greedy arena:minimal -q -o size=4 --isolation {level}"
    assert "(normal)" in for_one_user.paste(command, tmp_path).stdout


@pytest.mark.soak
def test_a_tournament_begun_in_the_checkout_is_finished_and_verified_by_the_wheel(installed, tmp_path):
    """The same bots by another name in another place: no new version, no second match."""
    text = 'game = "differences"\noptions = {{ size = 4 }}\nencounters = 4\n'
    text += '[[entrants]]\nbot = "{0}greedy"\n[[entrants]]\nbot = "{0}random_legal"\n'
    file = tmp_path / "t.toml"
    file.write_text(text.format(f"{ROOT}/bots/"))
    checkout = Reader(Path(sys.prefix), installed.home)
    first = checkout.paste("arena run t.toml -q && arena tournament export t", tmp_path)
    file.write_text(text.format("arena:"))
    again = installed.paste("arena run t.toml -q && arena tournament export t", tmp_path)
    assert first.returncode == 0
    assert again.stdout == first.stdout
    assert "all records hold" in installed.paste("arena tournament verify t", tmp_path).stdout


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    pytest.importorskip("hatchling", reason="needs hatchling")
    directory = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build(directory, "sdist")) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and newer
        archive.extractall(directory)
    (top,) = (path for path in directory.iterdir() if path.is_dir())
    return top


@pytest.mark.slow(sample=True)
@pytest.mark.skipif(not (ROOT / ".git").exists() or shutil.which("git") is None, reason="needs git")
def test_the_sdist_has_every_file_there_is(unpacked):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    present = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert {name for name in listed.splitlines() if (ROOT / name).exists()} <= present


@pytest.mark.soak
def test_tests_of_the_sdist_pass(unpacked):
    """A quick part of them, for all of them are these."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/base/test_shipped.py", "tests/games"]
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
