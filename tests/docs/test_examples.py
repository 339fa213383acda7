import doctest
import importlib
import inspect
import json
import re
from pathlib import Path

import pytest

import arena
import arena.botkit
import arena.games
import arena.ratings
from arena import ArenaHome
from arena.base.enums import IsolationLevel
from benchmarks.zoo_bots import ZOO
from tests.conftest import ROOT
from tests.docs.reader import FENCE
from tests.leftovers import own_errors

PAGES = Path(__file__).parents[2] / "docs" / "reference"
PACKAGE = Path(arena.__file__).parent
BLOCK = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGES = {"python": arena, "games": arena.games, "ratings": arena.ratings, "botkit": arena.botkit}

WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
)


def programs(page):
    return {name: body for language, name, body in FENCE.findall(text_of(page)) if language == "python"}


def text_of(page):
    return (PAGES / f"{page}.md").read_text(encoding="utf-8")


def session(page):
    """Return the blocks of a page as one session, each line where it is on the page."""
    text = text_of(page)
    kept = [""] * len(text.splitlines())
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        lines = block[1].splitlines()
        kept[first : first + len(lines)] = lines
    return "\n".join(kept) + "\n"


@pytest.mark.slow(only=("games", "python"))
@pytest.mark.parametrize("page", PACKAGES)
def test_the_examples_of_a_page_do_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, source in programs(page).items():
        (tmp_path / name).write_text(source)
    example = doctest.DocTestParser().get_doctest(session(page), {"__name__": "__main__"}, page, f"{page}.md", 0)
    assert example.examples
    printed = []
    failed, _ = doctest.DocTestRunner().run(example, out=printed.append)
    assert not failed, "".join(printed)


@pytest.mark.parametrize("page", PACKAGES)
def test_every_public_function_has_an_example_on_its_page(page):
    """Functions of ``arena.games`` and ``arena.ratings`` that ``arena`` has as well have theirs there."""
    package = PACKAGES[page]
    functions = {name for name in package.__all__ if inspect.isfunction(getattr(package, name))}
    functions -= set(arena.games.__all__) if package is arena else set()
    used = set(re.findall(r"\w+", "\n".join([session(page), *programs(page).values()])))
    assert functions <= used, functions - used


@pytest.mark.slow(only=("arena.games.conformance", "arena.games.conformance.suite"))
@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_of_docstrings_do_what_they_say(module):
    failed, tried = doctest.testmod(importlib.import_module(module), report=True)
    assert tried
    assert not failed


PAGE = (ROOT / "docs" / "isolation.md").read_text(encoding="utf-8")
TABLE = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE[PAGE.index("| promise |") :].splitlines()
    if line.startswith("|")
]
HEAD, _, *ROWS = TABLE

UNLESS = {"as root": " as user", "groups": " without cgroup", "mounts": " without mounts"}
"""A cell, and the condition under which the deed gets through at that level."""


def cell_of(bot, level):
    through = ZOO[bot].get("gets_through", [])
    if level in through:
        return "–"
    conditions = [entry.removeprefix(level) for entry in through if entry.startswith(f"{level} ")]
    return next((cell for cell, condition in UNLESS.items() if condition in conditions), "yes")


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_promise_is_kept_where_the_table_says_so(row):
    bots = row[-1].split(", ")
    for level, cell in zip(IsolationLevel, row[1:-1], strict=True):
        assert {cell_of(bot, level) for bot in bots} == {cell}, level


def test_every_deed_that_gets_through_anywhere_is_in_the_table():
    """Those that differ from level to level are what a reader of the table has to know of."""
    named = {bot for row in ROWS for bot in row[-1].split(", ")}
    differing = {bot for bot, about in ZOO.items() if about.get("gets_through") and about["expect"] != "honest"}
    assert differing <= named


def test_the_columns_are_the_levels_and_what_is_demanded_in_the_security_page_exists():
    assert tuple(HEAD[1:-1]) == tuple(IsolationLevel)
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert set(re.findall(r'`(?:isolation = )?"(\w+)"`', page)) == set(IsolationLevel)


NOTEBOOK_PAGE = Path(__file__).parents[2] / "docs" / "researcher.ipynb"
NOTEBOOK = json.loads(NOTEBOOK_PAGE.read_text(encoding="utf-8"))
CODE = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


@pytest.fixture
def execute(tmp_path, monkeypatch):
    pytest.importorskip("pandas", reason="needs pandas")
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / "jupyter"))
    (tmp_path / "work").mkdir()

    def run():
        notebook = nbformat.read(NOTEBOOK_PAGE, as_version=4)
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
    assert not re.search(r"/(home|root|tmp|Users|work)\b", NOTEBOOK_PAGE.read_text(encoding="utf-8"))
