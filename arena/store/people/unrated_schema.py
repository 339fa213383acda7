"""The tables of matches that people play in the browser."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Table

from arena.store.people.schema import metadata
from arena.store.people.unrated_match import MatchState
from arena.store.results.columns import Integer, Member, OptionalInteger, OptionalString, String, Text

unrated_matches = Table(
    "unrated_matches",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("secret", String(64), nullable=False, unique=True),
    Column("person_id", OptionalInteger, ForeignKey("people.id")),
    Column("network", String(64), nullable=False),
    Column("game", String(300), nullable=False),
    Column("options", Text, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("bot", String(200), nullable=False),
    Column("bot_digest", String(100), nullable=False),
    Column("per_action_milliseconds", Integer, nullable=False),
    Column("state", Member(MatchState, "state", 16), nullable=False),
    Column("actions", Text, nullable=False),
    Column("plies", Integer, nullable=False),
    Column("view", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("wish", OptionalString(16)),
    Column("wished_action", String(200), nullable=False),
    Column("answer", Text, nullable=False),
    Column("begun_at", String(40), nullable=False),
    Column("acted_at", String(40), nullable=False),
    Column("slot_until", OptionalString(40)),
    Column("held_seconds", Integer, nullable=False),
    Column("claim", OptionalString(64)),
    Column("claimed_until", OptionalString(40)),
    Column("tries", Integer, nullable=False),
    Index("unrated_matches_by_slot", "slot_until"),
    Index("unrated_matches_by_person", "person_id", "id"),
    Index("unrated_matches_by_time", "acted_at"),
    sqlite_autoincrement=True,
)

play_menu = Table(
    "play_menu",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("at", String(40), nullable=False),
)
