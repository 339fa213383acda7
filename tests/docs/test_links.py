"""Links between the pages of the repository, which the site of the docs follows, too."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(?:#[^)\s]*)?\)")
ELSEWHERE = {".venv", "build", "tests"}
PAGES = sorted(path for path in ROOT.glob("**/*.md") if not ELSEWHERE & {*path.relative_to(ROOT).parts})
PAGES.append(ROOT / "docs" / "researcher.ipynb")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_links_to_files(page):
    targets = LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    assert [target for target in targets if not (page.parent / target).is_file()] == []
