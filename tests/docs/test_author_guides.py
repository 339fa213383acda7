import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.reader import FENCE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDES = ("first_bot", "time", "debugging", "isolation", "packaging", "dependencies", "learning", "add_a_game")
LONG = ("time", "packaging", "dependencies", "learning", "add_a_game")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [*(pytest.param(name, marks=pytest.mark.soak) if name in LONG else name for name in GUIDES), "cannot_be_a_game"],
)
def test_a_guide_does_what_it_says(name, reader, tmp_path):
    if name == "learning" and not (find_spec("pettingzoo") and find_spec("pyspiel")):
        pytest.skip("needs pettingzoo and pyspiel")
    if name in ("packaging", "add_a_game") and shutil.which("cc") is None:
        pytest.skip("needs cc")
    assert reader.follow((DOCS / f"{name}.md").read_text(), tmp_path) > 0


def test_the_game_in_the_guide_is_the_example_and_every_guide_is_reached_from_the_first_one_and_the_readme():
    whole = (DOCS / "examples" / "domineering.py").read_text()
    assert f"```python domineering.py\n{whole}```" in (DOCS / "add_a_game.md").read_text()
    first = (DOCS / "first_bot.md").read_text()
    assert all(f"({name}.md)" in first for name in GUIDES if name != "first_bot")
    assert "docs/first_bot.md" in (ROOT / "README.md").read_text()


def test_no_page_counts_on_standing_in_the_checkout():
    """Apart from README's three commands and the one that ends with ``activate``, which are for the checkout."""
    for page in [*DOCS.glob("*.md"), ROOT / "README.md"]:
        of_the_checkout = 4 if page.name == "README.md" else 0
        shell_blocks = [body for language, _, body in FENCE.findall(page.read_text()) if language == "sh"]
        others = [body for language, _, body in FENCE.findall(page.read_text()) if language in ("python", "toml")]
        for block in [*shell_blocks[of_the_checkout:], *others]:
            without_addresses = re.sub(r"https?://\S+", "", block)
            found = re.search(r"\bbots/|\btournaments/|\.venv|\.\./|-m arena", without_addresses)
            assert not found, f"{page.name}: {block}"


FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(?:#[^)\s]*)?\)")
ELSEWHERE = {".venv", "build", "tests"}
PAGES = sorted(path for path in ROOT.glob("**/*.md") if not ELSEWHERE & {*path.relative_to(ROOT).parts})


@pytest.mark.parametrize("page", [*PAGES, DOCS / "researcher.ipynb"], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_links_to_files(page):
    """The site of the docs follows these links, too."""
    targets = LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    assert [target for target in targets if not (page.parent / target).is_file()] == []
