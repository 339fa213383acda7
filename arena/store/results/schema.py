"""The tables.

``matches`` is the schedule, written before anything is played; ``records`` has a row under the same key for each match
that has been played; ``faults`` repeats the records' faults so that they can be counted. ``voids`` keeps the tries that
ended through our own failure. If rounds depend on results, a round is added when the one before is complete;
``finished_at`` says that none follows. ``tournaments`` has counters: counting a million rows takes long.

``corrections`` is the director's log; nothing in it is changed or removed. A record that does not count any more is
moved to ``set_aside``, whole, so that its match is still to be played; a match in ``skipped`` is not played although it
has no record. A deleted tournament keeps its rows and has a ``name`` that no tournament can be given. ``owners`` says
whose bots are, as the database of people has it. ``annotations`` is the lab's; its hash says which actions it is about.

``migrations.py`` brings older databases here. A column that has kept an older name in the database has its
name in Python as ``key``.
"""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, MetaData, Table

from arena.base.enums import CorrectionKind, EventKind, FaultKind
from arena.store.results.columns import BigInteger, Integer, Label, Member, OptionalString, String, Text

SCHEMA_VERSION = 7

metadata = MetaData()


def match_key(*names: str) -> list[Column[int]]:
    """Return the columns of a key that begins with a tournament."""
    tournament = Column[int]("tournament_id", ForeignKey("tournaments.id"), primary_key=True, autoincrement=False)
    return [tournament, *(Column(name, Integer, primary_key=True, autoincrement=False) for name in names)]


meta = Table("meta", metadata, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False))

tournaments = Table(
    "tournaments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("definition", Text, nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("finished_at", OptionalString(40)),
    Column("format", String(32), nullable=False),
    Column("deleted_at", OptionalString(40)),
    Column("deleted_name", OptionalString(64)),
    Column("match_count", Integer, nullable=False, server_default="0"),
    Column("record_count", Integer, nullable=False, server_default="0"),
    Column("record_bytes", BigInteger, nullable=False, server_default="0"),
)

matches = Table(
    "matches",
    metadata,
    *match_key("match"),
    Column("encounter", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("game", Integer, nullable=False),
    Column("seats", Text, nullable=False),
    Column("opening", Integer, nullable=False),
    Column("opening_actions", Text, nullable=False),
    Column("rng_seed", BigInteger, nullable=False),
    Index("matches_by_round", "tournament_id", "round"),
)

records = Table(
    "records",
    metadata,
    *match_key("match"),
    Column("encounter", Integer, nullable=False),
    Column("game", String(200), nullable=False),
    Column("bots", Text, nullable=False),
    Column("ranks", Text, nullable=False),
    Column("termination", String(16), nullable=False),
    Column("start", String(32), nullable=False, key="opening_hash"),
    Column("digest", String(32), nullable=False, key="actions_hash"),
    Column("record", Text, nullable=False),
    Index("records_by_game", "tournament_id", "game", "match"),
    Index("records_by_termination", "tournament_id", "termination", "match"),
)

faults = Table(
    "faults",
    metadata,
    *match_key("match", "seat"),
    Column("game", String(200), nullable=False),
    Column("bot", String(140), nullable=False),
    Column("kind", Member(FaultKind, "kind of fault", 16), nullable=False),
    Index("faults_by_bot", "bot"),
    Index("faults_by_kind", "tournament_id", "kind", "match"),
)

voids = Table(
    "voids",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("tournament_id", ForeignKey("tournaments.id"), nullable=False),
    Column("match", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", String(40), nullable=False),
)

bots = Table(
    "bots",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False),
    Column("version", String(64), nullable=False),
    Column("content", String(32), nullable=False, key="digest"),
    Column("entry", Text, nullable=False),
    Column("submitted_at", String(40), nullable=False),
    Index("bots_by_name", "name", "version", unique=True),
)

owners = Table(
    "owners",
    metadata,
    Column("bot", Label, primary_key=True),
    Column("content", String(32), nullable=False, key="digest"),
    Column("person", String(64), nullable=False),
)

corrections = Table(
    "corrections",
    metadata,
    *match_key("number"),
    Column("kind", Member(CorrectionKind, "kind of correction", 16), nullable=False),
    Column("details", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("made_at", String(40), nullable=False),
)

set_aside = Table(
    "set_aside",
    metadata,
    *match_key("match", "correction"),
    Column("encounter", Integer, nullable=False),
    Column("game", String(200), nullable=False),
    Column("bots", Text, nullable=False),
    Column("ranks", Text, nullable=False),
    Column("termination", String(16), nullable=False),
    Column("opening_hash", String(32), nullable=False),
    Column("actions_hash", String(32), nullable=False),
    Column("record", Text, nullable=False),
    Column("faults", Text, nullable=False),
)

skipped = Table(
    "skipped",
    metadata,
    *match_key("match", "correction"),
)

seasons = Table(
    "seasons",
    metadata,
    Column("name", String(64), primary_key=True),
    *match_key(),
)

topics = Table(
    "topics",
    metadata,
    Column("topic", String(80), primary_key=True),
    Column("seq", BigInteger, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("topic", String(80), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Member(EventKind, "kind of event", 16), nullable=False),
    Column("at", String(40), nullable=False),
    Column("body", Text, nullable=False),
    Column("visible_from", OptionalString(40)),
    Index("events_by_time", "at"),
)

seats = Table(
    "seats",
    metadata,
    Column("bot", Label, primary_key=True),
    *match_key("match", "seat", "rival_seat"),
    Column("rival", Label, nullable=False),
    Column("ahead", Integer, nullable=False),
    Column("game", String(200), nullable=False),
    sqlite_with_rowid=False,
)

progress = Table(
    "progress",
    metadata,
    *match_key(),
    Column("at", String(40), nullable=False),
    Column("body", Text, nullable=False),
)

live_matches = Table(
    "live_matches",
    metadata,
    *match_key("match"),
    Column("seq", BigInteger, nullable=False),
    Column("at", String(40), nullable=False),
    Column("body", Text, nullable=False),
)

watches = Table(
    "watches",
    metadata,
    *match_key("match"),
    Column("until", String(40), nullable=False),
)

match_annotations = Table(
    "annotations",
    metadata,
    *match_key("match"),
    Column("actions_hash", String(32), nullable=False),
    Column("accuracy", Text, nullable=False),
    Column("body", Text, nullable=False),
)
