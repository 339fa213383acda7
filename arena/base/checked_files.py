"""Reads TOML and JSON files that people wrote, and checks them against a model.

Every mistake in a file is reported at once, with its place, value and what is accepted. ``stored.py`` reads what the
arena itself has stored.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from arena.base.errors import Mistake, UsageError, suggestion
from arena.base.text import any_of, shortened_text, toml_value

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

    ModelT = TypeVar("ModelT", bound=BaseModel)


MAX_BYTES = 4 * 2**20
"""Of a file that is read whole."""
MAX_DEPTH = 32
_TOO_LARGE = "a whole number of more than 64 bits"


def read_toml(path: Path, error: type[UsageError]) -> dict[str, Any]:
    """Return the contents of a TOML file, or raise a UsageError of the class ``error``."""
    return parse_toml(read_file(path, error, "a TOML file"), path, error)


def read_file(path: Path, error: type[UsageError], expected: str) -> bytes:
    """Return the contents of a file of a kind, such as "a TOML file", or raise a UsageError of the class ``error``."""
    try:
        data = _contents(path, error, expected)
    except FileNotFoundError:
        raise error(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise error(f"{path}: this is a directory; {expected} is expected") from None
    except OSError as failure:
        raise error(f"{path}: can't be read: {failure.strerror}") from failure
    if len(data) > MAX_BYTES:
        raise error(f"{path}: more than {MAX_BYTES // 2**20} MiB")
    return data


def _contents(path: Path, error: type[UsageError], expected: str) -> bytes:
    """Return the start of a regular file, long enough to tell whether it is too large: others might never end."""
    if "\0" in str(path):
        raise error(f"{str(path)!r}: expected a path without the character NUL")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise error(f"{str(path)!r}: expected a path of characters that this system encodes") from None
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123 - a pipe must not be waited for
        kind = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError
        data = file.read(MAX_BYTES + 1) if stat.S_ISREG(kind) else None
    if data is None:  # also of files of the kernel's that have nothing to say yet
        raise error(f"{path}: neither a file that can be read nor a directory; {expected} is expected")
    return data


def parse_toml(data: bytes, path: Path, error: type[UsageError]) -> dict[str, Any]:
    """Return the values in a TOML text, or raise a UsageError of the class ``error``."""
    data = data.removeprefix(codecs.BOM_UTF8)  # editors of Windows write the mark
    try:
        text = data.decode()
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as failure:
        raise error(f"{path}: not valid TOML: {_toml_problem(text, failure)}") from failure
    except UnicodeDecodeError as failure:
        line, byte = data.count(b"\n", 0, failure.start) + 1, data[failure.start]
        raise error(f"{path}: line {line}: the byte {byte:#04x} is not UTF-8: save the file as UTF-8") from failure
    except RecursionError as failure:
        raise error(f"{path}: not valid TOML: it is nested too deeply") from failure
    except ValueError as failure:  # Python refuses to read thousands of digits
        raise error(f"{path}: not valid TOML: {_TOO_LARGE}") from failure
    _check_values(values, path, error)
    return values


def _toml_problem(text: str, failure: tomllib.TOMLDecodeError) -> str:
    """Return what is wrong in a line, in words for readers who do not know TOML's grammar."""
    location = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(failure))
    if location is None:
        return str(failure)
    lines = text.splitlines()
    number = int(location[1] or len(lines))
    line = lines[number - 1].strip() if lines[number - 1 :] else ""
    shown = f"line {number}, {shortened_text(line)!r}: "
    problem = str(failure)[: location.start()]
    key, equals, value = (part.strip() for part in line.partition("="))
    value = value.partition("#")[0].rstrip()  # without its comment
    if problem == "Invalid value" and value.lower() in ("true", "yes", "false", "no"):
        written = "true" if value.lower() in ("true", "yes") else "false"
        return f"{shown}yes is written true, and no false: {key} = {written}"
    if problem == "Invalid value" and re.match("[^\\W\\d]|[“”„‘’]", value):
        return f"{shown}a text is in quotes: {key} = {json.dumps(value.strip('“”„‘’'), ensure_ascii=False)}"
    if problem.startswith("Unescaped"):
        return f"{shown}in a text, \\ begins a code; write / between directories, or the text in '…'"
    if problem.startswith("Expected newline") and re.fullmatch("[-+]?\\d+,\\d+", value):
        return f"{shown}a number has a point: {key} = {value.replace(',', '.')}"
    if problem.startswith("Cannot"):
        is_table = line.startswith("[")
        subject = "this table" if is_table else f"the key {key!r}"
        several = "; several tables of one name are written [[…]]" if is_table and not line.startswith("[[") else ""
        return f"{shown}{subject} is there twice{several}"
    if not equals and not line.startswith("["):
        return f'{shown}expected a line such as: name = "value"'
    return f"{shown}{problem[:1].lower()}{problem[1:]}"


def _check_values(values: dict[str, Any], path: Path, error: type[UsageError]) -> None:
    """Raise for values that TOML need not support, and for values that are surprising to print or compare."""
    waiting: list[tuple[Any, int]] = [(values, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise error(f"{path}: not valid TOML: it is nested too deeply")
        if isinstance(value, dict):
            waiting += [(inner, depth + 1) for inner in value.values()]
        elif isinstance(value, list):
            waiting += [(inner, depth + 1) for inner in value]
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise error(f"{path}: not valid TOML: {_TOO_LARGE}")


def without_nul(text: str) -> str:
    """Return a text that the system accepts as a path or an argument; ValueError if a NUL would end it early."""
    if "\0" in text:
        raise ValueError("expected a text without the character NUL")
    return text


def check_model(model: type[ModelT], values: dict[str, Any], where: Path | str, error: type[UsageError]) -> ModelT:
    """Return ``values`` as a checked model; ``where`` they come from begins the message.

    Raises:
        UsageError: of the class ``error``, with every fault, each with its place, value and what is accepted.
    """
    from pydantic import ValidationError

    try:
        return model.model_validate(values)
    except ValidationError as failure:
        raise error.of_mistakes(where, (mistake.text for mistake in mistakes_of(model, failure))) from failure


def check_json(model: type[ModelT], data: bytes, complaint: str) -> ModelT:
    """Return JSON of an untrusted file as a checked model, or raise UsageError: the complaint, and the first fault."""
    from pydantic import ValidationError

    try:
        return model.model_validate_json(data)
    except ValidationError as failure:
        first = failure.errors(include_url=False, include_context=False, include_input=False)[0]
        location = ".".join(map(str, first["loc"]))[:80] or "the text"
        raise UsageError(f"{complaint}: {location}: {first['msg']}") from failure


def mistakes_of(model: type[BaseModel], failure: ValidationError) -> list[Mistake]:
    """Return the mistakes in values that a model has rejected."""
    return [_mistake(model, dict(fault)) for fault in failure.errors(include_url=False)]


def _mistake(model: type[BaseModel], fault: dict[str, Any]) -> Mistake:
    location: Sequence[str | int] = [part for part in fault["loc"] if not str(part).startswith("function-")]
    key = _place(location)
    if fault["type"] == "extra_forbidden":
        known, _ = _schema_at(model, location[:-1])
        return Mistake(key, f"unknown key; {suggestion(str(location[-1]), known.get('properties', {}))}")
    if fault["type"] == "missing":
        return Mistake(key, f"missing (expected {accepted_at(model, location)})")
    if fault["type"] == "value_error":  # one of ours, in our words
        sentence = str(fault["ctx"]["error"])
        is_of_a_table = isinstance(fault["input"], dict)
    else:
        sentence, is_of_a_table = f"expected {accepted_at(model, location)}", False
    return Mistake(key, sentence, "" if is_of_a_table else toml_value(fault["input"]))


def accepted_at(model: type[BaseModel], location: Sequence[str | int]) -> str:
    """Return in words what is accepted at a place in a model."""
    return _in_words(*_schema_at(model, location))


def _schema_at(model: type[BaseModel], location: Sequence[str | int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema at a place in a model, and that of the model."""
    root = schema = _schema_of(model)
    for part in location:
        if isinstance(part, int):
            inner = schema.get("items", {})
        else:
            inner = schema.get("properties", {}).get(part) or schema.get("additionalProperties") or {}
        schema = _resolved(inner, root)
    return schema, root


@cache
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model, to be read only; to make it takes milliseconds, and mistakes are many."""
    return model.model_json_schema()


def _resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without references, and without the null of optional values."""
    kinds = [kind for kind in schema.get("anyOf", []) if kind.get("type") != "null"]
    if len(kinds) == 1:
        return _resolved(kinds[0], root)
    if "$ref" in schema:
        definition: dict[str, Any] = root["$defs"][schema["$ref"].rpartition("/")[2]]
        return definition
    return schema


def _in_words(schema: dict[str, Any], root: dict[str, Any]) -> str:
    """Return what a JSON schema accepts, in words; ``unit`` and ``or`` are keys of our own (``json_schema_extra``)."""
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if choices:
        return any_of(choices)
    kind = schema.get("type")
    if kind in ("integer", "number"):
        number = "a whole number" if kind == "integer" else "a number"
        unit = f" of {schema['unit']}" if "unit" in schema else ""
        other = f", {schema['or']}" if "or" in schema else ""
        return f"{number}{unit}{_bounds(schema)}{other}"
    if kind == "array":
        inner = _in_words(_resolved(schema["items"], root), root)
        example = f", such as {toml_value(schema['examples'][0])}" if "examples" in schema else ""
        return f"a list{_length(schema)}, each {inner}{example}"
    if schema.get("format") == "date-time":
        return "a date and time such as 2026-12-01T23:59:59"
    if kind == "string" and "maxLength" in schema:
        return f"a text of at most {schema['maxLength']} characters"
    return {"string": "a text", "boolean": "true or false"}.get(str(kind), "a table")


def _length(schema: dict[str, Any]) -> str:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if most is None:
        return f" of at least {least:,}" if least is not None else ""
    return f" of at most {most:,}" if least is None else f" of {least:,} to {most:,}"


def _bounds(schema: dict[str, Any]) -> str:
    """Return the bounds of a number; those set outside of a validator keep pydantic's names and are the closer ones."""
    least, most = schema.get("ge", schema.get("minimum")), schema.get("le", schema.get("maximum"))
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    low = f" from {least:,}" if least is not None else f" greater than {above:,}" if above is not None else ""
    if most is not None:
        return f"{low} to {most:,}" if least is not None else f"{low} and at most {most:,}"
    return f"{low} and less than {below:,}" if below is not None else low


def _place(location: Sequence[str | int]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")
