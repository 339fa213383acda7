"""Topics and cursors of every match that a page may be about."""

import pytest

from arena.errors import UsageError
from arena.web.cursor import Cursor, live_log, parse_cursor
from arena.web.topics import CONTESTS, Topic, parse_topics


@pytest.mark.parametrize("number", [1, 999_999_999, 1_000_000_000, 2**31 - 1])
def test_every_match_that_has_an_address_has_a_topic_and_a_cursor(number):
    topic = Topic("t", number)
    cursor = Cursor("0123abcd", {live_log(1, number): 7})
    assert parse_topics(topic.path) == (topic,)
    assert parse_cursor(str(cursor)) == cursor


@pytest.mark.parametrize("number", ["0", "-1", str(2**31), "9" * 5000, "\u0661"])
def test_other_numbers_are_refused(number):
    with pytest.raises(UsageError, match="expected arena"):
        parse_topics(f"tournaments/t/matches/{number}")


@pytest.mark.parametrize(
    "topic",
    [
        Topic(),
        Topic(bots=("a",)),
        Topic(bots=("a/b@1,2",)),
        Topic(bots=("a", "versus")),
        Topic(game="file.py:Game/x"),
        CONTESTS,
    ],
)
def test_topics_of_several_tournaments_have_a_path_and_a_counter(topic):
    cursor = Cursor("0123abcd", {topic.counter: 12})
    assert parse_topics(topic.path) == (topic,)
    assert parse_cursor(str(cursor)) == cursor


@pytest.mark.parametrize(
    "path", ["bots", "bots/", "bots/a/versus", "bots/a/versus/", "bots/a/b", "games/", "contests/", "contests/spring"]
)
def test_other_paths_are_no_topics(path):
    with pytest.raises(UsageError, match="expected arena"):
        parse_topics(path)
