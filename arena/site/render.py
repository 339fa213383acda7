"""From the value of a page to HTML."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from arena.analysis.text.column_meanings import meaning_of
from arena.analysis.text.standings_columns import percent_text
from arena.analysis.text.tables import printable, printable_lines
from arena.base.text import counted, duration_text, halves_text, minute_text, rate_text, score_text
from arena.site.frame.model import Frozen, Model, Parameters
from arena.site.frame.page import Page
from arena.site.links import Links, query_value
from arena.site.matches.boards import (
    board_svg,
    clocks_at,
    places_svg,
    position_at,
    scores_svg,
    seat_key,
    seconds_text,
    targets_svg,
    worths_svg,
)
from arena.site.pages import charts
from arena.site.pages.charts import RatingChart
from arena.site.pages.standings_model import scale_of

# A rulebook as HTML: numbered rules, paragraphs between them, and what stands in double backquotes as code.

_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?=\d+\. )")
_RULE = re.compile(r"(\d{1,4})\. (.*)")
_CODE = re.compile("``(.+?)``")


def rulebook_html(rules: str) -> Markup:
    """Return a rulebook as HTML."""
    return Markup("\n".join(_elements(rules)))  # every text in it is escaped where it is written


def _elements(rules: str) -> Iterator[str]:
    is_open = False
    for paragraph in _PARAGRAPH.split(rules.strip()):
        text = " ".join(paragraph.split())
        rule = _RULE.fullmatch(text)
        if bool(rule) != is_open:
            yield "</ol>" if is_open else '<ol class="rules">'
            is_open = not is_open
        if rule:
            yield f'<li value="{int(rule[1])}">{_inline(rule[2])}</li>'
        elif text:
            yield f"<p>{_inline(text)}</p>"
    if is_open:
        yield "</ol>"


def _inline(text: str) -> str:
    parts = _CODE.split(text.replace("**", ""))
    return "".join(f"<code>{_shown(part)}</code>" if k % 2 else _shown(part) for k, part in enumerate(parts))


def _shown(text: str) -> str:
    return str(escape(printable(text)))


# From the value of a page to HTML.
#
# Whatever a template writes is escaped, and characters that are not visible are shown as such: text of bots can neither
# be markup nor turn round what is beside it.

MAX_UNBROKEN_CHARACTERS = 16
"""A name of up to this many characters fits wherever a page has one."""

_JOINTS = re.compile(r"(?<=\w[_-])(?=\w)")

_NOT_IN_SCRIPT = re.compile("[<>&]|[^ -~]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where a page is shown.

    Attributes:
        is_served: whether a server shows it, which can be asked again; False for files.
        topics: the events after which a reader has to ask again.
        is_asked_for_again: whether readers ask for it every few seconds: it changes without an event.
        age_seconds: since when the store is unreadable; None if it is readable.
        notice: a sentence above the page; "" for none.
        notice_address: of the page that it is about; "" for none.
        frozen: the embargo on results of its tournament; None without one.
    """

    links: Links
    is_served: bool = True
    topics: tuple[str, ...] = ()
    is_asked_for_again: bool = False
    age_seconds: float | None = None
    notice: str = ""
    notice_address: str = ""
    frozen: Frozen | None = None


def render(page: Page, parameters: Parameters, model: Model, setting: Setting) -> str:
    """Return a page as HTML."""
    values = parameters.model_dump()
    twin = setting.links.page(page.name, ".json", **values)
    shown = {"room": page.room, "twin": twin, "feed": _feed(page, values, setting)}
    return render_template(page.template, setting, parameters=parameters, model=model, **shown)


def _feed(page: Page, values: dict[str, Any], setting: Setting) -> str | None:
    """Return the address of the feed of a page; None without one."""
    fields = {name: values[name] for name in page.path_fields}
    return setting.links.page(page.name, "/feed.atom", **fields) if page.has_feed else None


def render_template(template: str, setting: Setting, **values: Any) -> str:
    """Return a file in ``templates`` as HTML; ``base.html.jinja`` needs the values ``room`` and ``twin``."""
    return environment().get_template(template).render(setting=setting, link=setting.links.page, **values)


@cache
def environment() -> Environment:
    """Return what compiles templates, with the filters they use."""
    made = Environment(
        loader=PackageLoader("arena.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
        auto_reload=False,
    )
    made.filters |= {
        "bot_name": bot_name,
        "lines_of_text": lambda text: Markup(escape(printable_lines(text.strip("\n")))),
        "counted": counted,
        "minute": minute_text,
        "places_svg": places_svg,
        "position_at": position_at,
        "clocks_at": clocks_at,
        "board_svg": board_svg,
        "scores_svg": scores_svg,
        "worths_svg": worths_svg,
        "seat_key": seat_key,
        "seconds": seconds_text,
        "targets_svg": targets_svg,
        "rulebook": rulebook_html,
        "script_data": script_data,
        "shell_word": shlex.quote,
        "query_value": query_value,
        "duration": duration_text,
        "whole": lambda count: f"{count:,}",
        "fixed": lambda value, decimals: f"{value:,.{decimals}f}",
        "score": score_text,
        "halves": halves_text,
        "chance": percent_text,
        "signed": lambda value: f"{value:+.1f}".replace("-", "−"),
        "rate": rate_text,
        "meaning": meaning_of,
        "scale": scale_of,
        "have_faults": lambda lines: any(line.faults for line in lines),
    }
    made.globals |= {"chart": charts, "RatingChart": RatingChart}
    return made


def _visible(value: Any) -> Any:
    """Return a value for HTML: hidden characters of texts become visible."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def script_data(model: Model) -> Markup:
    """Return a value as JSON for a script; nothing in it ends the element, begins another or is invisible."""
    return Markup(_NOT_IN_SCRIPT.sub(_in_json, model.model_dump_json(exclude_defaults=True)))


def _in_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))


def bot_name(shown: str) -> Markup:
    """Return a name as HTML that can break after ``_`` and ``-``; right-to-left letters reorder no neighbours."""
    escaped = str(escape(printable(shown)))
    broken = _JOINTS.sub("<wbr>", escaped) if len(escaped) > MAX_UNBROKEN_CHARACTERS else escaped
    return Markup(f"<bdi>{broken}</bdi>")


@cache
def asset(name: str) -> bytes:
    """Return a file of ``static``."""
    return (files("arena.site") / "static" / name).read_bytes()


@cache
def asset_digests() -> dict[str, str]:
    """Return the digest of each file in ``static``."""
    names = sorted(file.name for file in (files("arena.site") / "static").iterdir() if file.is_file())
    return {name: hashlib.blake2b(asset(name), digest_size=8).hexdigest() for name in names}
