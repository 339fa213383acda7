import pytest

from arena.base.errors import UsageError
from arena.store.people import contest_messages
from tests.community.contests.samples import OPENS, contest_of
from tests.databases import on_both


@on_both
def test_questions_use_up_nothing_of_what_directors_may_announce(store, now, ada, monkeypatch):
    monkeypatch.setattr(contest_messages, "MAX_MESSAGES", 2)
    now.seconds = OPENS - 3600
    spring = store.contests.add("dora", contest_of())
    messages = store.contest_messages
    for text in ("May I use NumPy?", "And SciPy?"):
        messages.ask(ada, "spring", text)
    with pytest.raises(UsageError, match="at most 2 questions"):
        messages.ask(ada, "spring", "And JAX?")
    for text in ("It begins an hour later.", "It begins tomorrow."):
        messages.announce("dora", "spring", text)
    with pytest.raises(UsageError, match="at most 2 announcements"):
        messages.announce("dora", "spring", "It began.")
    assert len(messages.of(spring.number, None, is_director=True)) == 4
