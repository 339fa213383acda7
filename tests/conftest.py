"""Which tests run, the last lines of a run, and fixtures that several directories use."""

import contextlib
import gc
import importlib
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests.held_port import held_port

with contextlib.suppress(ImportError):
    from hypothesis import settings

    settings.register_profile("arena", deadline=None)  # a machine that others use takes its time
    settings.load_profile("arena")

ROOT = Path(__file__).parents[1]
BOTS, DATA = ROOT / "bots", ROOT / "tests" / "data"
STORED = DATA / "stored"

# a run starts hundreds of processes, which compile the arena again and again where none may keep the bytecode
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser):
    parser.addoption("--costs", action="store_true", help="measure every test; fail where `slow` is missing or wrong")


def pytest_configure(config):
    if config.getoption("costs"):
        from tests.costs import Costs

        config.pluginmanager.register(Costs(config))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Run everything on all cores where pytest-xdist is installed; a few tests pass before its workers have started."""
    option = config.option
    if "PYTEST_XDIST_WORKER" in os.environ:  # a worker of such a run, or a test that runs pytest
        return
    is_everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_everything and getattr(option, "numprocesses", 0) is None and not (option.usepdb or option.collectonly):
        option.numprocesses = len(os.sched_getaffinity(0)) + 1  # a test waits for bots, servers and disks
        option.dist = "loadfile"  # tests of a file may use what earlier ones made
        option.loadscopereorder = False  # the order of pytest_collection_modifyitems


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Collect without the garbage collector, which would search thousands of modules again and again for nothing."""
    gc.disable()
    try:
        import_share(session.config.args)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def import_share(arguments):
    """Import in each worker other tests first: where no bytecode is kept, each compiles a share for all of them."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1:
        return
    files = sorted(path for argument in arguments for path in Path(argument).rglob("test_*.py"))
    for path in files[int(worker) :: workers]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # which the collection meets again, and reports
            importlib.import_module(".".join(path.resolve().relative_to(ROOT).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector, name):
    """Let the marker ``slow`` name cases: ``only`` the slow ones, ``sample`` those of README.md's command."""
    made = yield
    if isinstance(made, list):  # the cases of a function
        name_cases(f"{collector.nodeid}::{name}", made)
    return made


def name_cases(function, items):
    """Give each case of a function the marker ``slow`` that is meant for it; refuse names of cases that it has not."""
    cases = [item.callspec.id if hasattr(item, "callspec") else "" for item in items]
    for mark in {id(mark): mark for item in items for mark in item.own_markers if mark.name == "slow"}.values():
        named = [case for key in ("only", "sample") for case in _named(mark.kwargs.get(key))]
        if unknown := sorted(set(named) - set(cases)):
            raise pytest.UsageError(f"{function} is marked slow for {unknown}; its cases are {sorted(cases)}")
    for item, case in zip(items, cases, strict=True):
        marks = [_slow_mark_of(mark, case) if mark.name == "slow" else mark for mark in item.own_markers]
        item.own_markers[:] = [mark for mark in marks if mark is not None]


def _named(cases):
    return () if cases is None or isinstance(cases, bool) else cases


def _slow_mark_of(mark, case):
    only, sample = mark.kwargs.get("only"), mark.kwargs.get("sample", False)
    if only is not None and case not in only:
        return None
    return pytest.mark.slow(sample=sample if isinstance(sample, bool) else case in sample).mark


@pytest.hookimpl(trylast=True)  # when -m and -k have made their choice
def pytest_collection_modifyitems(items):
    """Begin with the files that have the most slow tests, so that none of them is the last one running."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


class Summary:
    """Prints the first failure at once, and at the end the seconds of each room and the reasons of what was skipped."""

    def __init__(self, reporter):
        self._reporter = reporter
        self._has_failed = False
        self._seconds = Counter()

    def pytest_runtest_logreport(self, report):
        self._seconds[room_of(report.nodeid)] += report.duration
        if report.failed and not self._has_failed:
            self._has_failed = True
            self._reporter.ensure_newline()
            self._reporter.write_line(f"first failure: {report.nodeid}\n{report.longreprtext}")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self):
        result = yield
        rooms = [f"{room} {seconds:.0f}" for room, seconds in self._seconds.most_common() if seconds >= 0.5]
        if len(rooms) > 1:
            self._reporter.write_line(f"seconds by room: {', '.join(rooms)}")
        if skipped := self._reporter.stats.get("skipped"):
            reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
            listed = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common())
            self._reporter.write_line(f"{len(skipped)} skipped: {listed}")
        return result


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    if reporter := session.config.pluginmanager.get_plugin("terminalreporter"):
        session.config.pluginmanager.register(Summary(reporter))


def room_of(nodeid):
    parts = nodeid.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else "top"


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    """Tables are as wide as they want unless a test says otherwise; pytest-xdist sets COLUMNS for its workers."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def open_path():
    """A directory for bots of another uid; pytest closes those of all runs when the next one begins beside them."""
    with tempfile.TemporaryDirectory(prefix="open-to-bots-", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@pytest.fixture
def level(request):
    """An isolation level that this machine offers; for indirect parameters."""
    from tests import needs

    needs.isolation(request.param)
    return request.param


@pytest.fixture(scope="session")
def postgres():
    from tests.postgres import Server, programs

    if programs() is None:
        pytest.skip("needs PostgreSQL")
    pytest.importorskip("psycopg", reason="needs psycopg")
    server = Server()
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres):
    return postgres.new_database()


@pytest.fixture
def port():
    with held_port() as number:
        yield number


@pytest.fixture(scope="module")
def shared_kernels(tmp_path_factory):
    """Let tests use kernels that are built once for all of them, by whichever worker needs one first."""
    from arena.games.kernels import loading

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared / "kernel-cache"))
        patch.delenv("CC", raising=False)
        loading.load.cache_clear()
        yield
    loading.load.cache_clear()


@pytest.fixture
def write_definition(tmp_path):
    def write(text="", file_name="t", bots=("minimal", "random_legal"), **keys):
        lines = [f"{key} = {value}" for key, value in {"game": '"differences"', **keys}.items() if value is not None]
        lines += [f'[[entrants]]\nbot = "{BOTS / bot}"' for bot in bots]
        path = tmp_path / f"{file_name}.toml"
        path.write_text("\n".join([*lines, text]))
        return path

    return write


def opened_home(directory):
    from arena.store.home import ArenaHome

    with ArenaHome(directory) as opened:
        yield opened


@pytest.fixture
def home(tmp_path):
    yield from opened_home(tmp_path / "home")


@pytest.fixture
def here(tmp_path):
    yield from opened_home(tmp_path / "here")


@pytest.fixture
def there(tmp_path):
    yield from opened_home(tmp_path / "there")


@pytest.fixture
def store(home):
    return home.store
