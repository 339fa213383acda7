"""What directors do with contests: making, changing, cancelling and revealing them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import quote
from zoneinfo import available_timezones

from arena.base.errors import UsageError
from arena.base.shipped import PREFIX, example_bots
from arena.base.text import any_of
from arena.community.contests.contest_text import (
    announce,
    change,
    contest_text,
    read_apart,
    template_names,
    template_summary,
)
from arena.server.gate.operation import Done, Operation, Reason, ToShow, Visit
from arena.server.http.problems import bad_address
from arena.server.operations.contest_form import (
    CHOICES,
    KINDS,
    MAX_TEXT_CHARACTERS,
    Change,
    ContestName,
    FormSoFar,
    NewContest,
    Template,
    WhichTemplate,
    changed_text,
    fields_refused,
    form_template,
    form_text,
    read_options,
    time_value,
    titles_of,
)
from arena.server.operations.contests import found_contest
from arena.server.operations.contests_model import NewContestPage
from arena.site.frame.model import Model
from arena.site.matches.games_model import GamePage, GameParameters
from arena.site.page_table import PAGE_BY_NAME
from arena.store.people.contests import changed_meanwhile
from arena.store.people.rates import Rate
from arena.store.people.secret import digest_of
from arena.store.people.values import Permission

CHANGES = Rate(120, 3600.0)
"""Each starts a process that reads the text."""
MAX_BODY_BYTES = 4 * MAX_TEXT_CHARACTERS
"""Form encoding may take several bytes for a character."""

HOUSE_BOTS = tuple(PREFIX + bot for bot in example_bots())
GAMES = ("differences", "plaid", "plusminus", "coprimality", "multiplication")
FINAL_FORMATS = ("round-robin", "swiss", "knockout")
"""Games and formats by name, as the web process loads neither. The form has no field for challengers of a gauntlet."""


@Operation("GET", "/contests/new", Permission.DIRECT, "new_contest", room="contests")
def show_new(visit: Visit, sent: WhichTemplate) -> NewContestPage | ToShow:
    """The form that makes a contest."""
    template = _template(visit, sent.template)
    game, fields = sent.game, template.fields
    if game in GAMES and game != fields["game"]:
        template = replace(template, fields={**fields, "game": game, "options": "{}"})
    return _form(visit, sent.template, template)


@Operation(
    "POST",
    "/contests/new",
    Permission.DIRECT,
    "new_contest",
    room="contests",
    form="/contests/new",
    max_body_bytes=MAX_BODY_BYTES,
)
def go_on(visit: Visit, sent: FormSoFar) -> NewContestPage | ToShow:
    """The form with another template or game, and with what was typed."""
    if sent.game not in ("", *GAMES):
        raise bad_address(f"There is no game {sent.game!r:.80}.", 404)
    if unknown := set(sent.house_bots) - set(HOUSE_BOTS):
        raise UsageError(f"house_bots: {min(unknown)!r:.80}: expected {any_of(HOUSE_BOTS)}")
    old = _template(visit, sent.before.partition(" ")[0] or sent.template)
    return _form(visit, sent.template, _with_typed(sent, old, _template(visit, sent.template)))


def _template(visit: Visit, name: str) -> Template:
    if name not in template_names():
        raise bad_address(f"There is no template {name!r:.80}.", 404)
    return form_template(name, datetime.fromisoformat(visit.people.contests.now()))


def _with_typed(sent: FormSoFar, old: Template, new: Template) -> Template:
    """Return a template with what was typed: what differs from the template that the form had."""
    old_game = sent.before.partition(" ")[2] or old.fields["game"]
    has_chosen = sent.game not in ("", old_game) or old_game != old.fields["game"]
    game = sent.game if has_chosen else new.fields["game"]
    options = _options_in_template(new, game)
    if game == old_game and "options" in sent.model_fields_set:
        begun = _options_in_template(old, game)
        options |= {
            name: value for name, value in (read_options(sent.options) or {}).items() if begun.get(name) != value
        }
    values = sent.model_dump(include=set(old.fields) - {"game", "options"}, exclude_unset=True)
    typed = {name: value for name, value in values.items() if time_value(value) != time_value(old.fields[name])}
    has_bots = set(sent.house_bots) != set(old.house_bots)
    return replace(
        new,
        fields={**new.fields, **typed, "game": game, "options": json.dumps(options)},
        house_bots=sent.house_bots if has_bots else new.house_bots,
    )


def _options_in_template(template: Template, game: str) -> dict[str, Any]:
    return json.loads(template.fields["options"]) if game == template.fields["game"] else {}


def _form(visit: Visit, name: str, template: Template) -> ToShow:
    fields = template.fields
    shown_options = {
        name: value if isinstance(value, int | str) else json.dumps(value)
        for name, value in json.loads(fields["options"]).items()
    }

    def finish(models: Sequence[Model | None]) -> NewContestPage:
        options_of_game = (option for model in models if isinstance(model, GamePage) for option in model.options)
        options = (
            option.model_copy(update={"value": shown_options.get(option.name, option.default)})
            for option in options_of_game
        )
        return page.model_copy(update={"options": tuple(options)})

    page = NewContestPage(
        template=name,
        fields=fields,
        titles=titles_of(NewContest),
        choices={
            **CHOICES,
            "template": tuple((name, f"{name}: {template_summary(name)}") for name in template_names()),
        },
        game=fields["game"],
        options=(),
        games=GAMES,
        formats=FINAL_FORMATS,
        house_bots=HOUSE_BOTS,
        chosen_house_bots=template.house_bots,
        time_zones=time_zones(),
        example=template.text,
    )
    pages = ((PAGE_BY_NAME["game"], GameParameters(game=page.game)),)
    return ToShow(home=visit.homes.public_place, pages=pages, finish=finish)


@cache
def time_zones() -> tuple[str, ...]:
    """Return the names of time zones that people live in."""
    left_out = ("Etc/", "SystemV/", "posix/", "right/")
    return ("UTC", *sorted(name for name in available_timezones() if "/" in name and not name.startswith(left_out)))


@Operation(
    "POST",
    "/contests",
    Permission.DIRECT,
    form="/contests/new",
    fields_refused=fields_refused,
    rate=CHANGES,
    max_body_bytes=MAX_BODY_BYTES,
)
def add_contest(visit: Visit, sent: NewContest) -> Done:
    """Announce a contest."""
    text = sent.text
    if not text.strip():
        if not sent.name:
            raise UsageError("name: missing; expected the fields of the form, or a contest as TOML in text")
        text = form_text(sent.model_dump(exclude={"text", "template", "house_bots"}), sent.house_bots)
    stored = announce(visit.homes.public().store, visit.people, visit.person.name, read_apart(text))
    return _done(stored.name, f"announced the contest {stored.name}")


@Operation(
    "POST",
    "/contests/{name}/change",
    Permission.DIRECT,
    form="/contests/{name}",
    fields_refused=fields_refused,
    rate=CHANGES,
    max_body_bytes=MAX_BODY_BYTES,
)
def change_contest(visit: Visit, sent: Change) -> Done:
    """Change what can still be changed of a contest."""
    stored = found_contest(visit, sent.name)
    text, before = sent.text, contest_text(stored.contest)
    if sent.before not in ("", digest_of(before)):
        raise changed_meanwhile(stored.name)
    if not text.strip():
        given = sent.model_dump(include=set(KINDS), exclude_none=True)
        changes = {key: KINDS[key].toml(value) for key, value in given.items()}
        text = changed_text(before, changes)
    new = read_apart(text)
    if new.contest == stored.contest and not new.mistakes:
        raise UsageError(f"contest {stored.name!r}: nothing is different")
    change(visit.homes.public().store, visit.people, visit.person.name, stored.contest, new, sent.reason)
    return _done(stored.name, f"changed the contest {stored.name}")


@Operation("POST", "/contests/{name}/cancel", Permission.DIRECT, form="/contests/{name}")
def cancel_contest(visit: Visit, name: ContestName, reason: Reason) -> Done:
    """Cancel a contest: nothing more of it is played."""
    stored = found_contest(visit, name)
    visit.people.contests.cancel(visit.person.name, stored.name, reason)
    return _done(stored.name, f"cancelled the contest {stored.name}")


@Operation("POST", "/contests/{name}/reveal", Permission.DIRECT, form="/contests/{name}")
def reveal_contest(visit: Visit, name: ContestName, reason: Reason, before_played: bool = False) -> Done:
    """Show the results of a contest to everybody."""
    stored = found_contest(visit, name)
    visit.people.contests.ask_to_reveal(visit.person.name, stored.name, reason, before_played=before_played)
    return _done(stored.name, f"the results of {stored.name} are being revealed")


def _done(name: str, sentence: str) -> Done:
    return Done(to=f"/contests/{quote(name)}", sentence=sentence)
