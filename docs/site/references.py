"""References that are made from the code: the names of a package, and the tables of the tournament file.

A page asks for them by a comment: ``<!-- names: arena.games -->`` or ``<!-- tables of the tournament file -->``.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin

from docutils import nodes
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from sphinx.application import Sphinx

from arena.base.records import Limits, TimeControl
from arena.tournament.tournament_file import EntrantTime, LimitsTable, TimeControlTable, TournamentFile

_NAMES = re.compile(r"<!-- names: ([\w.]+) -->")
_ATTRIBUTE = re.compile(r"^    (\w+(?:, \w+)*): (.*?)(?=^    \w|\Z)", re.MULTILINE | re.DOTALL)
_VERSIONED = re.compile(r"(?<!`)\b(\w+)@(\w+)\b(?!`)")
_UNPARSABLE = re.compile(r"<(?:[^<>]|<[^<>]*>)*>")
_TABLES = "<!-- tables of the tournament file -->"
_ROOMS = ("arena.games", "arena.ratings", "arena.botkit")
"""Packages with a page; what ``arena`` takes from them is described there."""

_DESCRIBED_BY: dict[type[BaseModel], type] = {
    TimeControlTable: TimeControl,
    EntrantTime: TimeControl,
    LimitsTable: Limits,
}
"""Tables whose keys are described where their values go."""

_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", dict: "table", list: "list"}
_BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
_BINARY_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at every page as soon as it is read."""
    app.connect("source-read", _fill)
    app.connect("autodoc-process-docstring", _mend_docstring)
    app.connect("autodoc-process-signature", _mend_signature)
    app.connect("doctree-read", _mend_dashes)
    return {"parallel_read_safe": True}


def _fill(app: Sphinx, page: str, content: list[str]) -> None:
    content[0] = _NAMES.sub(lambda asked: "\n\n".join(_entries(asked[1])), content[0])
    if _TABLES in content[0]:
        content[0] = content[0].replace(_TABLES, "\n\n".join(_sections(TournamentFile, "The whole file")))


def _entries(package: str) -> Iterator[str]:
    """Yield a table of the public names of a package, and then a heading and a directive for each."""
    module = import_module(package)
    names = {name: getattr(module, name) for name in sorted(module.__all__, key=str.lower)}
    places = {name: f"{_room_of(package, name, value)}.{name}" for name, value in names.items()}
    rows = [f"| {{py:obj}}`~{places[name]}` | {_first_line(value)} |" for name, value in names.items()]
    yield "\n".join(["| name | |", "| --- | --- |", *rows])
    for name, value in names.items():
        yield f"### `{name}`"
        if places[name] == f"{package}.{name}":
            yield f"```{{eval-rst}}\n.. {_directive(value)}:: {places[name]}\n```"
        else:
            yield f"The same as {{py:obj}}`{places[name]}`."


def _room_of(package: str, name: str, value: Any) -> str:
    """Return the package on whose page a name is described."""
    return next((room for room in _ROOMS if package != room and _holds(room, name, value)), package)


def _first_line(value: Any) -> str:
    """Return the first line of a docstring; nothing for a constant, which has only that of its type."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return ""
    line = (inspect.getdoc(value) or "").partition("\n")[0]
    return line.replace("``", "`").replace("|", "\\|")


def _holds(room: str, name: str, value: Any) -> bool:
    return getattr(import_module(room), name, None) is value


def _directive(value: Any) -> str:
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if inspect.isfunction(value) else "autodata"


def _mend_docstring(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Leave out what ``dict`` says of itself where a constant says nothing, and take ``bot@1`` for no mail address."""
    if what == "data" and "\n".join(lines).strip() == (inspect.getdoc(type(value)) or "").strip():
        lines.clear()
    lines[:] = [_VERSIONED.sub(r"\1\\@\2", line) for line in lines]


def _mend_signature(
    app: Sphinx, what: str, name: str, value: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Write defaults in a way that can be parsed, or the types beside them are not shortened and linked."""
    return _UNPARSABLE.sub("...", signature) if signature else signature, returns


def _mend_dashes(app: Sphinx, page: nodes.document) -> None:
    """Write a dash between a parameter and its description; elsewhere two hyphens begin an option."""
    for text in list(page.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def _sections(model: type[BaseModel], title: str, path: str = "") -> Iterator[str]:
    """Yield a section for a table and then one for each table in it; ``path`` leads to it, as ``entrants.``."""
    yield f"## {title}"
    if model is not TournamentFile:
        yield _summary(model) or "See the [guide for directors](../tournaments.md#formats)."
    yield "\n".join(_rows(model))
    for key, field in model.model_fields.items():
        table = _table_in(field.annotation)
        if table is not None:
            brackets = f"[[{path}{key}]]" if _is_list(field.annotation) else f"[{path}{key}]"
            yield from _sections(table, f"`{brackets}`", f"{path}{key}.")


def _summary(model: type[BaseModel]) -> str:
    """Return the docstring up to its sections, with names of classes as the reader knows them."""
    text = inspect.getdoc(model) or ""
    text = text.partition("\n\nAttributes:")[0].replace("``", "`")
    text = re.sub(r"^`\[.*?\]`: *", "", text)
    text = re.sub(r"[;:]? *see `[\w./]+`\.?", ".", text, flags=re.IGNORECASE).removeprefix(".").strip()
    return text[:1].upper() + text[1:]


def _rows(model: type[BaseModel]) -> Iterator[str]:
    meanings = _meanings(_DESCRIBED_BY.get(model, model))
    yield "| key | meaning | type | default |"
    yield "| --- | --- | --- | --- |"
    for key, field in model.model_fields.items():
        cells = [f"`{key}`", field.description or meanings[key], _type(field), _default(field)]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _meanings(described: type) -> dict[str, str]:
    """Return what the sections "Attributes" of a class and its bases say of each name."""
    meanings: dict[str, str] = {}
    for kind in reversed(described.__mro__):
        section = (inspect.getdoc(kind) or "").partition("\nAttributes:\n")[2]
        for names, text in _ATTRIBUTE.findall(section):
            meanings |= dict.fromkeys(names.split(", "), " ".join(text.split()).replace("``", "`"))
    return meanings


def _type(field: FieldInfo) -> str:
    words = _words(field.annotation)
    bounds = [
        f"{sign} {_number(getattr(entry, name), field)}"
        for entry in (*field.metadata, *_inner_metadata(field.annotation))
        for name, sign in _BOUNDS.items()
        if hasattr(entry, name)
    ]
    shortest = [entry.min_length for entry in field.metadata if hasattr(entry, "min_length")]
    bounds += [f"at least {number}" for number in shortest if number]
    return f"{words}, {', '.join(bounds)}" if bounds else words


def _words(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return " or ".join(f'`"{value}"`' for value in get_args(annotation))
    if hasattr(annotation, "__metadata__"):
        return _words(annotation.__origin__)
    if get_origin(annotation) in (Union, types.UnionType):
        return " or ".join(_words(part) for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) in (list, Sequence):
        (item,) = get_args(annotation)
        return "tables" if _table_in(item) else f"list of {_words(item)}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    return _WORDS.get(get_origin(annotation) or annotation, str(annotation))


def _inner_metadata(annotation: Any) -> Iterator[Any]:
    """Yield the bounds of ``Annotated[…] | None``."""
    if get_origin(annotation) in (Union, types.UnionType):
        for part in get_args(annotation):
            for entry in getattr(part, "__metadata__", ()):
                yield from entry.metadata if isinstance(entry, FieldInfo) else (entry,)


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if value in (None, [], (), {}):
        return "–"
    if isinstance(value, BaseModel):
        chosen = value.model_dump(exclude_unset=True)
        return ", ".join(f"`{key} = {number}`" for key, number in chosen.items()) or "–"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{_number(value, field)}`"


def _number(value: float, field: FieldInfo) -> str:
    """Write sizes in binary units, and other numbers with separated thousands."""
    if any(type(entry).__name__ == "BeforeValidator" for entry in field.metadata):
        for size, unit in _BINARY_UNITS:
            if value >= size and value % size == 0:
                return f"{int(value) // size:,} {unit}".replace(",", " ")
    if value == 2**63:
        return "2^63"
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else f"{value:g}"


def _table_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((table for part in get_args(annotation) if (table := _table_in(part)) is not None), None)


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) is list or any(get_origin(part) is list for part in get_args(annotation))
