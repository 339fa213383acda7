"""The table of languages: what a kit's programs are called, and how a bot in it is built, started and tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Language:
    """A language there is a kit for.

    Attributes:
        name: as it is written after ``--language``.
        title: as it is written in sentences.
        main: the file with the place for the author's idea.
        command: starts the bot, in its directory.
        build: makes ``build/``; empty where nothing is to be built.
        test: tests the codec, as a line for a shell in the bot's directory.
        tools: the programs that have to be on the machine.
        packages: Debian's packages that bring them.
        library: a well-kept msgpack library of the language, for those who want more than the kit's own codec.
        aliases: other names it goes by.
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
    """Return a language by its name or another name it goes by.

    Raises:
        UnknownNameError: if there is no kit for it.
    """
    for language in _TABLE:
        if name.lower() in (language.name, *language.aliases):
            return language
    raise UnknownNameError("language", name, LANGUAGES)
