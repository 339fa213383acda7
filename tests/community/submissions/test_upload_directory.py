import hashlib
import os
import stat

import pytest

from arena.base.errors import UploadError, UsageError
from arena.community.submissions import upload_directory
from arena.community.submissions.upload_directory import UploadDirectory
from arena.store.home import CHECKING, RECEIVING


@pytest.fixture
def uploads(tmp_path):
    return UploadDirectory(tmp_path / "uploads")


def keep(uploads, data):
    with uploads.receive() as receiving:
        receiving.write(data)
        return receiving.keep()


def test_what_has_come_whole_is_kept_under_its_digest_for_its_owner_alone_and_the_same_bytes_again(uploads):
    received = keep(uploads, b"print()")
    path = uploads.path(received.name)
    assert received.size_bytes == 7
    assert received.digest == hashlib.sha256(b"print()").hexdigest()
    assert path.read_bytes() == b"print()"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    uploads.remove(received.name)
    uploads.remove(received.name)
    assert list(path.parent.iterdir()) == []
    first, second = keep(uploads, b"print()"), keep(uploads, b"print()")
    assert first.digest == second.digest
    uploads.remove(first.name)
    assert uploads.path(second.name).read_bytes() == b"print()"


def test_what_was_cut_off_and_what_is_too_much_or_nothing_leaves_nothing(uploads, tmp_path, monkeypatch):
    with pytest.raises(ConnectionError), uploads.receive() as receiving:
        receiving.write(b"half")
        raise ConnectionError
    monkeypatch.setattr(upload_directory, "MAX_UPLOAD_BYTES", 10)
    with pytest.raises(UploadError, match="larger than"), uploads.receive() as receiving:
        receiving.write(b"x" * 10)
        receiving.write(b"x")
    with pytest.raises(UploadError, match="empty"), uploads.receive() as receiving:
        receiving.keep()
    assert list((tmp_path / "uploads").iterdir()) == []


def test_a_disk_that_is_nearly_full_takes_nothing(uploads, tmp_path, monkeypatch):
    monkeypatch.setattr(upload_directory, "SPARE_BYTES", 2**60)
    with pytest.raises(UsageError, match="nearly full"):
        uploads.receive()
    assert list((tmp_path / "uploads").iterdir()) == []


@pytest.mark.parametrize("name", ["bot.py", "../../etc/passwd", "a\0b.py", "x" * 300, "", "/", "..", "a\x1b[2Jb"])
def test_an_upload_is_found_by_its_own_name_and_stays_in_its_place(uploads, tmp_path, name):
    received = keep(uploads, b"print()")
    with uploads.named(received.name, name) as path:
        assert path.resolve().parent.parent == (tmp_path / "uploads").resolve()
        assert path.parent.name.startswith(CHECKING)
        assert path.read_bytes() == b"print()"
    assert [path.name for path in (tmp_path / "uploads").iterdir()] == [received.name]


def test_what_killed_processes_left_is_removed_after_an_hour(uploads, tmp_path):
    received = keep(uploads, b"print()")
    left = [tmp_path / "uploads" / f"{prefix}abc" for prefix in (RECEIVING, CHECKING)]
    left[0].write_bytes(b"half")
    left[1].mkdir()
    os.link(uploads.path(received.name), left[1] / "bot.py")
    for prefix in (RECEIVING, CHECKING):  # another process may be at work
        uploads.remove_unfinished(prefix)
    assert all(path.exists() for path in left)
    for path in (uploads.path(received.name), *left):
        os.utime(path, (1, 1))
    uploads.remove_unfinished(RECEIVING)
    assert [path.exists() for path in left] == [False, True]
    uploads.remove_unfinished(CHECKING)
    assert [path.name for path in (tmp_path / "uploads").iterdir()] == [received.name]


def test_a_program_can_be_executed_and_of_a_long_name_the_ending_stays(uploads):
    for data, is_program in ((b"#!/bin/sh\n", True), (b"\x7fELF...", True), (b"print()", False)):
        with uploads.named(keep(uploads, data).name, "bot") as path:
            assert os.access(path, os.X_OK) == is_program
    for name in ("x" * 300, chr(0x1F600) * 63):
        with uploads.named(keep(uploads, b"data").name, f"{name}.tar.gz") as path:
            assert path.name.endswith(".tar.gz")


def test_only_so_many_come_in_at_once_and_one_person_leaves_places_to_others(uploads, tmp_path, monkeypatch):
    with uploads.receive(1), uploads.receive(1):
        with pytest.raises(UsageError, match="you are sending 2 uploads already"):
            uploads.receive(1)
        with uploads.receive(2):
            pass
    for _ in range(3):
        with uploads.receive(1):
            pass
    monkeypatch.setattr(upload_directory, "MAX_RECEIVING", 2)
    with uploads.receive(), uploads.receive(), pytest.raises(UsageError, match="too many arrive at once"):
        uploads.receive()
    for _ in range(3):
        keep(uploads, b"x")
    assert len(list((tmp_path / "uploads").iterdir())) == 3


@pytest.mark.parametrize("step", ["write", "flush", "close"])
def test_a_disk_that_is_full_is_said_in_a_sentence_and_nothing_stays(uploads, tmp_path, step):
    class Full:
        def __init__(self, file):
            self._file = file

        def __getattr__(self, name):
            if name == step or (step == "close" and name == "flush"):
                self._file.close()
                raise OSError(28, "No space left on device")
            return getattr(self._file, name)

    full = pytest.raises(UsageError, match="uploads can't be taken now: No space left on device")
    with full, uploads.receive() as receiving:
        receiving._file = Full(receiving._file)
        receiving.write(b"x")
        receiving.keep()
    assert list((tmp_path / "uploads").iterdir()) == []
