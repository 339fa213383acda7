"""A control group that a unit was given is divided: this process below it, bots beside it."""

import os

import pytest

from arena.sandbox.isolation import control_groups
from arena.sandbox.isolation.control_groups import DELEGATED_VARIABLE, divide_delegated_group


@pytest.fixture
def group(tmp_path, monkeypatch):
    """Yield the group of this process in a hierarchy of version 2 that is made of plain files."""
    group = tmp_path / "arena.slice" / "arena-checker.service"
    group.mkdir(parents=True)
    monkeypatch.setattr(control_groups, "_groups_of_this_process", lambda: {"": "/arena.slice/arena-checker.service"})
    monkeypatch.setattr(control_groups, "_mounts", lambda: iter([("cgroup2", str(tmp_path), {"rw"})]))
    return group


def test_the_process_moves_below_before_memory_is_divided(group, monkeypatch):
    monkeypatch.setenv(DELEGATED_VARIABLE, "yes")
    assert divide_delegated_group()
    assert (group / "arena" / "cgroup.procs").read_text() == str(os.getpid())
    assert (group / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert DELEGATED_VARIABLE not in os.environ  # what is started from here does not divide again
    assert not divide_delegated_group()


def test_a_group_that_nobody_has_given_is_left_alone(group, monkeypatch):
    monkeypatch.delenv(DELEGATED_VARIABLE, raising=False)
    assert not divide_delegated_group()
    assert list(group.iterdir()) == []


def test_a_group_that_cannot_be_divided_is_no_error(group, monkeypatch):
    monkeypatch.setenv(DELEGATED_VARIABLE, "yes")
    (group / "arena").write_text("in the way")
    assert not divide_delegated_group()


def test_where_groups_are_of_version_1_nothing_happens(monkeypatch):
    monkeypatch.setenv(DELEGATED_VARIABLE, "yes")
    monkeypatch.setattr(control_groups, "_mounts", lambda: iter([("cgroup", "/sys/fs/cgroup/memory", {"memory"})]))
    assert not divide_delegated_group()
