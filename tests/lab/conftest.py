import pytest

from arena.games.kernels import loading


@pytest.fixture(scope="module", autouse=True)
def _kernels(shared_kernels):
    """Tests of the lab use the kernels of all."""


@pytest.fixture
def cache(tmp_path, monkeypatch):
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
