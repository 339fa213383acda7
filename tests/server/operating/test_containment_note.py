import pytest

from arena.base.errors import UsageError
from arena.community.uploads.containment import MAX_CHARACTERS, NO_CHECKER, note_containment, noted_refusal


def test_what_was_noted_last_counts(tmp_path):
    assert noted_refusal(tmp_path) == NO_CHECKER
    for refusal in ("uploads can't be contained: here", ""):
        note_containment(tmp_path, refusal)
        assert noted_refusal(tmp_path) == refusal
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["containment"]


def test_it_is_bounded_and_may_be_broken(tmp_path):
    note_containment(tmp_path, "")
    (tmp_path / "parts" / "containment").write_bytes(b"\xff" * 10_000)
    assert noted_refusal(tmp_path) == "\ufffd" * MAX_CHARACTERS


def test_a_home_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "parts").write_text("in the way")
    with pytest.raises(UsageError, match="parts/containment: can't be written"):
        note_containment(tmp_path, "")
