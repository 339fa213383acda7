import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import arena
import arena.botkit
import arena.games
import arena.ratings
from tests.docs.reader import FENCE

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
