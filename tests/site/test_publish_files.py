import errno
import json
import os

import pytest

from arena.base.errors import UsageError
from arena.base.version import __version__
from arena.site.publish.folder_files import FORM, MAX_MANIFEST_BYTES, FileEntry, FolderReader, Manifest, new_folder

EMPTY = Manifest(arena_folder=FORM, arena=__version__, max_matches=None, tournaments=(), files={})


def write(out, files):
    with new_folder(out, EMPTY) as writer:
        for path, content in files.items():
            writer.write(path, [content])


def test_the_manifest_has_sizes_and_digests(tmp_path):
    write(tmp_path / "out", {"a/b.txt": b"abc", "c": b""})
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["files"] == {
        "a/b.txt": {"bytes": 3, "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        "c": {"bytes": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    }
    with FolderReader(tmp_path / "out") as reader:
        assert sorted(reader.paths()) == ["a/b.txt", "c", "manifest.json"]
        assert reader.manifest().arena == __version__
        assert [reader.problem_of(*entry) for entry in reader.manifest().files.items()] == [None, None]


def test_an_empty_directory_is_taken_and_a_folder_that_was_published_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    for name in ("old", "new"):
        write(tmp_path / "out", {name: b"1"})
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json", name]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["thesis.txt", "manifest.json"])
def test_what_somebody_else_has_made_stays(tmp_path, name):
    (tmp_path / name).write_text('{"name": "an app"}')
    with pytest.raises(UsageError, match="has not made, and stays as it is"):
        write(tmp_path, {"new": b"2"})
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_nothing_half_is_left(tmp_path, failure):
    write(tmp_path / "out", {"old": b"1"})

    def content():
        yield b"some"
        raise failure

    expected = (UsageError, KeyboardInterrupt)
    with pytest.raises(expected) as raised, new_folder(tmp_path / "out", EMPTY) as writer:
        writer.write("a", [b"1"])
        writer.write("b", content())
    assert raised.value is failure or str(raised.value).endswith("can't be written: No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json", "old"]


@pytest.mark.parametrize(
    ("place", "message"), [("no/out", "there is no directory"), ("file", "expected a directory, or nothing there")]
)
def test_a_place_where_no_folder_can_be(tmp_path, place, message):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=message):
        write(tmp_path / place, {})


ENTRY = FileEntry(bytes=3, sha256="ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")


@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "a/../../secret", "", ".", "link", "linked/secret", "pipe", "a"]
)
def test_no_path_and_no_link_leads_out_of_a_folder(tmp_path, path):
    (tmp_path / "secret").write_bytes(b"abc")
    out = tmp_path / "out"
    (out / "a").mkdir(parents=True)
    (out / "link").symlink_to(tmp_path / "secret")
    (out / "linked").symlink_to(tmp_path)
    os.mkfifo(out / "pipe")
    with FolderReader(out) as reader:
        assert reader.problem_of(path, ENTRY)
        assert sorted(reader.paths()) == ["link", "linked", "pipe"]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[" * 100_000, "\xff", '{"files": 1}',
        '{"arena_folder": 1, "arena": "1", "max_matches": -1, "tournaments": [], "files": {}}',
        '{"arena_folder": 1, "arena": "1", "max_matches": null, "tournaments": [], "files": {"a": {"bytes": 1}}}',
        '{"arena_folder": 9, "arena": "1", "max_matches": null, "tournaments": [], "files": {}}',
        '{"arena_folder": 1, "arena": "1", "max_matches": null, "files": {}, "tournaments":'
        ' [{"name": "a", "records": "records/a"}, {"name": "b", "records": "records/a"}]}',
        " " * (MAX_MANIFEST_BYTES + 1),
    ],
    ids=str.__len__,
)  # fmt: skip
def test_a_manifest_that_is_none_is_refused_in_a_sentence(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with FolderReader(tmp_path) as reader, pytest.raises(UsageError) as refused:
        reader.manifest()
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400
