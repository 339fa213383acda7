"""The bots of results, split without a parser where no text needs one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.errors import StoreError
from arena.store.results.match_records import result_columns

ODD = st.sampled_from(["a@1", "b@1", "", "é@2", '"', "\\", "\n", '","', '"]\n["'])
LABELS = st.lists(st.one_of(ODD, st.text(max_size=4)), max_size=3)
TEXTS = st.one_of(
    LABELS.map(lambda labels: json.dumps(labels, separators=(",", ":"))),
    LABELS.map(lambda labels: json.dumps(labels, ensure_ascii=False)),
    LABELS.map(lambda labels: '["' + '","'.join(labels) + '"]'),
    st.sampled_from(['["a"]\n["b"]', '["', '"]', '["]', "[]", '["a",1]', "null", ' ["a"]', '["a"', "x"]),
)


def bots_of(text):
    """Return the bots of one text, by the parser."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    is_right = isinstance(found, list) and found and all(isinstance(label, str) for label in found)
    return found if is_right and all(label.isascii() or label.encode() for label in found) else None


def columns_of(texts):
    ranks = [json.dumps([1] * len(bots_of(text) or "?")) for text in texts]
    return result_columns(1, [(k, 1, "surds", *both, "", "") for k, both in enumerate(zip(texts, ranks, strict=True))])


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_bots_are_those_that_a_parser_finds(texts):
    expected = [bots_of(text) for text in texts]
    if None in expected:
        with pytest.raises(StoreError):
            columns_of(texts)
    else:
        assert columns_of(texts).bots == expected


def test_most_texts_need_no_parser(monkeypatch):
    monkeypatch.setattr("arena.store.results.match_records.from_json_text", None)
    assert columns_of(['["a@1","b@1"]', '["c@1"]']).bots == [["a@1", "b@1"], ["c@1"]]
