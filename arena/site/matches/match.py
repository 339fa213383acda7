"""The page of a match: recorded, being played, or still to be played."""

from __future__ import annotations

from arena.base.bot_text import Audience
from arena.base.errors import UnknownNameError
from arena.base.records import MatchRecord, TimeControl
from arena.lab.matches.annotation import annotation_of
from arena.site.matches.match_model import MatchPage, MatchParameters, SeatDetails
from arena.site.matches.unfinished_match import unfinished_match
from arena.site.matches.viewed_match import viewed_match
from arena.store.home import ArenaHome

MAX_STDERR_CHARACTERS = 4000
"""Of a bot's text, on the page; ``arena repro`` and the record have all of it."""

MAX_VERSIONS = 20


def build_match(home: ArenaHome, parameters: MatchParameters) -> MatchPage:
    """Build the page of a match.

    Raises:
        UnknownNameError: if there is no such tournament or match.
        StoreError: if what is stored is malformed.
    """
    tournament = home.store.tournament(parameters.tournament)
    last = home.store.last_match(tournament)
    if parameters.match > last:
        raise UnknownNameError("match", str(parameters.match), [f"1 to {last}"] if last else [])
    names = tournament.definition.shown_names
    record = home.store.find_record(tournament, parameters.match)
    is_recorded = record is not None
    if record is not None:
        annotation = annotation_of(home.store, tournament, record)
        shown = viewed_match(record, names, parameters.ply, annotation=annotation, audience=home.audience)
    else:
        unfinished = unfinished_match(home, tournament, home.store.scheduled_match(tournament, parameters.match))
        record = unfinished.record
        shown = viewed_match(
            record,
            names,
            parameters.ply,
            unfinished=unfinished.sentence,
            asked=unfinished.asked,
            audience=home.audience,
        )
    return MatchPage(
        tournament=tournament.name,
        is_recorded=is_recorded,
        shown=shown,
        ply=_ply_within(shown.first_ply, len(shown.positions), parameters.ply),
        encounter=record.encounter,
        rng_seed=record.rng_seed,
        seats=_seat_details(record, home.audience) if is_recorded else (),
        time_rules=time_rules(record.time_control),
        isolation=record.isolation,
        versions=dict(list(record.versions.items())[:MAX_VERSIONS]),
        started_at=record.started_at,
        previous=parameters.match - 1 if parameters.match > 1 else None,
        following=parameters.match + 1 if parameters.match < last else None,
    )


def _ply_within(first: int, count: int, wanted: int | None) -> int:
    last = first + count - 1
    return last if wanted is None else min(max(wanted, first), last)


def _seat_details(record: MatchRecord, audience: Audience) -> tuple[SeatDetails, ...]:
    return tuple(
        SeatDetails(
            wall_seconds=report.wall_seconds,
            cpu_seconds=report.cpu_seconds,
            off_turn_cpu_seconds=report.off_turn_cpu_seconds,
            exit=report.exit.shown_to(audience, bot) or "",
            stderr=shortened_stderr(report.stderr.shown_to(audience, bot) or ""),
        )
        for bot, report in zip(record.bots, record.seats, strict=True)
    )


def shortened_stderr(text: str) -> str:
    """Return what a bot wrote as a page shows it: its beginning and its end."""
    most = MAX_STDERR_CHARACTERS
    return text if len(text) <= most else f"{text[: most // 2]}\n…\n{text[-most // 2 :]}"


def time_rules(rules: TimeControl) -> str:
    """Return the time rules in a few words."""
    parts = []
    if rules.per_action_seconds is not None:
        parts.append(f"{rules.per_action_seconds:g} s an action")
    if rules.bank_seconds is not None:
        increment = f" + {rules.increment_seconds:g} s an action" if rules.increment_seconds else ""
        parts.append(f"{rules.bank_seconds:g} s a match{increment}")
    return f"{', '.join(parts) or 'no time limit'} ({rules.clock} time)"
