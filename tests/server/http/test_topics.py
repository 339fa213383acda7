import pytest

from arena.base.errors import UsageError
from arena.server.http.topics import CONTESTS, Cursor, Topic, live_log, parse_cursor, parse_topics


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
