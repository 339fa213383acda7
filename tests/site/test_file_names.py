"""File names: the rules of exFAT and Windows are from their documentation, and hold for any names."""

import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from arena.site.publish.contents import file_names
from tests.analysis.text.test_tables import HOSTILE

FORBIDDEN = set('"*/:<>?\\|%#') | {chr(code) for code in range(32)}
"""What exFAT and Windows refuse, and what has a meaning in addresses."""

DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}


def assert_fit(names):
    found = file_names(names)
    assert set(found) == set(names)
    for file_name in found.values():
        assert not set(file_name) & FORBIDDEN
        assert file_name.isascii()
        assert 1 <= len(file_name) <= 120
        assert file_name[0] not in ".-"
        assert file_name[-1] not in ". "
        assert file_name.partition(".")[0] not in DEVICES
    assert len({unicodedata.normalize("NFC", name.casefold()) for name in found.values()}) == len(found)
    return found


@given(
    st.sets(st.text() | st.sampled_from(["con", "NUL", "nul.txt", "a", "A", "é", "e\u0301", "a.", "a ", "..", "index"]))
)
@example({"Foo", "foo-0e8ebd", "foo"})
@example(set(HOSTILE))
def test_any_names_have_files_of_their_own(names):
    assert_fit(names)


def test_names_stay_readable_and_a_name_that_is_another_s_file_name_does_not_get_its_file():
    plain = ["greedy", "greedy@2", "random_legal"]
    others = {"my cup 2026": "my-cup-2026", "MyBot": "MyBot", "hex:Hex": "hex-Hex", "x" * 64: "x" * 48}
    found = file_names([*plain, *others])
    assert [found[name] for name in plain] == plain
    for name, shown in others.items():
        assert re.fullmatch(rf"{shown}-[0-9a-f]{{6}}", found[name])
    stolen = file_names(["Foo"])["Foo"].lower()
    found = file_names(["Foo", stolen])
    assert found[stolen] == stolen
    assert found["Foo"].startswith(f"Foo-{stolen[4:]}")
    assert len(found["Foo"]) > len(stolen)


@given(st.text(min_size=1), st.sets(st.text(min_size=1)))
def test_a_name_has_the_same_file_whatever_else_is_there(name, others):
    assert file_names([name])[name] == file_names({name, *others})[name]
