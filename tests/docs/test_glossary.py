"""docs/glossary.md: every word once, with one sentence, and in the order of the alphabet."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
GROUPS = {
    title: [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows.splitlines()]
    for title, rows in re.findall(r"^## (.+)\n\n\| word .*\n\| --- .*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
}


def test_every_group_is_a_table_of_words_meanings_and_other_words():
    assert len(GROUPS) == PAGE.count("\n## ")
    assert all(len(row) == 3 and all(row) for rows in GROUPS.values() for row in rows)


def test_words_are_in_the_order_of_the_alphabet():
    for title, rows in GROUPS.items():
        words = [word.lower() for word, *_ in rows]
        assert words == sorted(words), title


def test_no_word_is_described_twice():
    words = [word for rows in GROUPS.values() for word, *_ in rows]
    assert len(words) == len(set(words))


def test_a_meaning_is_one_sentence():
    for rows in GROUPS.values():
        for word, meaning, _ in rows:
            assert meaning.endswith("."), word
            assert ". " not in meaning, word
