"""The tables of what directors ask of the programs that keep tournaments going, and of what these say."""

from __future__ import annotations

from sqlalchemy import Column, Index, Table

from arena.store.people.directing import DirectorState, RequestState, Wish
from arena.store.people.schema import metadata
from arena.store.results.columns import Integer, Member, OptionalInteger, OptionalString, String, Text

requests = Table(
    "tournament_requests",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("tournament", String(64), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("arguments", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("by", String(64), nullable=False),
    Column("made_at", String(40), nullable=False),
    Column("state", Member(RequestState, "state", 16), nullable=False),
    Column("corrections_before", OptionalInteger),
    Column("finished_at", OptionalString(40)),
    Column("outcome", Text, nullable=False),
    Index("tournament_requests_by_state", "tournament", "state", "id"),
    sqlite_autoincrement=True,
)

wishes = Table(
    "director_wishes",
    metadata,
    Column("tournament", String(64), primary_key=True),
    Column("wish", Member(Wish, "wish", 16), nullable=False),
    Column("since", String(40), nullable=False),
    Column("by", String(64), nullable=False),
    Column("reason", Text, nullable=False),
)

reports = Table(
    "director_reports",
    metadata,
    Column("tournament", String(64), primary_key=True),
    Column("program", String(16), nullable=False),
    Column("state", Member(DirectorState, "state", 16), nullable=False),
    Column("since", String(40), nullable=False),
    Column("seen_at", String(40), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("figures", Text, nullable=False),
)
