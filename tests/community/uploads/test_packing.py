import os

import pytest

from arena.base.errors import BotDefinitionError
from arena.community.uploads.unpacking import packed, unpack

MANIFEST = 'name = "mine"\nversion = "1"\ncommand = ["python3", "bot.py"]\n'


@pytest.fixture
def bot(tmp_path):
    directory = tmp_path / "mine"
    (directory / "data").mkdir(parents=True)
    (directory / "bot.toml").write_text(MANIFEST)
    (directory / "bot.py").write_text("print()\n")
    (directory / "data" / "table").write_bytes(bytes(range(256)) * 100)
    (directory / "tool").write_text("#!/bin/sh\n")
    (directory / "tool").chmod(0o755)
    (directory / "__pycache__").mkdir()
    (directory / "__pycache__" / "bot.pyc").write_bytes(b"old")
    return directory


def read(path):
    with packed(path) as one:
        data = one.file.read()
        assert len(data) == one.size_bytes
        return one.name, data


def test_the_same_files_give_the_same_bytes_whenever_and_wherever_they_were_written(bot, tmp_path):
    name, data = read(bot)
    assert name == "mine.tar.gz"
    os.utime(bot / "bot.py", (1, 1))
    other = tmp_path / "elsewhere" / "mine"
    other.parent.mkdir()
    bot.rename(other)
    assert read(other) == (name, data)
    (other / "bot.py").write_text("print(1)\n")
    assert read(other)[1] != data


def test_what_is_packed_is_what_is_unpacked(bot, tmp_path):
    name, data = read(bot)
    archive = tmp_path / name
    archive.write_bytes(data)
    unpacked = unpack(archive, tmp_path / "out")
    found = {path.relative_to(unpacked.bot).as_posix(): path for path in unpacked.bot.rglob("*") if path.is_file()}
    assert set(found) == {"bot.toml", "bot.py", "data/table", "tool"}
    assert found["data/table"].read_bytes() == bytes(range(256)) * 100
    assert os.access(found["tool"], os.X_OK)
    assert not found["bot.py"].stat().st_mode & 0o100


def test_a_file_is_submitted_as_it_is_and_what_is_no_bot_is_rejected(bot, tmp_path):
    assert read(bot / "bot.py") == ("bot.py", b"print()\n")
    (tmp_path / "no bot").mkdir()
    for name in ("nothing.py", "no bot"):
        with pytest.raises(BotDefinitionError):
            read(tmp_path / name)
