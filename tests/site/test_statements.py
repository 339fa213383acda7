"""How many statements a page asks the store: they are most of what a page costs its builder."""

from contextlib import contextmanager

import pytest
from sqlalchemy import event

from arena.site.matches.match import build_match
from arena.site.matches.match_model import MatchParameters
from arena.site.pages.bot_profile import build_bot
from arena.site.pages.bot_profile_model import BotParameters
from tests.site.duels import duels, tell


@contextmanager
def statements(home):
    asked = []
    engine = home.store._database._engine

    def note(_connection, _cursor, statement, *_):
        asked.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize("matches", [2, 12])
def test_a_bot_costs_no_more_statements_the_more_matches_it_has_played(home, matches):
    tell(home, duels("a@1", "b@1", "w" * matches))
    build_bot(home, BotParameters(bot="a"))
    with statements(home) as asked:
        assert len(build_bot(home, BotParameters(bot="a")).results) == matches
    assert sum(one.startswith("SELECT") for one in asked) == 28


def test_a_match_costs_seven_statements_in_one_transaction(home):
    tell(home, duels("a@1", "b@1", "wl"))
    with statements(home) as asked:
        assert build_match(home, MatchParameters(tournament="t", match=2)).is_recorded
    assert [one.split()[0] for one in asked] == ["BEGIN", *["SELECT"] * 7]
