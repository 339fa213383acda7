import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from arena.base.enums import EventKind
from arena.base.errors import UnknownNameError, UsageError
from arena.server.http import channel as reader_module
from arena.server.http import hub as hub_module
from arena.server.http.hub import Hub
from arena.server.http.problems import ProblemError
from arena.server.http.topics import CONTESTS, Cursor, Topic, live_log, parse_cursor, parse_topics
from arena.store.results.tournament_reader import Roster
from tests.server.http.streams import FakeLogs, parsed
from tests.store.people.conftest import FakeClock


@pytest.fixture
def clock():
    return FakeClock(100.0)


@pytest.fixture
def logs():
    logs = FakeLogs(matches={(1, 5): True, (1, 6): False})
    logs.add_tournament(1, "cup")
    logs.add_tournament(2, "a b,c")
    return logs


@pytest.fixture
def hub(logs, clock):
    return Hub(logs.state, logs, clock)


class Client:
    def __init__(self, hub, topics, cursor=None, network=""):
        self.hub = hub
        joined = hub.join(parse_topics(topics), parse_cursor(cursor) if cursor else None, network)
        self.channel, self.reader = asyncio.run(joined)
        self.events, self.id = [], ""
        self.take()

    def take(self):
        data = b""
        while self.reader._waiting or self.reader._is_ended:
            part = asyncio.run(self.reader.take())
            data += part
            if not part:
                break
        new, last_id = parsed(data) if data else ([], self.id)
        self.events += new
        self.id = last_id or self.id
        return [(event.kind, event.data["topic"], event.data.get("seq")) for event in new]

    def leave(self):
        self.hub.leave(self.channel, self.reader)


def flushed(hub, client):
    hub.flush()
    return client.take()


def test_results_of_a_topic_are_sent_at_most_once_a_second(hub, logs, clock):
    client, other = Client(hub, "tournaments/cup"), Client(hub, "tournaments/a%20b%2Cc")
    sent = []
    for tenth in range(31):
        hub.apply(logs.change(logs.add(1)))
        if flushed(hub, client):
            sent.append(tenth)
        clock.seconds += 0.125
    assert sent == [0, 8, 16, 24]
    assert [event.data["seq"] for event in client.events] == list(range(1, 26))
    assert flushed(hub, other) == []


def test_positions_of_a_match_are_sent_at_most_four_times_a_second_the_last_one_first_of_all(hub, logs, clock):
    client = Client(hub, "tournaments/cup/matches/5")
    sent = []
    for seq in range(1, 17):
        hub.apply(logs.change(live=(logs.see(1, 5, plies=seq, seq=seq),)))
        sent += [(clock.seconds - 100.0, event) for event in flushed(hub, client)]
        clock.seconds += 0.0625
    topic = "tournaments/cup/matches/5"
    assert sent == [
        (0.0, ("live", topic, 1)), (0.25, ("live", topic, 5)), (0.5, ("live", topic, 9)), (0.75, ("live", topic, 13)),
    ]  # fmt: skip
    assert client.events[-1].data["plies"] == 13


def test_readers_of_a_match_are_sent_only_what_may_concern_it(hub, logs, clock):
    client = Client(hub, "tournaments/cup/matches/5")
    for kind, matches in [("results", (4,)), ("schedule", ()), ("results", (5, 6)), ("correction", (1,))]:
        hub.apply(logs.change(logs.add(1, EventKind(kind), matches)))
    hub.flush()
    clock.seconds += 1
    assert client.take() + flushed(hub, client) == [
        ("results", "tournaments/cup", 3), ("correction", "tournaments/cup", 4),
    ]  # fmt: skip
    hub.apply(logs.change(logs.add(1, matches=(1,), match_count=700)))  # which names only some of its matches
    clock.seconds += 1
    assert flushed(hub, client) == [("results", "tournaments/cup", 5)]


@pytest.mark.parametrize("cursor", ["0123abcd-1.9", "0123abcd", "0123abcd-2.0", "deadbeef-1.2"])
def test_a_cursor_that_leads_nowhere_says_reload(hub, logs, cursor):
    hub.apply(logs.change(logs.add(1), logs.add(1)))
    client = Client(hub, "tournaments/cup", cursor)
    assert [(event.kind, event.data) for event in client.events] == [("reload", {"topic": "tournaments/cup"})]
    assert client.id == "0123abcd-1.2"


def test_missed_events_say_reload_and_a_replaced_store_ends_every_stream(hub, logs):
    client = Client(hub, "tournaments/cup")
    logs.add(1)
    hub.apply(logs.change(missed=frozenset({1})))
    assert flushed(hub, client) == [("reload", "tournaments/cup", None)]
    assert client.id == "0123abcd-1.1"
    hub.apply(logs.change(is_replaced=True))
    assert client.take() == [("reload", "arena", None)]
    assert hub.watched.places == frozenset()


def test_a_backlog_that_is_too_long_says_reload(hub, logs):
    for _ in range(900):
        logs.add(1, matches=range(1, 101))
    hub.apply(logs.change())
    assert [event.kind for event in Client(hub, "tournaments/cup", "0123abcd-1.0").events] == ["reload"]


def test_unknown_names_are_refused_but_a_tab_whose_tournament_is_gone_ends_no_stream(hub):
    with pytest.raises(UnknownNameError, match="unknown tournament 'cop': did you mean 'cup'"):
        Client(hub, "tournaments/cop")
    with pytest.raises(ProblemError, match="'tournaments/cup/matches/7': the schedule has no such match"):
        Client(hub, "tournaments/cup/matches/7")
    assert hub.readers == 0
    client = Client(hub, "tournaments/gone,tournaments/cup", "0123abcd-1.0")
    assert [(event.kind, event.data["topic"]) for event in client.events] == [("reload", "tournaments/gone")]


def test_a_tournament_with_the_name_of_a_deleted_one_is_another(hub, logs):
    client = Client(hub, "tournaments/cup")
    del logs.names["cup"]
    hub.apply(logs.change(logs.add(1, EventKind.DELETED, ())))
    assert flushed(hub, client) == [("deleted", "tournaments/cup", 1)]
    logs.add_tournament(3, "cup")
    hub.apply(logs.change(logs.add(3)))
    assert flushed(hub, client) == []
    assert [event.kind for event in Client(hub, "tournaments/cup", client.id).events] == ["reload"]


def test_a_match_is_watched_as_long_as_it_has_readers_and_no_record(hub, logs):
    assert hub.watched.places == frozenset()
    first, second = Client(hub, "tournaments/cup/matches/5"), Client(hub, "tournaments/cup/matches/5,arena")
    Client(hub, "tournaments/cup/matches/6")
    assert hub.watched.places == {(1, 5)}
    assert hub.watched.changed.is_set()
    first.leave()
    assert hub.watched.places == {(1, 5)}
    second.leave()
    assert hub.watched.places == frozenset()
    Client(hub, "tournaments/cup/matches/5")
    hub.apply(logs.change(logs.add(1, matches=(5,))))
    assert hub.watched.places == frozenset()


def test_only_some_matches_are_watched_at_a_time_and_others_when_there_is_room(hub, logs, monkeypatch):
    monkeypatch.setattr(hub_module, "MAX_WATCHED", 1)
    logs.matches[1, 7] = True
    first, _ = Client(hub, "tournaments/cup/matches/5"), Client(hub, "tournaments/cup/matches/7")
    assert hub.watched.places == {(1, 5)}
    first.leave()
    asyncio.run(hub.watched.add_again())
    assert hub.watched.places == {(1, 7)}


@pytest.mark.parametrize("kind", [EventKind.CORRECTION, EventKind.IMPORTED, EventKind.REOPENED])
@pytest.mark.parametrize("was_watched", [True, False])
def test_a_match_that_is_to_be_played_again_is_watched_again(hub, logs, kind, was_watched):
    """By the page that was open all the time, and by one that is opened later."""
    logs.matches[1, 5] = was_watched
    Client(hub, "tournaments/cup/matches/5")
    hub.apply(logs.change(logs.add(1, matches=(5,))))
    logs.matches[1, 5] = False
    asyncio.run(hub.watched.add_again())
    assert hub.watched.places == frozenset()
    logs.matches[1, 5] = True
    hub.watched.changed.clear()
    hub.apply(logs.change(logs.add(1, kind, (5,))))
    assert hub.watched.changed.is_set()
    asyncio.run(hub.watched.add_again())
    assert hub.watched.places == {(1, 5)}
    hub.apply(logs.change(logs.add(1, matches=(5,))))
    hub.apply(logs.change(logs.add(1, kind, (5,))))
    Client(hub, "tournaments/cup/matches/5")
    assert hub.watched.places == {(1, 5)}


def test_two_readers_that_come_at_once_watch_the_same_matches(hub, logs):
    async def is_to_be_played(tournament, match, ask=logs.is_to_be_played):
        await asyncio.sleep(0)
        return await ask(tournament, match)

    async def join_both():
        topics = parse_topics("tournaments/cup/matches/5,tournaments/cup/matches/6,tournaments/cup/matches/7")
        await asyncio.gather(hub.join(topics), hub.join(topics))

    logs.matches[1, 7] = True
    logs.is_to_be_played = is_to_be_played
    asyncio.run(join_both())
    assert hub.watched.places == {(1, 5), (1, 7)}


def test_a_result_that_comes_while_the_store_is_asked_counts(hub, logs):
    """The store says that the match is to be played, just before it is recorded."""

    async def is_to_be_played(tournament, match, ask=logs.is_to_be_played):
        answer = await ask(tournament, match)
        if answer:
            logs.matches[1, 5] = False
            hub.apply(logs.change(logs.add(1, matches=(5,))))
        return answer

    logs.is_to_be_played = is_to_be_played
    Client(hub, "tournaments/cup/matches/5")
    assert hub.watched.places == frozenset()


def test_whoever_comes_later_sees_how_the_match_stands(hub, logs):
    first = Client(hub, "tournaments/cup/matches/5")
    hub.apply(logs.change(live=(logs.see(1, 5, plies=4, seq=9),)))
    hub.flush()
    assert first.take() == [("live", "tournaments/cup/matches/5", 9)]
    for cursor, kinds in [(None, ["live"]), ("0123abcd-1.0-1m5.3", ["live"]), ("0123abcd-1.0-1m5.9", [])]:
        later = Client(hub, "tournaments/cup/matches/5", cursor)
        assert [event.kind for event in later.events] == kinds
        assert later.id == first.id == "0123abcd-1.0-1m5.9"


PLAYED = [
    ("bots/a", (1, 2)), ("bots/a%401", (1,)), ("bots/a%402", (2,)), ("bots/c", ()), ("bots/a/versus/b", (1,)),
    ("games/plaid", (1,)), ("games/surds", (2,)), ("arena", (1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("topic", "numbers"), PLAYED)
def test_readers_of_a_bot_or_a_game_hear_of_its_own_tournaments(logs, clock, topic, numbers):
    logs.add_tournament(1, "cup", Roster(frozenset({"a@1", "b@1"}), frozenset({"plaid"})))
    logs.add_tournament(2, "a b,c", Roster(frozenset({"a@2", "d@1"}), frozenset({"surds"})))
    hub = Hub(logs.state, logs, clock)
    client = Client(hub, topic)
    for number in (1, 2):
        before = client.id
        hub.apply(logs.change(logs.add(number)))
        heard = [(kind, about) for kind, about, _ in flushed(hub, client)]
        assert heard == ([("changed", topic)] if number in numbers else [])
        assert (client.id != before) == (number in numbers)
        clock.seconds += 1
    again = Client(hub, topic, "0123abcd")
    assert [event.data["topic"] for event in again.events] == [topic]
    assert Client(hub, topic, again.id).events == []


def test_quiet_streams_are_kept_alive_and_readers_that_take_nothing_are_dropped(hub, logs, clock, monkeypatch):
    client = Client(hub, "tournaments/cup")
    clock.seconds += 14
    assert hub.sweep() == []
    clock.seconds += 1
    assert hub.sweep() == [client.channel]
    assert client.reader._waiting == [b": alive\nid: 0123abcd-1.0\n\n"]
    client.leave()
    monkeypatch.setattr(reader_module, "MAX_BEHIND_BYTES", 1000)
    quick, stuck = Client(hub, "tournaments/cup"), Client(hub, "tournaments/cup")
    for _ in range(20):
        hub.apply(logs.change(logs.add(1)))
    hub.flush()
    assert len(quick.take()) == 20
    hub.sweep()
    assert asyncio.run(stuck.reader.take()) == b""
    clock.seconds += 1
    hub.apply(logs.change(logs.add(1)))
    assert len(flushed(hub, quick)) == 1


def test_networks_share_the_places_equally(hub, monkeypatch):
    monkeypatch.setattr(hub_module, "MAX_READERS", 6)
    greedy = [Client(hub, "arena", network="greedy") for _ in range(6)]
    others = [Client(hub, "arena", network=network) for network in ("a", "b", "a", "b")]
    assert [client.reader._is_ended for client in greedy] == [False, False, True, True, True, True]
    assert not any(client.reader._is_ended for client in others)
    for network in ("greedy", "a", "b"):
        with pytest.raises(ProblemError) as refused:
            Client(hub, "arena", network=network)
        assert (refused.value.problem.status, refused.value.problem.retry_after_seconds) == (503, 10)
    newest = Client(hub, "arena", network="c")
    greedy[2].leave()  # which has lost its place before
    for _ in range(2):
        newest.leave()
    assert hub.readers == 5
    Client(hub, "arena", network="c")
    assert hub.readers == 6
    with pytest.raises(UnknownNameError):  # who asks for nothing takes no place
        Client(hub, "tournaments/none", network="d")
    assert not others[0].reader._is_ended


def test_closing_ends_every_stream_and_refuses_others(hub, logs):
    client = Client(hub, "tournaments/cup")
    hub.apply(logs.change(logs.add(1)))
    hub.flush()
    hub.close()
    assert client.take() == [("results", "tournaments/cup", 1)], "what was sent already comes first"
    assert asyncio.run(client.reader.take()) == b""
    with pytest.raises(ProblemError):
        Client(hub, "arena")
    asyncio.run(asyncio.wait_for(hub.run(), 5))


class SlowLogs(FakeLogs):
    meanwhile = staticmethod(lambda: None)

    async def events_between(self, tournament, after, last):
        self.meanwhile()
        await asyncio.sleep(0)
        return await super().events_between(tournament, after, last)


class EveryEventOnce(RuleBasedStateMachine):
    topics = ("tournaments/a", "tournaments/b", "tournaments/a,tournaments/b", "tournaments/a/matches/2")

    def __init__(self):
        super().__init__()
        self.clock = FakeClock(100.0)
        self.logs = SlowLogs(kept=6, matches={(1, 2): True})
        self.logs.add_tournament(1, "a")
        self.logs.add_tournament(2, "b")
        self.hub = Hub(self.logs.state, self.logs, self.clock)
        self.readers = []
        self.left = []
        self.unapplied = []

    def wanted(self, topics, number, seq):
        event = self.logs.all[number][seq - 1]
        if topics == "tournaments/a/matches/2":
            return number == 1 and 2 in event.stored.details.matches
        return f"tournaments/{'ab'[number - 1]}" in topics.split(",")

    @rule(number=st.sampled_from([1, 2]), matches=st.lists(st.integers(1, 3), min_size=1, max_size=2))
    def commit(self, number, matches):
        self.unapplied.append(self.logs.add(number, matches=tuple(matches)))

    @rule()
    def watch(self):
        events, self.unapplied = self.unapplied, []
        self.hub.apply(self.logs.change(*events))

    @rule(seconds=st.sampled_from([0.0, 0.4, 1.0]))
    def send(self, seconds):
        self.clock.seconds += seconds
        self.hub.flush()

    def join(self, topics, position, cursor, commits):
        def meanwhile():
            self.logs.meanwhile = lambda: None
            self.unapplied += [self.logs.add(1 + k % 2, matches=(2,)) for k in range(commits)]
            self.watch()
            self.send(1.0)

        self.logs.meanwhile = meanwhile
        client = Client(self.hub, topics, cursor)
        self.logs.meanwhile = lambda: None
        client.topics, client.position, client.checked = topics, position, 0
        self.readers.append(client)

    @rule(topics=st.sampled_from(topics))
    def begin(self, topics):
        begin = {str(number): last for number, last in self.hub._state.last_events.items()}
        channel = next((c for c in self.hub._channels if c.key == self.hub._subscriptions(parse_topics(topics))), None)
        begin |= {log: place for log, place in (channel.places.items() if channel else ()) if "m" not in log}
        self.join(topics, begin, None, 0)

    @precondition(lambda self: self.readers)
    @rule(data=st.data(), pieces=st.integers(0, 3))
    def disconnect(self, data, pieces):
        """Cut a stream anywhere: only the first of the events that have been sent arrive."""
        client = self.readers.pop(data.draw(st.integers(0, len(self.readers) - 1)))
        already = len(client.events)
        last_id = client.id
        client.take()
        arrived = client.events[already : already + pieces]
        client.events = client.events[: already + pieces]
        client.id = arrived[-1].id if arrived else last_id
        client.leave()
        self.check(client)
        self.left.append(client)

    @precondition(lambda self: self.left)
    @rule(data=st.data(), commits=st.integers(0, 2))
    def resume(self, data, commits):
        client = self.left.pop(data.draw(st.integers(0, len(self.left) - 1)))
        self.join(client.topics, client.position, client.id, commits)

    @invariant()
    def everything_came_once(self):
        for client in self.readers:
            client.take()
            self.check(client)

    def check(self, client):
        for event in client.events[client.checked :]:
            number = "ab".index(event.data["topic"][len("tournaments/")]) + 1
            here = client.position[str(number)]
            if event.kind == "reload":
                assert parse_cursor(event.id).places[str(number)] > here
                client.position = client.position | {str(number): parse_cursor(event.id).places[str(number)]}
                continue
            expected = next(
                seq
                for seq in range(here + 1, len(self.logs.all[number]) + 1)
                if self.wanted(client.topics, number, seq)
            )
            assert event.data["seq"] == expected
            assert parse_cursor(event.id).places[str(number)] == expected
            client.position = client.position | {str(number): expected}
        client.checked = len(client.events)

    def teardown(self):
        self.watch()
        for _ in range(2):
            self.send(1.0)
        for client in self.readers:
            client.take()
            self.check(client)
            for number, log in self.logs.all.items():
                here = client.position[str(number)]
                assert not [seq for seq in range(here + 1, len(log) + 1) if self.wanted(client.topics, number, seq)]


TestEveryEventOnce = pytest.mark.slow(sample=True)(EveryEventOnce.TestCase)
TestEveryEventOnce.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


NO_CURSORS = ["", "x", "0123abcd-", "0123abcd-1", "0123abcd-1.x", "0123ABCD-1.1", "0123abcd-1.1 ", "0123abcd-1m.1"]
NO_CURSORS += ["0123abcd-" + "9" * 30 + ".1", "0123abcd" + "-1.1" * 41, "٠123abcd"]


@pytest.mark.parametrize("text", NO_CURSORS)
def test_only_cursors_are_taken_for_cursors(text):
    with pytest.raises(Exception, match="expected the id of an event as it was sent"):
        parse_cursor(text)


def test_progress_is_told_to_readers_of_the_tournament_at_most_once_a_second(hub, logs, clock):
    clients = [Client(hub, topics) for topics in ("tournaments/cup", "arena", "tournaments/cup/matches/5")]
    sent = []
    for _ in range(8):
        hub.apply(logs.change(progressed=frozenset({1})))
        hub.flush()
        sent += [client.take() for client in clients]
        clock.seconds += 0.125
    told = [event for events in sent for event in events]
    assert told == [("progress", "tournaments/cup", None), ("progress", "arena", None)]


def test_a_match_that_is_void_is_read_again_and_stays_watched(hub, logs, clock):
    client = Client(hub, "tournaments/cup/matches/5")
    hub.apply(logs.change(live=(logs.see(1, 5, plies=3, seq=7),)))
    flushed(hub, client)
    clock.seconds += 1
    hub.apply(logs.change(gone=frozenset({(1, 5)})))
    assert flushed(hub, client) == [("reload", "tournaments/cup/matches/5", None)]
    assert hub.watched.places == {(1, 5)}
    clock.seconds += 1
    hub.apply(logs.change(live=(logs.see(1, 5, plies=1, seq=9),)))
    assert flushed(hub, client) == [("live", "tournaments/cup/matches/5", 9)]


@pytest.mark.parametrize(
    "topic",
    [
        *(Topic("t", number) for number in (1, 999_999_999, 1_000_000_000, 2**31 - 1)),
        Topic(),
        Topic(bots=("a",)),
        Topic(bots=("a/b@1,2",)),
        Topic(bots=("a", "versus")),
        Topic(game="file.py:Game/x"),
        CONTESTS,
    ],
)
def test_a_topic_has_a_path_and_a_cursor(topic):
    cursor = Cursor("0123abcd", {live_log(1, topic.match) if topic.match else topic.counter: 12})
    assert parse_topics(topic.path) == (topic,)
    assert parse_cursor(str(cursor)) == cursor


MATCHES = [f"tournaments/t/matches/{number}" for number in ("0", "-1", str(2**31), "9" * 5000, "\u0661")]
OTHERS = ["bots", "bots/", "bots/a/versus", "bots/a/versus/", "bots/a/b", "games/", "contests/", "contests/spring"]


@pytest.mark.parametrize("path", MATCHES + OTHERS)
def test_other_paths_are_no_topics(path):
    with pytest.raises(UsageError, match="expected arena"):
        parse_topics(path)
