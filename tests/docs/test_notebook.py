import json
import re
from pathlib import Path

import pytest

from arena import ArenaHome
from tests.leftovers import own_errors

PAGE = Path(__file__).parents[2] / "docs" / "researcher.ipynb"
NOTEBOOK = json.loads(PAGE.read_text(encoding="utf-8"))
CODE = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Return a function that executes the notebook and returns the outputs of each cell."""
    pytest.importorskip("pandas", reason="needs pandas")
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / "jupyter"))
    (tmp_path / "work").mkdir()

    def run():
        notebook = nbformat.read(PAGE, as_version=4)
        nbclient.NotebookClient(
            notebook, timeout=300, resources={"metadata": {"path": str(tmp_path / "work")}}
        ).execute()
        cells = [
            cell.outputs for cell in notebook.cells if cell.cell_type == "code"
        ]  # but for notices about busy cores
        return [[one for one in cell if one["output_type"] != "stream" or own_errors(one["text"])] for cell in cells]

    return run


def recorded(directory):
    with ArenaHome(directory / "work" / "notebook-arena", must_exist=True) as home:
        return {name: list(home.store.record_texts(name)) for name in ("league", "ideas")}


@pytest.mark.slow
def test_the_notebook_runs_and_runs_again(execute, tmp_path):
    first = execute()
    records = recorded(tmp_path)
    assert [len(texts) for texts in records.values()] == [120, 60]
    assert next(one["data"]["text/plain"] for one in first[0] if "data" in one) == "'120 of 120 matches'"
    for cell, outputs in zip(CODE, first, strict=True):
        assert not any(output["output_type"] in ("stream", "error") for output in outputs), outputs
        if cell["source"][-1].startswith(("standings", "crosstable_of", "records", "match", "Board", "play_match")):
            assert "text/html" in outputs[0]["data"]
    assert execute()[1:3] == first[1:3], "standings and crosstable are the same"
    assert recorded(tmp_path) == records, "nothing is played twice, and nothing is lost"


def test_it_holds_no_outputs_and_nothing_of_a_machine():
    assert NOTEBOOK["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in NOTEBOOK["cells"]:
        assert cell["metadata"] == {}
        assert re.fullmatch(r"(text|code)-\d+", cell["id"])
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in CODE)
    assert not re.search(r"/(home|root|tmp|Users|work)\b", PAGE.read_text(encoding="utf-8"))
