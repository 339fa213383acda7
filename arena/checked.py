"""Reading TOML files strictly: every fault of a file at once, each with its place, value and what is accepted."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from arena.errors import UsageError, suggestion

if TYPE_CHECKING:
    from pydantic import BaseModel

    ModelT = TypeVar("ModelT", bound=BaseModel)


MOST_BYTES = 4 * 2**20
"""Of a TOML file."""
MOST_DEPTH = 32
_TOO_LARGE = "a whole number of more than 64 bits"


def read_toml(path: Path, error: type[UsageError]) -> dict[str, Any]:
    """Return the contents of a TOML file.

    Raises:
        UsageError: of the class ``error``, naming the file and what is wrong with it.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise error(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise error(f"{path}: this is a directory; a TOML file is expected") from None
    except OSError as failure:
        raise error(f"{path}: can't be read: {failure.strerror}") from failure
    if len(data) > MOST_BYTES:
        raise error(f"{path}: more than {MOST_BYTES // 2**20} MiB")
    return parse_toml(data, path, error)


def parse_toml(data: bytes, path: Path, error: type[UsageError]) -> dict[str, Any]:
    """Return the values in a TOML text.

    Raises:
        UsageError: of the class ``error``, naming the file and what is wrong with it.
    """
    try:
        values = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as failure:
        raise error(f"{path}: not valid TOML: {failure}") from failure
    except RecursionError as failure:
        raise error(f"{path}: not valid TOML: it is nested too deeply") from failure
    except ValueError as failure:  # Python refuses to read thousands of digits
        raise error(f"{path}: not valid TOML: {_TOO_LARGE}") from failure
    _check_values(values, path, error)
    return values


def _check_values(values: dict[str, Any], path: Path, error: type[UsageError]) -> None:
    """Raise for what TOML does not have to carry, and what would surprise those who print or compare it."""
    waiting: list[tuple[Any, int]] = [(values, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > MOST_DEPTH:
            raise error(f"{path}: not valid TOML: it is nested too deeply")
        if isinstance(value, dict):
            waiting += [(inner, depth + 1) for inner in value.values()]
        elif isinstance(value, list):
            waiting += [(inner, depth + 1) for inner in value]
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise error(f"{path}: not valid TOML: {_TOO_LARGE}")


def without_nul(text: str) -> str:
    """Return a text that the system accepts as a path or an argument of a program.

    Raises:
        ValueError: if there is a NUL in it, which ends a text for the system.
    """
    if "\0" in text:
        raise ValueError("accepted is a text without the character NUL")
    return text


def check_model(model: type[ModelT], values: dict[str, Any], path: Path, error: type[UsageError]) -> ModelT:
    """Return ``values`` as a checked model.

    Raises:
        UsageError: of the class ``error``, with every fault, each with its place, value and what is accepted.
    """
    from pydantic import ValidationError

    try:
        return model.model_validate(values)
    except ValidationError as failure:
        faults = [_sentence(model, dict(fault)) for fault in failure.errors(include_url=False)]
        raise error(f"{path}: " + "; ".join(dict.fromkeys(faults))) from failure


def _sentence(model: type[BaseModel], fault: dict[str, Any]) -> str:
    location: Sequence[str | int] = [part for part in fault["loc"] if not str(part).startswith("function-")]
    place = _place(location)
    if fault["type"] == "extra_forbidden":
        return f"{place}: unknown key; {suggestion(str(location[-1]), _keys_at(model, location[:-1]))}"
    if fault["type"] == "missing":
        return f"{place}: missing"
    message = fault["msg"].removeprefix("Value error, ").replace(" after validation", "")
    message = message[0].lower() + message[1:]
    value = fault["input"]
    if isinstance(value, dict | list):
        return f"{place}: {message}" if place else message
    return f"{place} = {value!r}: {message}"


def _place(location: Sequence[str | int]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _keys_at(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """Return the keys that are accepted at a place in a model."""
    for part in location:
        if isinstance(part, int):
            continue
        field = model.model_fields.get(part)
        inner = _model_in(field.annotation) if field is not None else None
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        if (found := _model_in(part)) is not None:
            return found
    return None
