import asyncio
import json
from dataclasses import dataclass

import uvicorn

from arena.base.enums import EventKind
from arena.base.live_match import LiveSummary
from arena.server.http.connections import Connection
from arena.server.http.topics import Change, Entered, LoggedEvent, LoggedLiveMatch, StoreState
from arena.store.results.events import EventDetails, StoredEvent, tournament_topic
from arena.store.results.live_state import StoredLiveSummary
from arena.store.results.tournament_reader import Roster

AT = "2026-11-22T12:00:00+00:00"


class FakeLogs:
    def __init__(self, kept=1000, matches=()):
        self.kept = kept
        self.all = {}
        self.matches = dict(matches)
        self.names = {}
        self.live = {}
        self.changes = 0
        self.rosters = {}

    def add_tournament(self, number, name, roster=None):
        self.names[name] = number
        self.rosters[number] = roster or Roster()
        self.all[number] = []

    def add(self, number, kind=EventKind.RESULTS, matches=(1,), **details):
        log = self.all[number]
        details = EventDetails(**{"matches": tuple(matches), "match_count": len(matches), **details})
        stored = StoredEvent(topic=tournament_topic(number), seq=len(log) + 1, kind=kind, at=AT, details=details)
        log.append(LoggedEvent(number, stored))
        self.changes += 1
        return log[-1]

    @property
    def state(self):
        return StoreState(
            store="0123abcd",
            total=self.changes,
            tournaments=dict(self.names),
            last_events={number: len(log) for number, log in self.all.items()},
            last_states=dict(self.live),
            entered=Entered(self.rosters),
        )

    def change(self, *events, **others):
        return Change(state=self.state, events=events, **others)

    async def events_between(self, tournament, after, last):
        log = self.all[tournament]
        return None if after < len(log) - self.kept else log[after:last]

    async def is_to_be_played(self, tournament, match):
        return self.matches.get((tournament, match))

    def see(self, tournament, match, plies, seq):
        summary = LiveSummary(
            match=match, started_at=AT, plies=plies, since=AT, bank_seconds=(None, None), seat=plies % 2
        )  # fmt: skip
        self.live[tournament, match] = seq
        return LoggedLiveMatch(tournament, StoredLiveSummary(seq=seq, at=AT, summary=summary))


@dataclass
class Sent:
    kind: str
    id: str
    data: dict


def parsed(data):
    events, last_id = [], ""
    blocks = data.decode().split("\n\n")
    assert blocks.pop() == "", "it ends with a whole block"
    for block in blocks:
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        last_id = fields.get("id", last_id)
        if "data" in fields:
            events.append(Sent(fields["event"], last_id, json.loads(fields["data"])))
    return events, last_id


async def listening(app, connections):
    """Return a server of connections on a free port of this machine, and the port."""
    config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None)
    state = uvicorn.Server(config).server_state
    config.load()
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(config, state, {}, connections_of_server=connections), "127.0.0.1", 0
    )
    return server, server.sockets[0].getsockname()[1]
