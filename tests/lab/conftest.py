import os

import pytest

from arena.games.kernels import loading


@pytest.fixture(scope="session", autouse=True)
def _shared_cache(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared / "kernel-cache"))
        patch.delenv("CC", raising=False)
        loading.load.cache_clear()
        yield
    loading.load.cache_clear()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache; what this process has loaded is forgotten, now and afterwards."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    loading.load.cache_clear()
    yield tmp_path / "cache" / "arena" / "kernels"
    loading.load.cache_clear()


@pytest.fixture
def forget_kernels(tmp_path, monkeypatch):
    """Return a function after which no kernel is built, and none can be, until the test ends."""

    def forget():
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("CC", "nocc")
        loading.load.cache_clear()

    yield forget
    loading.load.cache_clear()
