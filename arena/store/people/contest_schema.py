"""The tables of contests."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Table

from arena.store.people.contest import ContestStage
from arena.store.people.schema import metadata
from arena.store.results.columns import BigInteger, Integer, Member, OptionalString, String, Text

contests = Table(
    "contests",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("contest", Text, nullable=False),
    Column("rng_seed", BigInteger, nullable=False),
    Column("created_by", String(64), nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("freeze_at", OptionalString(40)),
    Column("closed_at", OptionalString(40)),
    Column("stage", Member(ContestStage, "stage", 16), nullable=False),
    Column("stage_note", Text, nullable=False),
    Column("played_at", OptionalString(40)),
    Column("reveal_asked_at", OptionalString(40)),
    Column("revealed_at", OptionalString(40)),
    Column("cancelled_at", OptionalString(40)),
    Column("cancel_reason", Text, nullable=False),
    sqlite_autoincrement=True,
)

contest_entries = Table(
    "contest_entries",
    metadata,
    Column("contest_id", ForeignKey("contests.id"), primary_key=True),
    Column("bot", String(140), primary_key=True),
    Column("submission_id", ForeignKey("submissions.id"), nullable=False),
)
