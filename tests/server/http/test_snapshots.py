import os

import pytest

from arena.server.http import page_value as snapshots
from arena.server.http.builder_messages import BuiltValue
from arena.server.http.page_value import Snapshots
from arena.site.page_table import PAGE_BY_NAME

PAGE = PAGE_BY_NAME["match"]


def parameters(match=1):
    return PAGE.parameters(tournament="t", match=match)


@pytest.fixture
def files(tmp_path):
    return Snapshots(tmp_path / "cache")


def paths(tmp_path):
    return list((tmp_path / "cache" / "pages").iterdir())


def test_what_is_kept_is_there_at_the_next_start_and_what_has_words_of_bots_not_for_everybody(files, tmp_path):
    assert files.read(PAGE, parameters()) is None
    files.write(PAGE, parameters(), "1", BuiltValue(b'{"a": 1}\n\n', 2.5))
    files.write(PAGE, parameters(), "2", BuiltValue(b'{"a": 2}\n\n', 2.5))
    version, value = Snapshots(tmp_path / "cache").read(PAGE, parameters())
    assert (version, value.json, value.seconds) == ("2", b'{"a": 2}\n\n', 2.5)
    assert value.age_seconds >= 0
    assert files.read(PAGE, parameters(2)) is None
    assert len(paths(tmp_path)) == 1
    Snapshots(tmp_path / "cache").write(PAGE, parameters(), "1", BuiltValue(b"1", 2.5), has_all_words=True)
    assert Snapshots(tmp_path / "cache").read(PAGE, parameters(), has_all_words=False) is None
    assert Snapshots(tmp_path / "cache").read(PAGE, parameters(), has_all_words=True) is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content.replace(b'"version":"1"', b'"version":1'),
        lambda content: content.replace(b'"match"', b'"other"'),
        lambda content: content.replace(b'"code":"', b'"code":"x'),
        lambda _: b"",
        lambda _: b"\xff" * 100,
        lambda _: b"[" * 100_000,
        lambda content: content.ljust(snapshots.MAX_FILE_BYTES + 1),
    ],
)
def test_a_torn_or_foreign_file_is_ignored(files, tmp_path, change):
    files.write(PAGE, parameters(), "1", BuiltValue(b'{"a": 1}', 2.5))
    [path] = paths(tmp_path)
    path.write_bytes(change(path.read_bytes()))
    assert files.read(PAGE, parameters()) is None


def test_the_file_of_another_page_is_ignored(files, tmp_path):
    files.write(PAGE, parameters(1), "1", BuiltValue(b"1", 2.5))
    [first] = paths(tmp_path)
    files.write(PAGE, parameters(2), "1", BuiltValue(b"2", 2.5))
    [second] = set(paths(tmp_path)) - {first}
    first.replace(second)
    assert files.read(PAGE, parameters(2)) is None


def test_links_and_pipes_are_not_followed(files, tmp_path):
    files.write(PAGE, parameters(), "1", BuiltValue(b"1", 2.5))
    [path] = paths(tmp_path)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert files.read(PAGE, parameters()) is None
    path.unlink()
    os.mkfifo(path)
    assert files.read(PAGE, parameters()) is None


def test_a_directory_that_leads_elsewhere_is_not_written(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "pages").symlink_to(tmp_path / "elsewhere")
    Snapshots(tmp_path / "cache").write(PAGE, parameters(), "1", BuiltValue(b"1", 2.5))
    assert list((tmp_path / "elsewhere").iterdir()) == []
    mine = tmp_path / "elsewhere" / f"mine{snapshots._SUFFIX}"
    mine.touch()
    Snapshots(tmp_path / "cache").clear()
    assert mine.exists()


def test_where_nothing_can_be_written_and_of_what_is_too_large_nothing_is_kept(files, tmp_path):
    files.write(PAGE, parameters(), "1", BuiltValue(b"x" * snapshots.MAX_FILE_BYTES, 2.5))
    assert not list(tmp_path.glob("cache/pages/*"))
    (tmp_path / "file").write_text("a file")
    elsewhere = Snapshots(tmp_path / "file")
    elsewhere.write(PAGE, parameters(), "1", BuiltValue(b"1", 2.5))
    assert elsewhere.read(PAGE, parameters()) is None


def test_the_oldest_files_make_room(files, tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "MAX_FILES", 3)
    for number in range(1, 6):
        files.write(PAGE, parameters(number), "1", BuiltValue(b"1", 2.5))
        for path in paths(tmp_path):
            os.utime(path, (path.stat().st_mtime - 10,) * 2)
    found = [files.read(PAGE, parameters(number)) is not None for number in range(1, 6)]
    assert found == [False, False, True, True, True]
    monkeypatch.setattr(snapshots, "MAX_TOTAL_BYTES", 1300)
    files.write(PAGE, parameters(6), "1", BuiltValue(b"x" * 1000, 2.5))
    assert len(paths(tmp_path)) == 1
