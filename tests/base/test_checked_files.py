"""Strict reading of TOML: every key of every table is given every wrong value, and each gets a sentence of ours."""

import os
import re
import types
import typing

import pytest
from pydantic import BaseModel

from arena.base.checked_files import MAX_BYTES, accepted_at, check_model, read_toml
from arena.base.errors import UsageError
from arena.match.players.manifest import _Manifest
from arena.tournament.tournament_file import TournamentFile

VALUES = (
    '"x"', '""', f'"{"x" * 2000}"', '"a\\u0000b"', '"3"', "0", "-7", "7", str(2**62), "0.5", "inf", "nan", "true",
    "2020-01-01", "07:32:00", "1979-05-27T07:32:00Z", "[]", "[1, 2]", '[["x"]]', '["x"]', "{}", "{ x = 1 }",
    "[{ x = 1 }]",
)  # fmt: skip

OF_PYTHON = re.compile(
    r"datetime|Decimal|\bNone\b|\bTrue\b|\bFalse\b|\bint\b|\bfloat\b|\bstr\b|\bdict|Input|[Vv]alid |pydantic|instance"
    r"|should|Table\b|function-|\{'|integer|string|boolean"
)

SMALLEST = {TournamentFile: 'entrants = [{ bot = "a" }, { bot = "b" }]', _Manifest: 'name = "x"\ncommand = ["x"]'}


def keys_of(model, prefix=()):
    for name, field in model.model_fields.items():
        yield (*prefix, name)
        for inner in models_in(field.annotation):
            is_list = typing.get_origin(without_none(field.annotation)) is list
            yield from keys_of(inner, (*prefix, name, 0) if is_list else (*prefix, name))


def without_none(annotation):
    if isinstance(annotation, types.UnionType):
        (annotation,) = [part for part in annotation.__args__ if part is not types.NoneType]
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = annotation.__origin__
    return annotation


def models_in(annotation):
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from models_in(part)


KEYS = [(model, path) for model in (TournamentFile, _Manifest) for path in keys_of(model)]


def with_value(path, text):
    for part in reversed(path[1:]):
        text = f"[{text}]" if part == 0 else f"{{ {part} = {text} }}"
    return f"{path[0]} = {text}"


def fault_of(model, text, tmp_path):
    path = tmp_path / "f.toml"
    path.write_text(text)
    try:
        check_model(model, read_toml(path, UsageError), path, UsageError)
    except UsageError as error:
        return str(error).removeprefix(f"{path}: ")
    return None


@pytest.mark.parametrize(
    ("model", "path"), KEYS, ids=lambda value: ".".join(map(str, value)) if type(value) is tuple else ""
)
def test_no_wrong_value_is_answered_in_words_of_python(model, path, tmp_path):
    place = "".join(f"[{part}]" if part == 0 else f".{part}" for part in path)[1:]
    refused = 0
    for value in VALUES:
        others = [line for line in SMALLEST[model].splitlines() if not line.startswith(f"{path[0]} =")]
        fault = fault_of(model, "\n".join([with_value(path, value), *others]), tmp_path)
        sentences = fault.split("; ") if fault is not None else []
        refused += any(sentence.startswith(place) for sentence in sentences)
        for sentence in sentences:
            assert not OF_PYTHON.search(sentence), sentence
            assert re.search(r": (expected .+|unknown key|needs |missing)|did you mean|^expected one of", sentence), (
                sentence
            )
            assert len(sentence) < 300
    assert refused >= 15, f"of {len(VALUES)} values nearly all must be refused"


SENTENCES = [
    ("encounters = 2020-01-01", "encounters = 2020-01-01: expected a whole number from 1 to"),
    ("fresh_bots = 1", "fresh_bots = 1: expected true or false"),
    ("name = 1979-05-27T07:32:00Z", "name = 1979-05-27T07:32:00+00:00: expected a text"),
    ("options = [1]", "options = [1]: expected a table"),
    ("limits = { memory_bytes = 1.5 }", "limits.memory_bytes = 1.5: expected a whole number of bytes from 16,777,216 to"
     ' 1,125,899,906,842,624, or a text such as "512 MiB"'),
    ("limits = { note_bytes = true }", "limits.note_bytes = true: expected a whole number of"),
    ("time_control = { per_action_seconds = true }", "per_action_seconds = true: expected a number greater than 0 and"
     " at most 86,400"),
    ('swiss = { tie_breaks = ["X"] }', "swiss.tie_breaks[0] = 'X': expected 'BH', 'BH-C1', 'SB', 'DE' or 'WON'"),
    ("time_control = { clock = 5 }", "time_control.clock = 5: expected 'wall' or 'cpu'"),
    ('command = "run"', "command = 'run': expected a list of at least 1, each a text, such as ['python3', 'bot.py']"),
    ("command = [7]", "command[0] = 7: expected a text"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), SENTENCES)
def test_the_sentence_names_the_thing_the_value_and_what_is_accepted(text, message, tmp_path):
    assert message in fault_of(_Manifest if text.startswith("command") else TournamentFile, text, tmp_path)


def test_what_is_missing_is_described():
    assert accepted_at(_Manifest, ["command"]) == "a list of at least 1, each a text, such as ['python3', 'bot.py']"
    assert accepted_at(TournamentFile, ["entrants"]) == "a list, each a table"


def test_a_schema_is_made_once_for_many_mistakes():
    made = []

    class Keys(BaseModel):
        numbers: list[int]

        @classmethod
        def model_json_schema(cls):
            made.append(cls)
            return super().model_json_schema()

    for _ in range(2):
        with pytest.raises(UsageError, match=r"numbers\[9\] = 'x': expected a whole number"):
            check_model(Keys, {"numbers": ["x"] * 10}, "a file", UsageError)
    assert made == [Keys]


WORDS = ["True", "no", "round quotes", "a path of Windows", "a comma"]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"n = " + b"9" * 5000, "not valid TOML: a whole number of more than 64 bits"),
        (b"a = 1\n# caf\xe9", "f.toml: line 2: the byte 0xe9 is not UTF-8: save the file as UTF-8"),
        (b"x = " + b"[" * 100_000, "nested too deeply"),
        (b"#" * (MAX_BYTES + 1), "more than 4 MiB"),
        (b"\x7fELF\0\0", "not valid TOML"),
        (b"a = 1\ngame = plaid", "line 2, 'game = plaid': a text is in quotes: game = \"plaid\""),
        (b"a = True  # skip", "line 1, 'a = True  # skip': yes is written true, and no false: a = true"),
        (b"a = no", "line 1, 'a = no': yes is written true, and no false: a = false"),
        ("a = \u201cplaid\u201d".encode(), 'a text is in quotes: a = "plaid"'),
        (b'a = "C:\\class"', "in a text, \\ begins a code; write / between directories, or the text in '\u2026'"),
        (b"a = 1,5", "line 1, 'a = 1,5': a number has a point: a = 1.5"),
        (b"a = 1\na = 2", "line 2, 'a = 2': the key 'a' is there twice"),
        (b"[x]\n[x]", "line 2, '[x]': this table is there twice; several tables of one name are written [[\u2026]]"),
        (b"game: plaid", "line 1, 'game: plaid': expected a line such as: name = \"value\""),
    ],
    ids=["5,000 digits", "not UTF-8", "nested", "large", "binary", "no quotes", *WORDS, "twice", "tables", "YAML"],
)
def test_a_file_that_is_no_toml_is_told_in_a_sentence(contents, message, tmp_path):
    path = tmp_path / "f.toml"
    path.write_bytes(contents)
    with pytest.raises(UsageError, match=re.escape(message)):
        read_toml(path, UsageError)


def test_a_mark_of_windows_is_no_mistake_and_what_never_ends_is_not_read(tmp_path):
    (tmp_path / "f.toml").write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    assert read_toml(tmp_path / "f.toml", UsageError) == {"x": 1}
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
        with pytest.raises(UsageError, match="neither a file that can be read nor a directory"):
            read_toml(path, UsageError)
    with pytest.raises(UsageError, match="NUL"):
        read_toml(tmp_path / "a\0b", UsageError)
    with pytest.raises(UsageError, match=r"\\udead.*: expected a path of characters that this system encodes"):
        read_toml(tmp_path / "\udead.toml", UsageError)
