"""The table of languages: the files of each kit, and the commands that build, start and test a bot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.base.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Language:
    """A language with a kit.

    Attributes:
        name: the value of ``--language``.
        main: the file for the author's idea.
        build: the command that fills ``build/``; empty if there is nothing to build.
        test: the shell command that tests the codec, in the bot's directory.
        packages: the Debian packages with the programs in ``tools``.
        library: a maintained msgpack library of the language, for authors who want more than the kit's codec.
    """

    name: str
    title: str
    main: str
    command: tuple[str, ...]
    build: tuple[str, ...]
    test: str
    tools: tuple[str, ...]
    packages: str
    library: str
    aliases: tuple[str, ...] = ()


_TABLE = (
    Language(
        "python",
        "Python with arena.botkit",
        "bot.py",
        ("python3", "bot.py"),
        (),
        "python3 test_bot.py",
        (),
        "",
        "the botkit reads and writes frames with msgpack-python",
        ("py", "botkit"),
    ),
    Language(
        "python-plain",
        "Python with nothing but msgpack",
        "bot.py",
        ("python3", "bot.py"),
        (),
        "python3 test_wire.py",
        (),
        "",
        "msgpack-python, which is used here",
        ("msgpack",),
    ),
    Language(
        "c",
        "C",
        "bot.c",
        ("build/bot",),
        ("cc", "-std=c11", "-O2", "-Wall", "-o", "build/bot", "bot.c", "wire.c"),
        "mkdir -p build && cc -std=c11 -Wall -o build/test_wire test_wire.c wire.c && build/test_wire",
        ("cc",),
        "gcc libc6-dev",
        "msgpack-c",
    ),
    Language(
        "cpp",
        "C++",
        "bot.cpp",
        ("build/bot",),
        ("c++", "-std=c++17", "-O2", "-Wall", "-o", "build/bot", "bot.cpp"),
        "mkdir -p build && c++ -std=c++17 -Wall -o build/test_wire test_wire.cpp && build/test_wire",
        ("c++",),
        "g++",
        "msgpack-cxx, or nlohmann/json with its from_msgpack",
        ("c++", "cxx"),
    ),
    Language(
        "rust",
        "Rust",
        "bot.rs",
        ("build/bot",),
        ("rustc", "--edition=2021", "-C", "opt-level=2", "-o", "build/bot", "bot.rs"),
        "mkdir -p build && rustc --edition=2021 -o build/test_wire test_wire.rs && build/test_wire",
        ("rustc",),
        "rustc",
        "rmp-serde",
        ("rs",),
    ),
    Language(
        "go",
        "Go",
        "bot.go",
        ("build/bot",),
        ("go", "build", "-o", "build/bot", "."),
        "go test .",
        ("go",),
        "golang-go",
        "vmihailenco/msgpack",
        ("golang",),
    ),
    Language(
        "javascript",
        "JavaScript for Node",
        "bot.js",
        ("node", "bot.js"),
        (),
        "node test_wire.js",
        ("node",),
        "nodejs",
        "@msgpack/msgpack",
        ("js", "node", "nodejs"),
    ),
    Language(
        "java",
        "Java",
        "Bot.java",
        ("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", "build", "Bot"),
        ("javac", "-d", "build", "Bot.java", "Wire.java"),
        "mkdir -p build && javac -d build Wire.java TestWire.java && java -cp build TestWire",
        ("java", "javac"),
        "default-jdk-headless",
        "msgpack-java",
    ),
)

LANGUAGES: Mapping[str, Language] = {language.name: language for language in _TABLE}


def find_language(name: str) -> Language:
    """Return a language by its name or an alias; raise UnknownNameError for any other."""
    for language in _TABLE:
        if name.lower() in (language.name, *language.aliases):
            return language
    raise UnknownNameError("language", name, LANGUAGES)
