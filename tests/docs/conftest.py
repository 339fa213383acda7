import sys
from pathlib import Path

import pytest

from tests.docs.reader import Reader, build, install


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling", reason="needs hatchling")
    return build(tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="session", params=["checkout", pytest.param("wheel", marks=pytest.mark.soak)])
def reader(request, tmp_path_factory):
    if request.param == "checkout":
        environment = Path(sys.prefix)
    else:
        environment = tmp_path_factory.mktemp("installed") / "venv"
        install(request.getfixturevalue("wheel"), environment)
    return Reader(environment, tmp_path_factory.mktemp("home"))
