"""Where others could put a library or a table of theirs, nothing is loaded from."""

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.base.errors import KernelError
from arena.games import make_game
from arena.games.kernels import cache as kernel_cache
from arena.lab.solving.tables import TableError, TableFile, save_table
from tests import needs

STRANGER = 65534


def problem():
    with pytest.raises(KernelError) as caught:
        kernel_cache.checked_directory()
    return str(caught.value)


def test_a_directory_that_is_made_is_for_this_user_alone_whatever_the_umask(cache):
    before = os.umask(0)
    try:
        assert kernel_cache.checked_directory() == cache
    finally:
        os.umask(before)
    assert {stat.S_IMODE(one.stat().st_mode) for one in (cache, cache.parent, cache.parent.parent)} == {0o755}


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777])
def test_a_directory_above_in_which_others_can_put_another_is_refused(cache, mode):
    cache.mkdir(parents=True)
    os.chown(cache.parent, -1, STRANGER) if os.geteuid() == 0 else None
    cache.parent.chmod(mode)
    if mode == 0o775 and os.geteuid() != 0:
        pytest.skip("the group may be this user's alone")
    assert problem() == f"other users can write to the cache directory {cache.parent}: chmod go-w"


@needs.root
@pytest.mark.parametrize(
    ("flags", "uid_map", "is_trusted"),
    [
        (os.ST_RDONLY, "     61214          0          1\n", True),  # a bot in its sandbox, of an arena that root runs
        (os.ST_RDONLY, "0 1000 1\n1 100000 65536\n", False),  # a container
        (0, "61214 61214 1\n", False),
        (os.ST_RDONLY, "         0          0 4294967295\n", False),
    ],
)
def test_what_is_bound_read_only_is_trusted_where_there_is_no_root(cache, monkeypatch, flags, uid_map, is_trusted):
    read_text = Path.read_text
    maps = {"/proc/self/uid_map": uid_map, "/proc/sys/kernel/overflowuid": f"{STRANGER}\n"}
    monkeypatch.setattr(Path, "read_text", lambda path, *some: maps.get(str(path)) or read_text(path, *some))
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=flags))
    cache.mkdir(parents=True)
    os.chown(cache, STRANGER, STRANGER)
    if is_trusted:
        assert kernel_cache.checked_directory() == cache
    else:
        assert problem() == f"the cache directory {cache} belongs to another user (uid {STRANGER})"


@needs.root
def test_a_directory_above_of_another_user_is_refused_and_a_link_of_theirs_to_one_of_ours(cache, tmp_path):
    cache.parent.mkdir(parents=True)
    cache.symlink_to(tmp_path)
    os.chown(cache, STRANGER, STRANGER, follow_symlinks=False)
    assert problem() == f"the cache directory {cache} belongs to another user (uid {STRANGER})"
    cache.unlink()
    os.chown(cache.parent, STRANGER, STRANGER)
    assert problem() == f"the cache directory {cache.parent} belongs to another user (uid {STRANGER})"


def test_a_link_of_ours_to_where_others_can_write_is_refused(cache, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "arena").mkdir(parents=True)
    elsewhere.chmod(0o777)
    cache.parent.parent.mkdir()
    cache.parent.symlink_to(elsewhere / "arena")
    assert problem() == f"other users can write to the cache directory {elsewhere}: chmod go-w"


def test_a_link_of_ours_is_followed_also_where_each_may_remove_only_what_is_theirs(cache, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk").chmod(0o1777)
    cache.parent.parent.symlink_to(tmp_path / "disk")
    assert kernel_cache.checked_directory() == cache
    assert (tmp_path / "disk" / "arena" / "kernels").is_dir()


@pytest.fixture
def table(tmp_path):
    """A table, and its game."""
    game = make_game("plusminus", size=2)
    save_table(game, "plusminus", [(game.initial_state(), 0)], tmp_path / "plusminus.table")
    return game, tmp_path / "plusminus.table"


def test_a_table_can_be_read_by_bots_with_uids_of_their_own(table):
    game, file = table
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    TableFile(game, "plusminus", file).close()


NOT_OURS = "can't be read: it is no regular file that only you or root can write"


def put_elsewhere(file):
    file.rename(file.parent / "elsewhere")
    file.symlink_to(file.parent / "elsewhere")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param(lambda file: file.chmod(0o664), NOT_OURS, id="its group can write it"),
        pytest.param(lambda file: file.chmod(0o646), NOT_OURS, id="others can write it"),
        pytest.param(lambda file: os.chown(file, STRANGER, STRANGER), NOT_OURS, id="of a stranger", marks=needs.root),
        pytest.param(lambda file: (file.unlink(), os.mkfifo(file)), NOT_OURS, id="a fifo, which holds nobody"),
        pytest.param(put_elsewhere, "can't be read: Too many levels of symbolic links", id="a link"),
    ],
)
def test_a_table_that_others_may_have_written_is_refused(table, spoil, message):
    game, file = table
    spoil(file)
    with pytest.raises(TableError, match=message):
        TableFile(game, "plusminus", file)
