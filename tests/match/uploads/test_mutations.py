import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.match.uploads.entry import RejectedError
from tests.match.uploads.archives import BOT, File, bot_tar, bot_zip, pax, tar_file, tar_header, tree, unpack_here

GOOD_ZIP = bot_zip(
    File(b"lib/", b"", mode=0o40755),
    File(b"lib/a.py", BOT * 20, 8),
    File("lib/é.py".encode(), b"x", flags=1 << 11),
    File(b"run", b"#!/bin/sh\n", mode=0o100755),
    comment=b"0" * 40,
)
GOOD_TAR = bot_tar(
    tar_header(b"lib/", kind=b"5", mode=0o755),
    tar_file(b"lib/a.py", BOT * 20),
    pax((b"path", "lib/é.py".encode()), (b"mtime", b"1.5")),
    tar_file(b"other", b"x"),
    tar_file(b"././@LongLink", b"lib/" + b"n" * 120 + b"\0", kind=b"L", magic=b"ustar  \0"),
    tar_file(b"n", b"y", magic=b"ustar  \0", mode=0o755),
)
GOOD = {
    "b.zip": GOOD_ZIP,
    "b.tar": GOOD_TAR,
    "b.tar.gz": gzip.compress(GOOD_TAR, mtime=0),
    "b.tar.xz": lzma.compress(GOOD_TAR),
    "b.tar.bz2": bz2.compress(GOOD_TAR),
}

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

NUMBERS = st.sampled_from(
    [
        *(b"\0", b"\xff", b"\x01", b"/", b"..", b"../", b"\\", b"2", b"L", b"x", b"g"),
        *(b"PK\x05\x06", b"PK\x01\x02", b"PK\x03\x04", b"\xff" * 4, b"\0" * 4),
        *(b"\0" * 512, b"77777777777", b"\x80" + bytes(11), b"ustar  \0"),
    ]
)


@st.composite
def damaged(draw, good):
    data = bytearray(good)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(data) - 1))
        to = min(len(data), place + draw(st.integers(1, 64)))
        how = draw(st.sampled_from(["replace", "number", "insert", "remove", "copy", "cut"]))
        if how == "replace":
            data[place] ^= draw(st.integers(1, 255))
        elif how == "number":
            number = draw(NUMBERS)
            data[place : place + len(number)] = number
        elif how == "insert":
            data[place:place] = draw(NUMBERS)
        elif how == "remove":
            del data[place:to]
        elif how == "copy":
            other = draw(st.integers(0, len(data)))
            data[other:other] = data[place:to]
        else:
            del data[place:]
        if not data:
            return b""
    return bytes(data)


def with_checksums(data):
    """Return a tar in which every header has its right checksum, so that what it says is looked at."""
    blocks = bytearray(data)
    for place in range(0, len(data) - 511, 512):
        if blocks[place + 257 : place + 262] == b"ustar":
            blocks[place + 148 : place + 156] = b" " * 8
            blocks[place + 148 : place + 156] = b"%06o\0 " % sum(blocks[place : place + 512])
    return bytes(blocks)


def unpacked(data, name):
    with TemporaryDirectory() as temporary:
        root = Path(temporary)
        try:
            unpack_here(data, name, root)
        except RejectedError as error:
            assert str(error).isprintable()
            return None
        finally:
            assert {path.name for path in root.iterdir()} == {"tree", "upload"}
            assert (root / "upload").read_bytes() == data
            found = {path: held for path, (held, _) in tree(root / "tree").items()}
        return found


def by_zipfile(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}


def by_tarfile(data):
    """Return the files in a tar; None if Python refuses it, for an owner or a time that is no number."""
    with contextlib.suppress(tarfile.ReadError), tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        files = (info for info in archive if not info.isdir())
        return {info.name.removeprefix("./"): archive.extractfile(info).read() for info in files}


@pytest.mark.parametrize("name", GOOD)
def test_they_are_good_before(name):
    assert unpacked(GOOD[name], name) == (by_zipfile if name == "b.zip" else by_tarfile)(GOOD[name])


@pytest.mark.slow(sample=True)
@settings(max_examples=150, deadline=None)
@given(damaged(GOOD_ZIP))
def test_a_damaged_zip(data):
    found = unpacked(data, "b.zip")
    if found is not None:
        assert found == by_zipfile(data)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(damaged(GOOD_TAR).map(with_checksums))
def test_a_damaged_tar(data):
    found = unpacked(data, "b.tar")
    if found is not None:
        assert by_tarfile(data) in (None, found)


@pytest.mark.parametrize("name", ["b.tar.gz", "b.tar.xz", "b.tar.bz2"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_damaged_compressed_tar(name, data):
    found = unpacked(data.draw(damaged(GOOD[name])), name)
    if found is not None:
        assert found == unpacked(GOOD_TAR, "b.tar")
