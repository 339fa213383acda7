import pytest

from arena.base.enums import IsolationLevel
from arena.base.errors import UsageError
from arena.community.submissions import upload_directory as containment
from arena.community.submissions.upload_directory import (
    MAX_CHARACTERS,
    NO_CHECKER,
    can_contain_uploads,
    note_containment,
    noted_refusal,
)
from arena.sandbox.isolation import levels
from arena.sandbox.isolation.sandbox_policy import Isolation

NONE, LIMITS, LANDLOCK, BUBBLEWRAP = IsolationLevel


def containment_of(monkeypatch, isolation, untested=""):
    monkeypatch.setattr(containment, "choose_isolation", lambda wanted: isolation)
    result = levels.ProbeResult(isolation=isolation, untested=untested)
    monkeypatch.setattr(containment, "probe_level", lambda level: result)
    return can_contain_uploads()


@pytest.mark.parametrize(
    ("level", "groups", "is_enough", "reason"),
    [
        (LANDLOCK, True, True, "uploads are contained: unpacked, built and run at landlock+cgroup"),
        (BUBBLEWRAP, True, True, "uploads are contained: unpacked, built and run at bubblewrap+cgroup"),
        (LANDLOCK, False, False, "uploads can't be contained: no control group for memory and processes can be made"),
        (BUBBLEWRAP, False, False, "uploads can't be contained: no control group"),
        (LIMITS, True, False, "uploads can't be contained: at the level limits+cgroup a bot can read the files"),
        (NONE, False, False, "uploads can't be contained: at the level none a bot can read the files of the arena"),
    ],
)
def test_only_confined_files_and_limited_memory_are_enough(monkeypatch, level, groups, is_enough, reason):
    found = containment_of(monkeypatch, Isolation(level=level, groups=groups))
    assert found.is_enough is is_enough
    assert found.reason.startswith(reason)
    assert found.isolation == Isolation(level=level, groups=groups)


def test_control_groups_that_were_not_tried_to_the_end_and_a_level_that_is_not_there_are_other_reasons(monkeypatch):
    untested = "landlock+cgroup was not tried to the end: it took too long"
    found = containment_of(monkeypatch, Isolation(level=LANDLOCK), untested)
    assert (found.is_enough, found.reason) == (False, f"uploads can't be contained: {untested}")
    monkeypatch.undo()
    found = can_contain_uploads("chroot")
    assert not found.is_enough
    assert found.reason.startswith("uploads can't be contained: isolation = 'chroot': expected 'auto', 'none'")
    assert found.isolation is None


def test_what_was_noted_last_counts_is_bounded_and_a_home_that_cannot_be_written_is_named(tmp_path):
    assert noted_refusal(tmp_path) == NO_CHECKER
    for refusal in ("uploads can't be contained: here", ""):
        note_containment(tmp_path, refusal)
        assert noted_refusal(tmp_path) == refusal
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["containment"]
    (tmp_path / "parts" / "containment").write_bytes(b"\xff" * 10_000)
    assert noted_refusal(tmp_path) == "\ufffd" * MAX_CHARACTERS
    (tmp_path / "file" / "parts").parent.mkdir()
    (tmp_path / "file" / "parts").write_text("in the way")
    with pytest.raises(UsageError, match="parts/containment: can't be written"):
        note_containment(tmp_path / "file", "")
