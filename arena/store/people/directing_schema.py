"""The tables of what directors ask of the programs that keep tournaments going, and of what these say."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Column, Index, Table

from arena.people.directing import DirectorState, RequestState, Wish
from arena.store.people.schema import OptionalInteger, metadata
from arena.store.schema import Checked, Integer, OptionalString, String, Text, member_of


class WishText(Checked):
    """A column of wishes."""

    impl = sa.String
    cache_ok = True
    check = staticmethod(member_of(Wish, "wish"))


class RequestStateText(Checked):
    """A column of states of requests."""

    impl = sa.String
    cache_ok = True
    check = staticmethod(member_of(RequestState, "state"))


class DirectorStateText(Checked):
    """A column of states of directors."""

    impl = sa.String
    cache_ok = True
    check = staticmethod(member_of(DirectorState, "state"))


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
    Column("state", RequestStateText(16), nullable=False),
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
    Column("wish", WishText(16), nullable=False),
    Column("since", String(40), nullable=False),
    Column("by", String(64), nullable=False),
    Column("reason", Text, nullable=False),
)

reports = Table(
    "director_reports",
    metadata,
    Column("tournament", String(64), primary_key=True),
    Column("program", String(16), nullable=False),
    Column("state", DirectorStateText(16), nullable=False),
    Column("since", String(40), nullable=False),
    Column("seen_at", String(40), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("figures", Text, nullable=False),
)
