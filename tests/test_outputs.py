from pathlib import Path
from urllib.parse import quote

import pytest

from benchmarks.outputs.commands import calls_of
from benchmarks.outputs.comparison import compare, printed
from benchmarks.outputs.reduced import Normaliser, lines_of


def recording(place, texts):
    place.mkdir()
    for address, text in texts.items():
        (place / quote(address, safe="")).write_text(text)
    return place


def test_a_changed_word_and_a_missing_page_are_found(tmp_path):
    pages = {f"/bots/{number}": f"bot {number}\nwas refused by {number:c} rules" for number in range(97, 117)}
    changed = {address: text.replace("refused", "rejected") for address, text in pages.items()}
    old = recording(tmp_path / "old", pages | {"/log": "x", "/same": "x"})
    new = recording(tmp_path / "new", changed | {"/same": "x"})
    assert compare(old, old) == []
    assert list(printed(compare(old, new))) == [
        "20× at /bots/100, /bots/101, /bots/102 and 17 more",
        "  - was refused by d rules",
        "  + was rejected by d rules",
        "1× at /log",
        "  - (is there)",
        "  + (is missing)",
        "2 differences, 21 lines and addresses",
    ]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("<p>A <b>bot</b> <a href='/b'>x</a><td>1<td>2", "text/html", ["A bot [href=/b] x | 1 | 2"]),
        ("<p>a<script>b</script><style>c</style><p>d", "text/html", ["a", "d"]),
        ('{"b": [{"c": 1}, {"c": 2}], "a": [3]}', "", ["a: [3]", "b[]", "b[].c: 1", "b[]", "b[].c: 2"]),
        ('{"a": 1}\n{"a": 2}', "", ["a: 1", "", "a: 2", ""]),
        ("a,b\n1,2", "text/csv", ["a,b", "1,2"]),
    ],
)
def test_pages_and_values_are_reduced_to_lines(text, kind, expected):
    assert lines_of(text.encode(), kind) == expected


def test_only_what_a_recording_brings_about_is_replaced():
    lines = ["/x/bots at 2026-01-02T03:04:05Z on http://localhost:4711/, 3 minutes ago", "seconds: 0.25"]
    normaliser = Normaliser(Path("/x"))
    assert normaliser.lines(lines) == ["CHECKOUT/bots at 2026-01-02T03:04:05Z on http://HOST/, AGE", "seconds: 0.25"]
    assert normaliser.lines(lines, is_measured=True)[1] == "seconds: MEASURED"


def test_calls_name_what_is_in_a_home():
    assert "standings 'a b' --places" in calls_of("tournament", T="'a b'")
