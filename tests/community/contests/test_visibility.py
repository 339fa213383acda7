from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from arena.community.contests.visibility import ContestHome, embargoed_tournaments, playing_home, visible
from arena.store.people.contest import ContestPhase, ContestStage, phase_of
from arena.store.people.values import PERMISSIONS, Permission, Role
from tests.community.contests import samples
from tests.community.contests.samples import OPEN, SEALED, stored_of

OPENS, FREEZE, DEADLINE = (datetime.fromtimestamp(at, UTC) for at in (samples.OPENS, samples.FREEZE, samples.DEADLINE))
SECOND = timedelta(seconds=1)


def text(at):
    return at.isoformat(timespec="seconds")


FROZEN = stored_of()
LATER = text(DEADLINE + 5 * SECOND)


def test_phases_by_the_clock_and_by_what_is_played():
    assert phase_of(FROZEN, text(OPENS - SECOND)) is ContestPhase.ANNOUNCED
    assert phase_of(FROZEN, text(OPENS)) is phase_of(FROZEN, text(DEADLINE)) is ContestPhase.ENTERING
    assert phase_of(FROZEN, text(DEADLINE + SECOND)) is ContestPhase.CLOSED
    final = replace(FROZEN, stage=ContestStage.FINAL)
    played = replace(FROZEN, stage=ContestStage.PLAYED, played_at=LATER)
    assert phase_of(final, LATER) is ContestPhase.PLAYING
    assert phase_of(played, LATER) is ContestPhase.PLAYED
    assert phase_of(replace(played, revealed_at=LATER), LATER) is ContestPhase.FINISHED
    assert phase_of(replace(stored_of(**OPEN), played_at=LATER), LATER) is ContestPhase.FINISHED
    assert phase_of(replace(final, revealed_at=LATER), LATER) is ContestPhase.PLAYING
    assert phase_of(replace(played, cancelled_at=LATER), LATER) is ContestPhase.CANCELLED


def test_tournaments_are_hidden_since_the_freeze_and_sealed_ones_since_the_opening():
    def hidden(stored, permissions=()):
        return {(one.name, one.since) for one in embargoed_tournaments([stored], permissions, text(FREEZE))}

    both = ("spring", "spring-qualification")
    assert hidden(FROZEN) == {(name, text(FREEZE)) for name in both}
    assert hidden(stored_of(**SEALED)) == {(name, text(OPENS)) for name in both}
    assert hidden(FROZEN, {Permission.DIRECT}) == hidden(stored_of(**OPEN)) == set()
    assert embargoed_tournaments([FROZEN], (), text(FREEZE - SECOND)) == set()


times = st.datetimes(datetime(2027, 1, 1), datetime(2027, 2, 1)).map(lambda at: text(at.replace(tzinfo=UTC)))
permissions = st.sets(st.sampled_from(Permission))
contests = st.sampled_from([FROZEN, stored_of(**OPEN), stored_of(**SEALED)])


@given(contests, permissions, times, st.booleans(), st.booleans(), st.booleans())
@example(FROZEN, PERMISSIONS[Role.AUTHOR], text(FREEZE - SECOND), False, False, False)
@example(FROZEN, PERMISSIONS[Role.DIRECTOR], text(FREEZE), False, False, False)
@example(FROZEN, set(Permission) - {Permission.DIRECT}, text(FREEZE), False, False, False)
def test_who_does_not_direct_sees_no_more_than_the_public_home(stored, may, now, is_revealed, is_played, is_cancelled):
    stored = replace(
        stored,
        revealed_at=now if is_revealed else None,
        played_at=now if is_played else None,
        cancelled_at=now if is_cancelled else None,
    )
    seen = visible(stored, may, now)
    is_hidden = not is_revealed and (
        stored.contest.results == "sealed" or (stored.contest.results == "frozen" and now >= text(FREEZE))
    )
    directs = Permission.DIRECT in may
    assert (seen.home is ContestHome.EMBARGOED) == (is_hidden and directs)
    assert seen.has_all == (directs or not is_hidden)
    since = {"sealed": text(OPENS), "frozen": text(FREEZE)}.get(stored.contest.results)
    assert seen.hidden_since == (since if is_hidden else None)
    assert playing_home(stored, now) is (ContestHome.EMBARGOED if is_hidden else ContestHome.PUBLIC)
