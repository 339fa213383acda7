import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import needs
from tests.docs.reader import FENCE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDES = ("first_bot", "time", "debugging", "isolation", "packaging", "dependencies", "learning", "add_a_game")
OTHERS = ("cannot_be_a_game", "publish")
LONG = ("time", "packaging", "dependencies", "learning", "add_a_game")
LONG_LAB = re.compile(r"--within 60s|lab quality|kernels --")
"""Commands of a minute and more."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [*(pytest.param(name, marks=pytest.mark.soak) if name in LONG else name for name in GUIDES), *OTHERS],
)
def test_a_guide_does_what_it_says(name, reader, tmp_path):
    if name == "learning" and not (find_spec("pettingzoo") and find_spec("pyspiel")):
        pytest.skip("needs pettingzoo and pyspiel")
    program = {"packaging": "cc", "add_a_game": "cc", "publish": "openssl"}.get(name)
    if program and shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    assert reader.follow((DOCS / f"{name}.md").read_text(), tmp_path) > 0


@pytest.mark.slow
@needs.program("cc")
@pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_the_commands_of_the_lab_can_be_pasted(reader, tmp_path, is_long):
    blocks = [body for language, _, body in FENCE.findall((DOCS / "lab.md").read_text()) if language == "sh"]
    assert len(blocks) > 7
    for block in blocks:
        lines = block.splitlines()
        chosen = [line for line in lines if line.startswith("arena run") or is_long == bool(LONG_LAB.search(line))]
        done = reader.paste("\n".join(chosen), tmp_path)
        assert done.returncode == 0, f"{block}\n{done.stdout}"


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
