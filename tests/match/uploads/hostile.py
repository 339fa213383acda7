import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib

from tests.match.uploads.archives import (
    BOT,
    MANIFEST,
    File,
    bot_tar,
    bot_zip,
    deflated,
    deflated_zeros,
    extra_field,
    make_tar,
    make_zip,
    pax,
    tar_file,
    tar_header,
)

MANY = "it has more than 2,000 files and directories"
MUCH = "it unpacks to more than 100 times its size"
NO_END = "it ends without the two blocks of zeros"


def evil(data=BOT, method=0, **fields):
    return File(b"evil", data, method, **fields)


def lying(data=BOT, method=0, **fields):
    """A file of which both headers say this."""
    return evil(data, method, local=fields, central=fields)


PATHS = {
    "absolute": (b"/etc/evil", "'/etc/evil': an absolute path; expected a path below the bot's directory"),
    "upwards": (b"../../evil.py", "'../../evil.py': '..' in a path"),
    "upwards inside": (b"a/../evil.py", "'a/../evil.py': '..' in a path"),
    "upwards at the end": (b"a/..", "'a/..': '..' in a path"),
    "twice a slash": (b"a//evil.py", "'a//evil.py': an empty name"),
    "a dot inside": (b"a/./evil.py", "'a/./evil.py': '.' inside a path"),
    "backslash": (b"..\\..\\evil.py", "a backslash in a name; expected '/' between names"),
    "drive": (b"C:/evil.py", "'C:/evil.py': a path with a drive letter"),
    "stream": (b"bot.py:evil", "':' in a name; expected none of <>:\"|?*"),
    "wildcard": (b"evil*.py", "'*' in a name"),
    "device": (b"CON", "'CON': a name that is a device on Windows"),
    "device with a suffix": (b"a/nul.txt", "'a/nul.txt': a name that is a device"),
    "device with a number": (b"com1.tar.py", "'com1.tar.py': a name that is a device"),
    "device with a space": (b"aux .py", "'aux .py': a name that is a device"),
    "dot at the end": (b"a./evil.py", "'a./evil.py': a name that ends with '.'"),
    "space at the end": (b"evil.py ", "'evil.py ': a name that ends with ' '"),
    "line break": (b"evil\n.py", "'evil\\n.py': a name with characters that can't be seen"),
    "escape": (b"\x1b[2Jevil.py", "'\\x1b[2Jevil.py': a name with characters that can't be seen"),
    "right to left": ("evil\u202egnp.py".encode(), "'evil\\u202egnp.py': a name with characters that can't be seen"),
    "no width": ("ev\u200bil.py".encode(), "'ev\\u200bil.py': a name with characters that can't be seen"),
    "not UTF-8": (b"\xff\xfe.py", "'\\\\xff\\\\xfe.py': a name that is not UTF-8; expected UTF-8"),
    "overlong UTF-8": (b"\xc0\xaf.py", "a name that is not UTF-8"),
    "long name": (b"e" * 151, "a name of 151 bytes; expected at most 150"),
    "long path": (b"/".join([b"evil"] * 101), "a path of 504 bytes; expected at most 500"),
    "deep": (b"d/" * 17 + b"evil.py", "directories more than 16 deep"),
}

CLASHES = {
    "twice": ((b"evil.py", b"evil.py"), "'evil.py' is in it twice; expected every name once"),
    "twice with a dot": ((b"evil.py", b"./evil.py"), "'evil.py' is in it twice"),
    "case": ((b"Evil.py", b"evil.py"), "'Evil.py' and 'evil.py' are one name where case"),
    "case of a directory": ((b"lib/a.py", b"LIB/b.py"), "'lib' and 'LIB' are one name where case"),
    "sharp s": (("straße".encode(), b"STRASSE"), "'straße' and 'STRASSE' are one name"),
    "accents": (("é.py".encode(), b"e\xcc\x81.py"), "are one name where case or the form of accents doesn't count"),
    "file and directory": ((b"evil", b"evil/a.py"), "'evil' is both a file and a directory"),
    "directory and file": ((b"evil/a.py", b"evil"), "'evil' is both a file and a directory"),
}

ZIP_KINDS = {
    "symbolic link": (evil(b"/etc/passwd", mode=0o120777), "'evil' is a symbolic link; expected files and"),
    "pipe": (evil(mode=0o010644), "'evil' is a pipe"),
    "socket": (evil(mode=0o140644), "'evil' is a socket"),
    "character device": (evil(mode=0o020644), "'evil' is a device"),
    "block device": (evil(mode=0o060644), "'evil' is a device"),
    "unknown type": (evil(mode=0o170644), "'evil': mode 170644, and the name of a file"),
    "link of Windows": (evil(attributes=0x400), "'evil' is a symbolic link"),
    "device of Windows": (evil(attributes=0x40), "'evil' is a device"),
    "setuid": (evil(mode=0o104755), "'evil': mode 4755, with set-user-id"),
    "setgid": (evil(mode=0o102755), "'evil': mode 2755, with set-user-id, set-group-id or sticky bits"),
    "sticky": (File(b"evil/", b"", mode=0o041777), "'evil/': mode 1777"),
    "directory without a slash": (evil(b"", mode=0o040755), "'evil': mode 40755, and the name of a file"),
    "file with a slash": (File(b"evil/", b"", mode=0o100644), "'evil/': mode 100644, and the name of a directory"),
    "directory of Windows": (evil(b"", attributes=0x10), "a directory by its attributes, but not by its name"),
    "directory with contents": (File(b"evil/", mode=0o040755), "'evil/': a directory with 22 bytes"),
}

NO_SIZES = {"size": 0xFFFFFFFF, "packed": 0xFFFFFFFF}

ZIP_HOW = {
    "encrypted": (evil(flags=1), "'evil': encrypted; expected files that anybody can read"),
    "encrypted strongly": (evil(flags=1 << 6), "'evil': flags 0x0040, for encryption"),
    "names encrypted": (evil(flags=1 << 13), "'evil': flags 0x2000"),
    "a patch": (evil(flags=1 << 5), "'evil': flags 0x0020"),
    "AES": (evil(method=99), "'evil': encrypted"),
    "bzip2": (evil(method=12), "'evil': compressed by bzip2 (12); expected Deflate (8), or not at all (0)"),
    "LZMA": (evil(method=14), "'evil': compressed by LZMA (14)"),
    "Deflate64": (evil(method=9), "'evil': compressed by Deflate64 (9)"),
    "unknown method": (evil(method=77), "'evil': compressed by a method (77)"),
    "no Deflate": (evil(method=8, packed=b"\xff" * 40), "'evil': its compressed data is damaged"),
    "Deflate in the middle": (
        evil(BOT * 9, method=8, packed=deflated(BOT * 9)[:-4]),
        "'evil': its compressed data ends in the middle",
    ),
    "bytes behind Deflate": (
        evil(method=8, packed=deflated(BOT) + b"hidden"),
        "'evil': its compressed data ends before the entry does",
    ),
    "a size too small": (lying(bytes(5000), method=8, size=10), "it holds more than the 10 bytes that it claims"),
    "a size too large": (lying(method=8, size=5000), "'evil': it holds 22 bytes and claims 5,000"),
    "stored and of another size": (lying(size=21), "'evil': it holds more than the 21 bytes"),
    "another CRC": (lying(crc=1), "and not 00000001: it is damaged"),
    "sizes that don't agree": (evil(local={"size": 23}), "'evil': 23 bytes before the file, 22 in the directory"),
    "CRCs that don't agree": (evil(local={"crc": 1}), "or other CRCs or compressed sizes; expected the same"),
    "names that don't agree": (evil(local={"name": b"good"}), "before the file 'good', 0x0000 and 0"),
    "methods that don't agree": (evil(local={"method": 8}), "before the file 'evil', 0x0000 and 8; expected the same"),
    "another name in Unicode": (
        evil(extra=extra_field(0x7075, b"\x01" + struct.pack("<L", zlib.crc32(b"evil")) + b"../evil")),
        "'evil': its other name is '../evil'; expected one name",
    ),
    "extra fields damaged": (evil(extra=struct.pack("<2H", 1, 500)), "'evil': its extra fields are damaged"),
    "zip64 in the directory": (
        evil(central={"size": 0xFFFFFFFF, "extra": extra_field(1, struct.pack("<Q", 22))}),
        "'evil': an entry in the manner of zip64; expected an ordinary zip",
    ),
    "zip64 that lies": (
        evil(local=NO_SIZES | {"extra": extra_field(1, struct.pack("<2Q", 1 << 40, 22))}),
        "'evil': 1,099,511,627,776 bytes before the file, 22 in the directory",
    ),
    "zip64 without its sizes": (evil(local=NO_SIZES), "'evil': an entry in the manner of zip64"),
    "no descriptor": (evil(flags=8), "'evil': the sizes behind it are not those in the directory"),
    "a descriptor that lies": (
        evil(flags=8, behind=b"PK\x07\x08" + struct.pack("<3L", zlib.crc32(BOT), 22, 23)),
        "'evil': the sizes behind it are not those in the directory",
    ),
    "bytes behind an entry": (evil(behind=b"hidden"), "'evil': 6 bytes lie behind it that are in no entry"),
    "an entry that is not listed": (evil(is_listed=False), "'bot.py': 56 bytes lie behind it"),
    "an offset outside": (evil(central={"offset": 1 << 20}), "bytes lie behind it that are in no entry"),
    "an entry of another disk": (evil(central={"disk": 1}), "'evil': an entry in the manner of zip64"),
    "no entry there": (evil(central={"signature": b"PK\x01\x01"}), "its directory is damaged"),
    "no header before the file": (evil(local={"signature": b"PK\x03\x05"}), "'evil': there is no entry at byte 163"),
    "a version of later": (evil(central={"version": 99}), "'evil': made for version 9.9 of zip"),
    "a comment outside": (evil(central={"comment_bytes": 999}), "its directory is damaged"),
    "a huge claim": (lying(size=1 << 31), "'evil': a file of more than 64 MiB; expected no more"),
}

HTML = b"<!DOCTYPE html><script>alert(1)</script>"


def overlapping():
    first = File(b"evil0", b"x" * 5000)
    return make_zip(first, File(b"evil0", b"x" * 5000, central={"offset": 0, "name": b"evil1"}, is_written=False))


def quoted():
    """Return a zip of which an entry holds the next one (David Fifield's bomb)."""
    inner = File(b"evil1", b"x" * 5000)
    size = len(make_zip(inner)) - len(make_zip(File(b"evil1", is_written=False)))
    outer = {"size": size, "packed": size}
    return make_zip(File(b"evil0", b"", local=outer, central=outer), inner)


def bomb(name, mebibytes, claimed=None, count=1):
    packed = deflated_zeros(mebibytes)
    size = (mebibytes << 20) if claimed is None else claimed
    changed = {"size": size, "crc": 0}
    files = [File(b"%s%d" % (name, number), b"", 8, packed, local=changed, central=changed) for number in range(count)]
    return make_zip(*files)


def python_zip64():
    """Return a zip with the records of zip64 at the end, as Python writes it for more than 65,535 files."""
    return bot_zip(
        between=b"PK\x06\x06" + struct.pack("<Q2H2L4Q", 44, 45, 45, 0, 0, 2, 2, 1, 1) + b"PK\x06\x07" + bytes(16)
    )


ZIPS = {
    "overlapping": (overlapping, "'evil0': it overlaps with what follows; expected entries behind each other"),
    "an entry in an entry": (quoted, "'evil0': it overlaps with what follows"),
    "a bomb": (lambda: bomb(b"evil", 60), MUCH),
    "a bomb of a file": (lambda: bomb(b"evil", 1024), "'evil0': a file of more than 64 MiB"),
    "a bomb that claims little": (lambda: bomb(b"evil", 1024, 1000), "'evil0': it holds more than the 1,000 bytes"),
    "many files": (lambda: bomb(b"evil", 0, 60 << 20, 9), "it unpacks to more than 128 MiB"),
    "60,000 entries": (
        lambda: make_zip(*(File(b"%d" % number, b"") for number in range(60_000))),
        "it has more than 2,000 files and directories; expected fewer, without",
    ),
    "2,001 directories": (lambda: make_zip(*(File(b"a%d/b/c/d" % number, b"") for number in range(700))), MANY),
    "more claimed": (lambda: bot_zip(end={"count": 3}), "its directory has fewer than the 3 entries that it claims"),
    "fewer claimed": (lambda: bot_zip(end={"count": 1}), "its directory has more than the 1 entries that it claims"),
    "the most claimed": (lambda: bot_zip(end={"count": 65535}), MANY),
    "another disk": (lambda: bot_zip(end={"disk": 1}), "it is one part of a zip in several"),
    "another count": (lambda: bot_zip(end={"on_disk": 1}), "it is one part of a zip in several"),
    "an empty zip": (make_zip, "it is empty; expected the files of a bot"),
    "only directories": (
        lambda: make_zip(File(b"a/", b"", mode=0o40755), File(b"a/b/", b"", mode=0o40755)),
        "there is no file in it; expected the files of a bot",
    ),
    "HTML before": (
        lambda: bot_zip(before=HTML),
        "it begins with the text '<!DOCTYP'; expected a zip, as its name says",
    ),
    "a program before": (lambda: bot_zip(before=b"MZ" + bytes(500)), "it begins with the bytes 4d 5a 00"),
    "an entry before": (lambda: bot_zip(before=make_zip(evil())[:57]), "its directory ends at byte"),
    "an entry before that counts": (
        lambda: make_zip(evil(is_listed=False), File(b"bot.py")),
        "56 bytes lie before its first entry; expected nothing before",
    ),
    "HTML behind": (lambda: bot_zip(behind=HTML), "40 bytes lie behind its end"),
    "much behind": (lambda: bot_zip(behind=HTML * 50), "it has no end: it is not whole, or something was added"),
    "a comment that is missing": (lambda: bot_zip(end={"comment_bytes": 9}), "9 bytes of its comment are missing"),
    "a long comment": (lambda: bot_zip(comment=b"c" * 1100), "it has no end"),
    "a zip in the comment": (lambda: bot_zip(comment=bot_zip()), "it has several ends; expected a zip that ends once"),
    "an end in the comment": (lambda: bot_zip(comment=b"PK\x05\x06" + bytes(18)), "it has several ends"),
    "half an end in the comment": (lambda: bot_zip(comment=b"PK\x05\x06" + bytes(30)), "12 bytes lie behind its end"),
    "two zips": (lambda: bot_zip() + bot_zip(), "its directory ends at byte"),
    "bytes before the end": (lambda: bot_zip(between=b"hidden"), "its directory ends at byte"),
    "a directory elsewhere": (lambda: bot_zip(end={"start": 0}), "expected nothing between"),
    "a directory far away": (lambda: bot_zip(end={"start": 0xFFFFFFF0}), "expected nothing between"),
    "zip64": (python_zip64, "it is a zip64; expected an ordinary zip, as zip64 is for more than 4 GiB or 65,535 files"),
    "zip64 by its size": (lambda: bot_zip(end={"size": 0xFFFFFFFF}), "it is a zip64"),
    "without its end": (lambda: bot_zip()[:-22], "it has no end: it is not whole"),
    "in the middle of its end": (lambda: bot_zip()[:-5], "it ends in the middle of its last record"),
    "its first half": (lambda: bot_zip()[:80], "it has no end"),
    "without its first byte": (lambda: bot_zip()[1:], "it begins with the bytes 4b 03 04"),
    "without a byte inside": (lambda: (data := bot_zip())[:60] + data[61:], "its directory ends at byte"),
    "four bytes": (lambda: b"PK\x03\x04", "a zip of 4 bytes; expected one with files in it"),
    "nothing": (lambda: b"", "an empty file; expected a zip, as its name says"),
    "gzip": (lambda: gzip.compress(bot_tar()), "gzip; expected a zip, as its name says"),
    "without a manifest": (
        lambda: make_zip(File(b"a.py"), File(b"b.py")),
        "there is no bot.toml at its top or in its only directory, but 'a.py', 'b.py'; expected one",
    ),
    "two bots": (
        lambda: make_zip(File(b"a/bot.toml", MANIFEST), File(b"b/bot.toml", MANIFEST)),
        "there is no bot.toml at its top or in its only directory, but 'a', 'b'",
    ),
}

TAR_KINDS = {
    "hard link": (tar_header(b"evil", kind=b"1", link=b"bot.py"), "'evil' is a hard link"),
    "symbolic link": (tar_header(b"evil", kind=b"2", link=b"/etc"), "'evil' is a symbolic link"),
    "character device": (tar_header(b"evil", kind=b"3"), "'evil' is a device"),
    "block device": (tar_header(b"evil", kind=b"4"), "'evil' is a device"),
    "pipe": (tar_header(b"evil", kind=b"6"), "'evil' is a pipe"),
    "contiguous": (tar_header(b"evil", kind=b"7"), "'evil' is an entry of type '7'"),
    "long link": (tar_file(b"evil", b"a" * 200 + b"\0", kind=b"K"), "'evil' is a link with a long target"),
    "sparse": (tar_header(b"evil", kind=b"S", magic=b"ustar  \0"), "'evil' is a sparse file"),
    "unknown type": (tar_header(b"evil", kind=b"\xff"), "'evil' is an entry of type '\\\\xff'"),
    "setuid": (tar_file(b"evil", mode=0o4755), "'evil': mode 4755, with set-user-id"),
    "sticky": (tar_header(b"evil/", kind=b"5", mode=0o1777), "'evil/': mode 1777"),
    "a link by its mode": (tar_file(b"evil", mode=0o120777), "'evil': its mode or its name is not that of its type"),
    "file with a slash": (tar_file(b"evil/"), "'evil/': its mode or its name is not that of its type"),
    "directory with contents": (tar_file(b"evil/", kind=b"5"), "'evil/': a directory with 22 bytes"),
    "checksum": (tar_header(b"evil", checksum=1), "it is damaged, or no tar: there is no header where one should be"),
    "no header": (b"x" * 512, "it is damaged, or no tar"),
    "a signed size": (tar_header(b"evil", size_field=b"-0000000001\0"), "a size or a mode that is no octal number"),
    "8 GiB": (tar_header(b"evil", size_field=b"\x80" + bytes(3) + (1 << 33).to_bytes(8, "big")), "below 8 GiB"),
    "an owner of letters": (tar_header(b"evil", owner=b"rootroot"), "'evil': an owner, a time or a device that is no"),
    "an incremental tar": (tar_file(b"evil", magic=b"ustar  \0", prefix=b"1"), "an entry of an incremental tar"),
    "a negative size": (tar_header(b"evil", size_field=b"\xff" * 12), "a size or a mode that is no octal number"),
    "a huge size": (tar_header(b"evil", size=1 << 30), "'evil': a file of more than 64 MiB; expected no more"),
    "a size too large": (tar_header(b"evil", size=5000), "'evil': 3,976 of its 5,000 bytes are missing"),
    "a size too small": (tar_file(b"evil", b"x" * 2000, size=10), "it is damaged, or no tar"),
    "pax with a size": (pax((b"size", b"9999999")) + tar_file(b"evil"), "a pax header says 'size' = '9999999'"),
    "pax with a link": (pax((b"linkpath", b"/etc")) + tar_file(b"evil"), "a pax header says 'linkpath' = '/etc'"),
    "pax with a charset": (pax((b"hdrcharset", b"BINARY")) + tar_file(b"evil"), "a pax header says 'hdrcharset'"),
    "pax sparse": (pax((b"GNU.sparse.major", b"1")) + tar_file(b"evil"), "a pax header says 'GNU.sparse.major' = '1'"),
    "pax upwards": (pax((b"path", b"../evil")) + tar_file(b"good"), "'../evil': '..' in a path"),
    "pax with a NUL": (pax((b"path", b"evil\0.py")) + tar_file(b"good"), "'evil\\x00.py': a NUL in a name"),
    "pax with two paths": (pax((b"path", b"a"), (b"path", b"b")) + tar_file(b"c"), "a pax header says 'path' = 'b'"),
    "pax with no path": (pax((b"path", b"")) + tar_file(b"c"), "a pax header says 'path' = ''"),
    "pax for all": (pax((b"path", b"evil"), kind=b"g") + tar_file(b"c"), "a pax header says 'path' = 'evil'"),
    "pax damaged": (tar_file(b"pax", b"99 path=a\n", kind=b"x"), "a pax header is damaged; expected lines of a length"),
    "pax without a length": (tar_file(b"pax", b"path=a\n", kind=b"x"), "a pax header is damaged"),
    "much pax": (pax((b"comment", b"c" * 20_000)), "'pax': a header of 20,015 bytes for a long name or attributes"),
    "pax of gigabytes": (tar_header(b"pax", size=1 << 32, kind=b"x"), "a header of 4,294,967,296 bytes"),
    "long name": (tar_file(b"L", b"n" * 9000 + b"\0", kind=b"L") + tar_file(b"a"), "a path of 9,000 bytes"),
    "long name of gigabytes": (tar_header(b"L", size=1 << 32, kind=b"L"), "a header of 4,294,967,296 bytes"),
    "long name upwards": (tar_file(b"L", b"../evil\0", kind=b"L") + tar_file(b"a"), "'../evil': '..' in a path"),
    "long name alone": (tar_file(b"L", b"evil\0", kind=b"L"), "'evil': a long name without an entry"),
    "two long names": (pax((b"path", b"a")) + tar_file(b"L", b"b\0", kind=b"L"), "'b': one entry with two long names"),
    "upwards by its prefix": (tar_file(b"evil", prefix=b".."), "'../evil': '..' in a path"),
}

TARS = {
    "60,000 entries": (lambda: make_tar(*(tar_header(b"%d" % number) for number in range(60_000))), MANY),
    "60,000 pax headers": (lambda: make_tar(pax((b"comment", b"c")) * 60_000, tar_file(b"bot.py")), MANY),
    "no end": (lambda: bot_tar(end=b""), "it ends without the two blocks of zeros at the end of a tar"),
    "half a block": (lambda: bot_tar(end=b"")[:-100], "it ends in the middle of a block; expected a whole tar"),
    "half an end": (lambda: bot_tar(end=bytes(512)), "it ends with one block of zeros"),
    "half a header": (lambda: bot_tar(tar_header(b"evil")[:300], end=b""), NO_END),
    "an entry behind a block of zeros": (
        lambda: bot_tar(bytes(512), tar_file(b"evil")),
        "it ends with one block of zeros; expected the two at the end of a tar, and all before",
    ),
    "an entry behind the end": (lambda: bot_tar(bytes(1024), tar_file(b"evil")), "something lies behind its end"),
    "a zip behind": (lambda: bot_tar() + bot_zip(), "something lies behind its end"),
    "an empty tar": (lambda: bytes(10240), "it begins with the bytes 00 00"),
    "only directories": (lambda: make_tar(tar_header(b"a/", kind=b"5")), "there is no file in it"),
    "a tar of long ago": (lambda: bot_tar().replace(b"ustar\x0000", bytes(8)), "expected a tar, as its name says"),
    "a zip": (bot_zip, "a zip; expected a tar, as its name says"),
}


def xz_of_memory():
    data = bytearray(lzma.compress(bot_tar()))
    header_bytes = (data[12] + 1) * 4
    assert data[14:16] == b"\x21\x01"
    data[16] = 37
    data[12 + header_bytes - 4 : 12 + header_bytes] = struct.pack("<L", zlib.crc32(data[12 : 12 + header_bytes - 4]))
    return bytes(data)


GZIP_START = b"\x1f\x8b\x08" + bytes(7)


COMPRESSED = {
    "gzip of zeros": ("b.tar.gz", lambda: GZIP_START + deflated_zeros(1024), "something lies behind its end; expected"),
    "gzip of zeros behind the end": (
        "b.tar.gz",
        lambda: GZIP_START + with_zeros(bot_tar(), 1024),
        "something lies behind its end; expected nothing there but zeros, at most 1,048,576",
    ),
    "gzip in the middle": ("b.tgz", lambda: gzip.compress(bot_tar())[:-20], "its gzip ends in the middle"),
    "gzip without its CRC": ("b.tgz", lambda: gzip.compress(bot_tar())[:-8], "its gzip ends in the middle"),
    "gzip with another CRC": (
        "b.tgz",
        lambda: (data := gzip.compress(bot_tar()))[:-8] + b"\0\0\0\0" + data[-4:],
        "its gzip is damaged; expected what gzip makes",
    ),
    "two gzips": ("b.tgz", lambda: gzip.compress(bot_tar()) * 2, "something lies behind the end of its gzip"),
    "HTML behind gzip": ("b.tgz", lambda: gzip.compress(bot_tar()) + HTML, "something lies behind the end of its gzip"),
    "gzip in gzip": ("b.tgz", lambda: gzip.compress(gzip.compress(bot_tar())), NO_END),
    "a zip in gzip": ("b.tgz", lambda: gzip.compress(bot_zip()), NO_END),
    "gzip of nothing": ("b.tgz", lambda: gzip.compress(b""), NO_END),
    "bzip2 of zeros": ("b.tar.bz2", lambda: bz2.compress(tar_file(b"evil", bytes(60 << 20))), MUCH),
    "bzip2 damaged": ("b.tar.bz2", lambda: bz2.compress(bot_tar())[:60] + bytes(99), "its bzip2 is damaged"),
    "bzip2 in the middle": ("b.tbz2", lambda: bz2.compress(bot_tar())[:-9], "its bzip2 ends in the middle"),
    "xz of zeros": ("b.tar.xz", lambda: lzma.compress(tar_file(b"evil", bytes(60 << 20))), MUCH),
    "xz of much memory": ("b.tar.xz", xz_of_memory, "unpacking its xz takes more than 80 MiB of memory"),
    "xz in the middle": ("b.txz", lambda: lzma.compress(bot_tar())[:-9], "its xz ends in the middle"),
    "two xz": ("b.txz", lambda: lzma.compress(bot_tar()) * 2, "something lies behind the end of its xz"),
    "a link in gzip": (
        "b.tar.gz",
        lambda: gzip.compress(bot_tar(tar_header(b"evil", kind=b"2", link=b"/"))),
        "'evil' is a symbolic link",
    ),
    "bzip2 by name only": ("b.tar.bz2", lambda: gzip.compress(bot_tar()), "gzip; expected a tar in bzip2, as its name"),
    "uncompressed": ("b.tar.gz", bot_tar, "a tar; expected a tar in gzip, as its name says"),
}


def with_zeros(data, mebibytes):
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush(zlib.Z_FULL_FLUSH) + deflated_zeros(mebibytes)


def by_library():
    link = tarfile.TarInfo("evil")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.addfile(link)
    yield "a link by tarfile", "b.tar.gz", buffer.getvalue(), "'evil' is a symbolic link"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("evil", b"x" * 100)
    yield "LZMA by zipfile", "b.zip", buffer.getvalue(), "compressed by LZMA (14)"


def hostile():
    for what, (path, message) in PATHS.items():
        yield f"zip: {what}", "b.zip", lambda path=path: bot_zip(File(path)), message
        entry = tar_file(path) if len(path) <= 100 else pax((b"path", path)) + tar_file(b"long")
        yield f"tar: {what}", "b.tar", lambda entry=entry: bot_tar(entry), message
    for what, (paths, message) in CLASHES.items():
        yield f"zip: {what}", "b.zip", lambda paths=paths: bot_zip(*map(File, paths)), message
        yield f"tar: {what}", "b.tar", lambda paths=paths: bot_tar(*map(tar_file, paths)), message
    yield "zip: NUL", "b.zip", lambda: bot_zip(File(b"evil.py\0.txt")), "'evil.py\\x00.txt': a NUL in a name"
    for what, (file, message) in (ZIP_KINDS | ZIP_HOW).items():
        yield f"zip: {what}", "b.zip", lambda file=file: bot_zip(file), message
    for what, (make, message) in ZIPS.items():
        yield f"zip: {what}", "b.zip", make, message
    for what, (part, message) in TAR_KINDS.items():
        yield f"tar: {what}", "b.tar", lambda part=part: bot_tar(part), message
    for what, (make, message) in TARS.items():
        yield f"tar: {what}", "b.tar", make, message
    for what, (name, make, message) in COMPRESSED.items():
        yield what, name, make, message
    for what, name, data, message in by_library():
        yield what, name, lambda data=data: data, message


HOSTILE = {what: (name, make, message) for what, name, make, message in hostile()}
