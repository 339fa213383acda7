"""Measures the CPU seconds of every test, and checks the marker ``slow`` against them.

A test costs what its process and all below it use: those that have ended, and those that still run. What a fixture of a
module or a session costs is divided among the tests that use it.
"""

import os
import time
from collections import Counter
from contextlib import suppress

import pytest
from _pytest.runner import runtestprotocol

from arena.sandbox.isolation.procfs import read
from arena.sandbox.isolation.reaper import descendants

SLOW_SECONDS = 0.5
"""What costs more is slow."""

FAST_SECONDS = 0.2
"""What costs less is not. Between the two a test may be either, or the answer would depend on the machine."""

MUCH = 4.0
"""A marker is wrong beyond doubt where a test costs this many times as much, however slow and busy the machine is."""

WRONG_MARKER = 20
"""The exit code where nothing but a marker is wrong; pytest's own codes are lower, and 1 has ``.ci/run`` try again."""

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Costs:
    """The plugin behind ``--costs``: measures in each worker, checks where the run ends."""

    def __init__(self, config):
        self._config = config
        self._fixture_seconds = Counter()
        self._rows = []
        self._skipped = set()
        self._nested = [0.0]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        if fixturedef.scope == "function":
            return (yield)
        begin = used_seconds()
        self._nested.append(0.0)
        try:
            return (yield)
        finally:
            seconds = used_seconds() - begin
            self._fixture_seconds[_name(fixturedef)] += seconds - self._nested.pop()
            self._nested[-1] += seconds

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        begin = self._begin()
        result = yield
        seconds = self._seconds_since(begin)
        is_slow = item.get_closest_marker("slow") is not None
        if seconds > SLOW_SECONDS and not is_slow:  # again, when what it was the first to import is there
            item._initrequest()
            begin = self._begin()
            runtestprotocol(item, nextitem=nextitem, log=False)
            seconds = min(seconds, self._seconds_since(begin))
        if item.get_closest_marker("soak") is None and item.nodeid not in self._skipped:
            shared = [_name(definitions[-1]) for definitions in _shared_fixtures(item)]
            self._rows.append((item.nodeid, is_slow, seconds, shared))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if report.skipped:
            self._skipped.add(item.nodeid)
        return report

    def _begin(self):
        self._nested = [0.0]
        return used_seconds()

    def _seconds_since(self, begin):
        return used_seconds() - begin - self._nested[0]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        output = getattr(node, "workeroutput", {})  # of a worker that has crashed there is none
        self._rows += output.get("costs", [])
        self._fixture_seconds.update(output.get("fixture_seconds", {}))

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session):
        if (output := getattr(self._config, "workeroutput", None)) is not None:
            output.update(costs=self._rows, fixture_seconds=dict(self._fixture_seconds))
            return (yield)
        result = yield
        costs, wrong, is_beyond_doubt = judge(self._rows, self._fixture_seconds)
        write = self._config.pluginmanager.get_plugin("terminalreporter").write_line
        write(f"{len(costs)} tests cost {sum(costs.values()):.0f} CPU seconds; the twenty most expensive:")
        for nodeid in sorted(costs, key=costs.get, reverse=True)[:20]:
            write(f"{costs[nodeid]:7.1f} {nodeid}")
        for line in wrong:
            write(f"marker: {line}")
        if is_beyond_doubt and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = WRONG_MARKER
        return result


def used_seconds():
    times = os.times()
    seconds = time.process_time() + times.children_user + times.children_system
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            seconds += sum(map(int, fields[11:15])) / TICKS_PER_SECOND
    return seconds


def judge(rows, fixture_seconds):
    """Return what each test costs, a line for each wrong marker, and whether one of these is wrong beyond doubt."""
    users = Counter(name for *_, shared in rows for name in shared)
    costs, wrong, is_beyond_doubt = {}, [], False
    for nodeid, is_slow, seconds, shared in rows:
        costs[nodeid] = seconds + sum(fixture_seconds.get(name, 0.0) / users[name] for name in shared)
        if costs[nodeid] > SLOW_SECONDS and not is_slow:
            wrong.append(f"{nodeid} costs {costs[nodeid]:.2f} CPU seconds and is not marked slow")
            is_beyond_doubt |= costs[nodeid] > MUCH * SLOW_SECONDS
        elif costs[nodeid] < FAST_SECONDS and is_slow:
            wrong.append(f"{nodeid} costs {costs[nodeid]:.2f} CPU seconds and is marked slow")
    return costs, wrong, is_beyond_doubt


def _shared_fixtures(item):
    return [each for each in item._fixtureinfo.name2fixturedefs.values() if each[-1].scope != "function"]


def _name(fixturedef):
    return f"{fixturedef.baseid}::{fixturedef.argname}"
