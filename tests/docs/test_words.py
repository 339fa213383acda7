import re
from functools import cache

import pytest

from tests.conftest import ROOT

CODE = sorted(path for path in (ROOT / "arena").rglob("*.py") if "templates" not in path.parts)
PAGES = [
    *(ROOT / name for name in ("README.md", "protocol.md", "CONTRIBUTING.md", "SECURITY.md", "arena/DESIGN.md")),
    *sorted(path for path in (ROOT / "docs").glob("*.md") if path.name not in ("glossary.md", "decisions.md")),
]
"""The glossary lists the words not to use, and a decision is quoted as it was written."""

PHRASES = {
    "anew": "again",
    "are due|is due": "expected, or to act",
    "bot page": "bot profile",
    "goes on(?! an | \\[)|go on with": "continues",
    "(?-i:is none)": "without one",
    "is spoken here": "this arena speaks",
    "kept standings": "standings cache",
    "outside games?": "external game",
    "reckon(s|ed)?": "compute or estimate",
    "so many": "the number",
    "somebody('s| else)": "name the person: the author, another user",
    "stands? twice": "appears twice",
    "told(?! apart)": "sent, received or known",
}
"""Phrases that must not come back in code, messages and pages, and what to write instead."""

ALLOWED = dict.fromkeys(("match/check/check.py", "docs/debugging.md"), "leaves when it is told to quit")
"""A text of ``--json`` stays."""


@cache
def text_of(path):
    return path.read_text(encoding="utf-8")


def lines_with(pattern, paths):
    compiled = re.compile(pattern, re.IGNORECASE)
    for path in paths:
        if not compiled.search(text_of(path)):
            continue
        allowed = ALLOWED.get(str(path.relative_to(ROOT)).removeprefix("arena/"))
        for number, line in enumerate(text_of(path).splitlines(), 1):
            if compiled.search(line) and not (allowed and allowed in line):
                yield f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


@pytest.mark.parametrize(("phrase", "better"), PHRASES.items(), ids=PHRASES)
def test_a_replaced_phrase_is_not_used(phrase, better):
    assert not list(lines_with(rf"\b({phrase})\b", [*CODE, *PAGES])), f"write {better}"


# CONTRIBUTING.md: words that were replaced, in names of the code and in pages

REPLACED = [
    tuple(cell.strip() for cell in row.strip("|").split("|"))
    for row in re.search(r"\| replaced \|.*\n\| ---.*\n((?:\|.*\n)+)", (ROOT / "CONTRIBUTING.md").read_text())[
        1
    ].splitlines()
]
KEPT_NAMES = {"wish", "wish_reason", "wished_action", "handed_in_at", "sitting_out", "troubles", "lucky", "said"}
"""Fields of the JSON and columns of the database, which keep their names."""
NAME_OR_TEXT = re.compile(r"""(\"{3}|'{3})[\s\S]*?\1|(["'])(?:\\.|[^\\\n])*?\2|#.*|([A-Za-z_]\w*)""")
"""What is in a string or a comment is no name."""


@cache
def names_in_code():
    names = {path.stem for path in CODE}
    for path in CODE:
        names |= {name for *_, name in NAME_OR_TEXT.findall(text_of(path))}
    parts = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
    return {name: " ".join(parts.findall(name)).lower() for name in names - KEPT_NAMES}


@pytest.mark.parametrize(("replaced", "write", "in_pages"), REPLACED, ids=[row[0] for row in REPLACED])
def test_a_replaced_word_does_not_come_back(replaced, write, in_pages):
    words = re.compile(rf"\b({'|'.join(replaced.split(', '))})\b", re.IGNORECASE)
    assert [name for name, text in names_in_code().items() if words.search(text)] == [], f"write {write}"
    pages = [path for path in PAGES if path.name != "CONTRIBUTING.md"] if in_pages else []
    assert not list(lines_with(words.pattern, pages)), f"write {write}"


GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
GROUPS = {
    title: [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows.splitlines()]
    for title, rows in re.findall(r"^## (.+)\n\n\| word .*\n\| --- .*\n((?:\|.*\n)+)", GLOSSARY, re.MULTILINE)
}


def test_the_glossary_has_each_word_once_in_order_with_one_sentence():
    assert len(GROUPS) == GLOSSARY.count("\n## ")
    words = [word for rows in GROUPS.values() for word, *_ in rows]
    assert len(words) == len(set(words))
    for title, rows in GROUPS.items():
        own = [word.lower() for word, *_ in rows]
        assert own == sorted(own), title
        assert all(len(row) == 3 and all(row) for row in rows)
        assert [word for word, meaning, _ in rows if not meaning.endswith(".") or ". " in meaning] == []
