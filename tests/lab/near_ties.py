"""A kernel of plaid that asks the rules about all scores less than two points apart."""

import pytest

from arena.games.kernels.build import FLAGS, compile_kernel, find_compiler
from arena.games.kernels.loading import open_library

ASKS_OFTEN = "-DNEAR_TIE=2.0"


@pytest.fixture(scope="module")
def asking_plaid(tmp_path_factory):
    """The library."""
    path = tmp_path_factory.mktemp("asking") / "plaid.so"
    compile_kernel("plaid", path, find_compiler(), flags=(*FLAGS, ASKS_OFTEN))
    return open_library(path)
