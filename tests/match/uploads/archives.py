"""Archives built byte by byte, so that any of their fields may lie."""

import stat
import struct
import zlib
from dataclasses import dataclass, field

from arena.match.uploads.entry import DEFAULT_LIMITS
from arena.match.uploads.unpacker import format_by_name, unpack_below

MANIFEST = b'name = "b"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'
BOT = b"import sys\nsys.exit()\n"


def deflated(data):
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush()


def deflated_zeros(mebibytes):
    """Return what unpacks to some MiB of zeros, made in no time: the same blocks again and again."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = compressor.compress(bytes(1 << 20)) + compressor.flush(zlib.Z_FULL_FLUSH)
    return piece * mebibytes + deflated(b"")


@dataclass
class File:
    """An entry of a zip; ``local`` and ``central`` are the fields that differ in its two headers."""

    name: bytes
    data: bytes = BOT
    method: int = 0
    packed: bytes | None = None  # the compressed data, if that isn't what comes out of ``data``
    mode: int = 0o100644
    attributes: int = 0
    flags: int = 0
    extra: bytes = b""
    local: dict = field(default_factory=dict)
    central: dict = field(default_factory=dict)
    behind: bytes = b""  # the data, such as a descriptor
    is_listed: bool = True
    is_written: bool = True

    def stored(self):
        if self.packed is not None:
            return self.packed
        return deflated(self.data) if self.method == 8 else self.data

    def values(self, changed):
        sizes = {"crc": zlib.crc32(self.data), "packed": len(self.stored()), "size": len(self.data)}
        return {"flags": self.flags, "method": self.method, "name": self.name, "extra": self.extra, **sizes, **changed}


def local_header(values):
    signature = values.get("signature", b"PK\x03\x04")
    return struct.pack("<4sH", signature, 20) + common_fields(values) + values["name"] + values["extra"]


def common_fields(values):
    sizes = (values["crc"], values["packed"], values["size"], len(values["name"]), len(values["extra"]))
    return struct.pack("<4H3L2H", values["flags"], values["method"], 0, 0x21, *sizes)


def central_header(values, mode, attributes, offset):
    begin = struct.pack("<4s2H", values.get("signature", b"PK\x01\x02"), 3 << 8 | 20, values.get("version", 20))
    place = (values.get("comment_bytes", 0), values.get("disk", 0), 0, mode << 16 | attributes)
    end = struct.pack("<3H2L", *place, values.get("offset", offset))
    return begin + common_fields(values) + end + values["name"] + values["extra"]


def make_zip(*files, before=b"", between=b"", behind=b"", comment=b"", end=None):
    """Return a zip with other bytes before, between or behind, and fields of the end record that differ."""
    bodies, headers, offset = [], [], 0
    for file in files:
        if file.is_listed:
            headers.append(central_header(file.values(file.central), file.mode, file.attributes, offset))
        if file.is_written:
            bodies.append(local_header(file.values(file.local)) + file.stored() + file.behind)
            offset += len(bodies[-1])
    body, directory = b"".join(bodies), b"".join(headers)
    count = sum(file.is_listed for file in files)
    values = {"disk": 0, "count": count, "size": len(directory), "start": len(body), "comment_bytes": len(comment)}
    values |= end or {}
    counts = (values["disk"], values["disk"], values.get("on_disk", values["count"]), values["count"])
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", *counts, values["size"], values["start"], values["comment_bytes"])
    return before + body + directory + between + tail + comment + behind


def bot_zip(*files, **others):
    return make_zip(File(b"bot.toml", MANIFEST), File(b"bot.py"), *files, **others)


def extra_field(number, data):
    return struct.pack("<2H", number, len(data)) + data


def octal(value, width):
    return b"%0*o\0" % (width - 1, value)


def tar_header(name, size=0, kind=b"0", mode=0o644, magic=b"ustar\x0000", prefix=b"", link=b"", **fields):
    """Return a header; ``size_field`` and ``owner`` are bytes in the place of their numbers."""
    owner, size_field = fields.get("owner", octal(1000, 8)), fields.get("size_field", octal(size, 12))
    block = name.ljust(100, b"\0") + octal(mode, 8) + owner + octal(1000, 8) + size_field + octal(0, 12) + b" " * 8
    block += kind + link.ljust(100, b"\0") + magic + bytes(80) + prefix.ljust(155, b"\0") + bytes(12)
    assert len(block) == 512
    return block[:148] + b"%06o\0 " % fields.get("checksum", sum(block)) + block[156:]


def tar_file(name, data=BOT, **others):
    return tar_header(name, others.pop("size", len(data)), **others) + data + bytes(-len(data) % 512)


def pax(*pairs, kind=b"x"):
    lines = b""
    for key, value in pairs:
        rest = b" " + key + b"=" + value + b"\n"
        count = len(rest) + len(str(len(rest) + 1))
        count = len(rest) + len(str(count))
        lines += str(count).encode() + rest
    return tar_file(b"pax", lines, kind=kind)


TAR_END = bytes(1024)


def make_tar(*parts, end=TAR_END):
    return b"".join(parts) + end


def bot_tar(*parts, end=TAR_END):
    return make_tar(tar_file(b"bot.toml", MANIFEST), tar_file(b"bot.py"), *parts, end=end)


def unpack_here(data, name, place):
    """Unpack in this process, from the file ``upload`` into the directory ``tree``."""
    (place / "upload").write_bytes(data)
    (place / "tree").mkdir()
    with (place / "upload").open("rb") as upload:
        unpack_below(upload.fileno(), format_by_name(name), place / "tree", DEFAULT_LIMITS)


def tree(directory):
    found = {}
    for path in directory.rglob("*"):
        mode = path.lstat().st_mode
        assert stat.S_ISDIR(mode) or stat.S_ISREG(mode)
        if stat.S_ISREG(mode):
            found[str(path.relative_to(directory))] = (path.read_bytes(), bool(mode & 0o100))
    return found
