"""The two halves of the tests, the line of skips, and fixtures that several directories use.

The fast half starts no child process; the tests of the other half carry the marker ``processes``. The fast half runs
first, and a test in it that starts a process fails.
"""

import os
import sys
from collections import Counter
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from arena.home import ArenaHome
from tests import needs
from tests.held_port import held_port
from tests.postgres import Server, programs

BOTS = Path(__file__).parents[1] / "bots"
STARTS_A_PROCESS = {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.spawn"}
STARTS_A_PROCESS |= {"os.system", "multiprocessing"}

_may_start_processes = True


def refuse_process(event, arguments=()):
    """Fail the test that is running if it may not start processes.

    Matplotlib asks fc-list for the fonts once for each user, in whichever test imports it first.
    """
    if event in STARTS_A_PROCESS and not _may_start_processes and arguments[:1] != ("fc-list",):
        pytest.fail(f"only tests with the marker 'processes' may start one ({event})")


def pytest_configure(config):
    start = BaseProcess.start

    def checked_start(process):  # which no audit event announces
        refuse_process("multiprocessing")
        start(process)

    BaseProcess.start = checked_start
    sys.addaudithook(refuse_process)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Run everything on all cores where pytest-xdist is installed; a few tests pass before its workers have started."""
    option = config.option
    if "PYTEST_XDIST_WORKER" in os.environ:  # a worker of such a run, or a test that runs pytest
        return
    is_everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_everything and getattr(option, "numprocesses", 0) is None and not (option.usepdb or option.collectonly):
        option.numprocesses = len(os.sched_getaffinity(0))
        option.dist = "loadfile"  # tests of a file may use what earlier ones made
        option.loadscopereorder = False  # the fast half first


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    global _may_start_processes
    _may_start_processes = False
    try:
        return (yield)
    finally:
        _may_start_processes = True


@pytest.hookimpl(trylast=True)  # when -m and -k have made their choice
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("processes") is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    global _may_start_processes
    _may_start_processes = item.get_closest_marker("processes") is not None
    try:
        return (yield)
    finally:
        _may_start_processes = True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    """Print as the last line what was skipped for which reason."""
    result = yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and (skipped := reporter.stats.get("skipped")):
        reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
        listed = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        reporter.write_line(f"{len(skipped)} skipped: {listed}")
    return result


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    """Tables are as wide as they want unless a test says otherwise; pytest-xdist sets COLUMNS for its workers."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def level(request):
    """An isolation level that this machine offers; for indirect parameters."""
    needs.isolation(request.param)
    return request.param


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of our own."""
    if programs() is None:
        pytest.skip("needs PostgreSQL")
    pytest.importorskip("psycopg", reason="needs psycopg")
    server = Server()
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres):
    """The URL of an empty database."""
    return postgres.new_database()


@pytest.fixture
def port():
    """A port for a server, which no other program gets meanwhile."""
    with held_port() as number:
        yield number


@pytest.fixture
def write_definition(tmp_path):
    """Return a function that writes a tournament file and returns its path."""

    def write(text="", file_name="t", bots=("minimal", "random_legal"), **keys):
        lines = [f"{key} = {value}" for key, value in {"game": '"differences"', **keys}.items() if value is not None]
        lines += [f'[[entrants]]\nbot = "{BOTS / bot}"' for bot in bots]
        path = tmp_path / f"{file_name}.toml"
        path.write_text("\n".join([*lines, text]))
        return path

    return write


@pytest.fixture
def here(tmp_path):
    """The home that takes what was played in another one."""
    with ArenaHome(tmp_path / "here") as home:
        yield home


@pytest.fixture
def there(tmp_path):
    """The other home."""
    with ArenaHome(tmp_path / "there") as home:
        yield home
