"""``arena lab kernels`` and the line of ``arena doctor``."""

import json

import pytest

from arena.cli import lab_kernels
from arena.lab.kernels.encoding import KERNEL_NAMES
from arena.lab.kernels.loading import load
from arena.lab.kernels.sameness import Effort
from tests import needs
from tests.cli.calls import calling


@pytest.fixture
def call(tmp_path, capsys, monkeypatch):
    """A function that runs a command with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    load.cache_clear()
    yield calling(tmp_path / "home", capsys)
    load.cache_clear()


def test_kernels_are_shown_and_nothing_is_built(call, tmp_path):
    code, out, _ = call("lab", "kernels")
    assert code == 0
    assert out.count("not built yet") == len(KERNEL_NAMES)
    assert "arena lab kernels --build" in out
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
@needs.program("cc", "gcc", "clang")
def test_kernels_are_built_and_compared(call, monkeypatch):
    monkeypatch.setattr(lab_kernels, "USUAL", Effort(playouts=1_200, large_playouts=1, lines=0))
    code, out, _ = call("lab", "kernels", "--check")
    assert code == 0
    assert out.count("1,20") == len(KERNEL_NAMES)
    code, out, _ = call("lab", "kernels", "--json")
    rows = json.loads(out)
    assert [row["game"] for row in rows] == list(KERNEL_NAMES)
    assert all(row["path"] and not row["problem"] for row in rows)
    assert "5 of 5 built" in call("doctor")[1]


def test_without_a_compiler_a_sentence_says_so(call, monkeypatch):
    monkeypatch.setenv("CC", "nocc")
    code, out, _ = call("lab", "kernels", "--check")
    assert code == 1
    assert out.count("There is no C compiler: CC = 'nocc' is not found.") == 1
    assert "the same answers, slower" in out
    assert call("lab", "kernels")[0] == 0


def test_an_unknown_command_of_the_lab_is_refused(call):
    code, _, err = call("lab", "kernel")
    assert code == 2
    assert "did you mean 'kernels'" in err
