import pytest

from arena.base.errors import UsageError
from arena.store.people.unrated_match import (
    CLAIM_SECONDS,
    GIVES_WAY_SECONDS,
    IDLE_SECONDS,
    LONG_HELD_SECONDS,
    MENU_SECONDS,
    SLOTS_OF_A_PERSON,
    Choices,
    MatchState,
    PlayRequest,
    Position,
)
from arena.store.people.unrated_matches import FINISHING_SECONDS, KEPT_DAYS, MAX_TRIES
from arena.store.people.values import Role
from tests.databases import on_both
from tests.store.people.test_people_store import PARALLEL, at_once

CHOICES = Choices(game="differences", options='{"size": 4}', seat=0, bot="arena:greedy", per_action_milliseconds=500)
SLOTS = 4
OF_VISITORS = 2


@pytest.fixture
def matches(store, ada):
    store.unrated_matches.set_menu("{}", SLOTS)
    return store.unrated_matches


def later(matches, now, seconds):
    now.seconds += seconds
    matches.set_menu("{}", SLOTS)


def begin(matches, network="192.0.2.1", person=None):
    return matches.begin(CHOICES, person, network)


def position(state, plies=0, view="view", reason=""):
    return Position(state=state, actions="[]", plies=plies, view=view, reason=reason)


def ready(matches, plies=0, **who):
    one = begin(matches, **who)
    claim = matches.claim(one.number)
    assert claim.write(position(MatchState.PERSON, plies), "digest")
    return one, claim


@on_both
def test_a_match_keeps_what_was_chosen(matches, ada):
    one = begin(matches, person=ada.number)
    assert (one.choices, one.person, one.position.state) == (CHOICES, ada.number, MatchState.BEGINNING)
    assert (one.has_slot, one.is_waiting) == (True, True)
    assert matches.find(one.secret) == one
    assert matches.find(one.secret[:-1]) is None
    assert matches.of_person(ada.number) == [one]


def test_without_a_play_host_nobody_begins(store, now):
    store.unrated_matches.set_menu("body", SLOTS)
    assert store.unrated_matches.menu() == "body"
    now.seconds += MENU_SECONDS
    assert store.unrated_matches.menu() is None
    with pytest.raises(UsageError, match="nobody can play here now"):
        begin(store.unrated_matches)


def members(store, count):
    return [store.accounts.add(f"member{k}", Role.AUTHOR, "test").number for k in range(count)]


def test_no_more_begin_than_there_are_slots(store, matches, now):
    people = members(store, SLOTS + 2)
    for person in people[:SLOTS]:
        one = begin(matches, person=person)
    with pytest.raises(UsageError, match="all 4 slots are taken now"):
        begin(matches, person=people[-1])
    with pytest.raises(UsageError, match=r"all 4 slots are taken now; try again .* idle for 5 minutes"):
        begin(matches)
    matches.end(one.number, "You resigned.")
    begin(matches, person=people[-2])
    with pytest.raises(UsageError, match="all 4 slots"):
        begin(matches, person=people[-1])
    later(matches, now, IDLE_SECONDS)
    begin(matches, person=people[-1])


def test_slots_that_were_given_when_the_clock_was_ahead_are_free_again(store, matches, now):
    people = members(store, SLOTS + 1)
    later(matches, now, 86_400)
    for person in people[:SLOTS]:
        begin(matches, person=person)
    with pytest.raises(UsageError, match="all 4 slots"):
        begin(matches, person=people[-1])
    later(matches, now, -10)
    with pytest.raises(UsageError, match="all 4 slots"):
        begin(matches, person=people[-1])
    later(matches, now, -86_390)
    begin(matches, person=people[-1])


def test_visitors_of_many_networks_leave_half_of_the_slots_to_members(store, matches):
    for network in range(OF_VISITORS):
        begin(matches, f"192.0.2.{network}")
        if network == 0:
            with pytest.raises(UsageError, match=r"at most; sign in, or try again .* idle for 10 seconds"):
                begin(matches, "192.0.2.0")
    with pytest.raises(UsageError, match="all 2 of the 4 slots that visitors may take are taken now; sign in"):
        begin(matches, "192.0.2.99")
    for person in members(store, SLOTS - OF_VISITORS):
        begin(matches, person=person)


@pytest.mark.parametrize(("slots", "of_visitors"), [(1, 0), (2, 1), (3, 1), (4, 2), (8, 4), (9, 4)])
def test_how_many_slots_visitors_have(store, ada, slots, of_visitors):
    store.unrated_matches.set_menu("{}", slots)
    for network in range(of_visitors):
        begin(store.unrated_matches, f"192.0.2.{network}")
    with pytest.raises(UsageError, match=f"all {of_visitors} of the {slots} slots"):
        begin(store.unrated_matches, "192.0.2.99")


def held(matches, now, one, seconds):
    claim = matches.claim(one.number)
    assert claim.write(position(MatchState.PERSON), "digest")
    claim.release()
    for _ in range(int(seconds // 200)):
        later(matches, now, 200)
        matches.request(one.number, PlayRequest.HINT, 0)
        claim = matches.claim(one.number)
        assert claim.answer("a1")
        claim.release()


def test_a_visitor_who_has_held_a_slot_for_long_gives_it_up_when_no_other_is_free(matches, now):
    old = begin(matches, "192.0.2.1")
    held(matches, now, old, LONG_HELD_SECONDS - 200)
    young = begin(matches, "192.0.2.2")
    with pytest.raises(UsageError, match="all 2 of the 4 slots"):
        begin(matches, "192.0.2.3")
    later(matches, now, 200)
    assert matches.find(old.secret).has_slot  # nobody needs it
    third = begin(matches, "192.0.2.3")
    assert [matches.find(one.secret).has_slot for one in (old, young, third)] == [False, True, True]
    with pytest.raises(UsageError, match="all 2 of the 4 slots"):
        matches.request(old.number, PlayRequest.HINT, 0)
    matches.end(young.number, "You resigned.")
    matches.request(old.number, PlayRequest.HINT, 0)
    assert matches.find(old.secret).has_slot


def test_who_was_away_in_between_has_not_held_the_slot_meanwhile(matches, now):
    one = begin(matches, "192.0.2.1")
    held(matches, now, one, LONG_HELD_SECONDS - 600)
    later(matches, now, 10 * IDLE_SECONDS)
    other = begin(matches, "192.0.2.2")
    matches.request(one.number, PlayRequest.HINT, 0)
    assert matches.claim(one.number).answer("a1")
    with pytest.raises(UsageError, match="all 2 of the 4 slots"):
        begin(matches, "192.0.2.3")
    assert matches.find(other.secret).has_slot


def test_two_who_have_held_slots_for_long_do_not_take_them_from_each_other(matches, now):
    first = begin(matches, "192.0.2.1")
    held(matches, now, first, LONG_HELD_SECONDS)
    second, third = begin(matches, "192.0.2.2"), begin(matches, "192.0.2.3")
    assert not matches.find(first.secret).has_slot
    matches.end(third.number, "You resigned.")
    held(matches, now, second, LONG_HELD_SECONDS)
    fourth = begin(matches, "192.0.2.4")
    with pytest.raises(UsageError, match="all 2 of the 4 slots"):
        matches.request(first.number, PlayRequest.HINT, 0)
    assert all(matches.find(one.secret).has_slot for one in (second, fourth))


def test_a_member_gets_the_slot_of_a_visitor_who_has_held_it_for_long_and_none_of_a_member(store, matches, now):
    people = members(store, SLOTS)
    old = begin(matches, "192.0.2.1")
    held(matches, now, old, LONG_HELD_SECONDS)
    for person in people[:3]:
        begin(matches, person=person)
    begin(matches, person=people[3])
    assert not matches.find(old.secret).has_slot


def test_a_person_who_begins_more_gives_up_the_place_of_the_match_left_longest(matches, ada, now):
    begun = []
    for _ in range(SLOTS_OF_A_PERSON + 1):
        begun.append(begin(matches, person=ada.number))
        now.seconds += 1
    assert [matches.find(one.secret).has_slot for one in begun] == [False, True, True]


@pytest.mark.slow(sample=("sqlite",))
@on_both
def test_of_many_at_once_exactly_as_many_begin_as_there_are_slots(place, now, matches):
    results = at_once(place, now, PARALLEL, lambda store, k: begin(store.unrated_matches, f"192.0.2.{k}"))
    refused = [str(one) for one in results if isinstance(one, UsageError)]
    assert len(results) - len(refused) == OF_VISITORS
    assert all(sentence.startswith("all 2 of the 4 slots") for sentence in refused)


def test_a_request_is_for_the_match_as_it_was_seen(matches):
    one = begin(matches)
    with pytest.raises(UsageError, match="the bot is to act; wait for it"):
        matches.request(one.number, PlayRequest.ACT, 0, "a1")
    claim = matches.claim(one.number)
    claim.write(position(MatchState.PERSON, 2), "")
    with pytest.raises(UsageError, match="it has 2 actions now, yours came after 1"):
        matches.request(one.number, PlayRequest.ACT, 1, "a1")
    matches.request(one.number, PlayRequest.ACT, 2, "a1")
    with pytest.raises(UsageError, match="not handled your last input"):
        matches.request(one.number, PlayRequest.UNDO, 2)
    found = claim.read()
    assert (found.request, found.requested_action, found.is_waiting) == (PlayRequest.ACT, "a1", True)
    claim.write(position(MatchState.OVER, 3), "")
    with pytest.raises(UsageError, match="the match is over"):
        matches.request(one.number, PlayRequest.ACT, 3, "a1")


@pytest.mark.slow(only=("postgresql",))
@on_both
def test_of_two_tabs_at_once_one_acts(place, now, matches):
    one, _ = ready(matches)
    results = at_once(
        place, now, 20, lambda store, k: store.unrated_matches.request(one.number, PlayRequest.ACT, 0, f"a{k}")
    )
    assert sum(not isinstance(result, UsageError) for result in results) == 1


def test_who_was_away_gets_a_place_again_if_there_is_one(matches, now):
    one, _ = ready(matches)
    later(matches, now, IDLE_SECONDS)
    assert not matches.find(one.secret).has_slot
    for network in range(OF_VISITORS):
        last = begin(matches, f"198.51.100.{network}")
    with pytest.raises(UsageError, match="all 2 of the 4 slots"):
        matches.request(one.number, PlayRequest.HINT, 0)
    assert matches.find(one.secret).request is None
    matches.end(last.number, "You resigned.")
    matches.request(one.number, PlayRequest.HINT, 0)
    assert matches.find(one.secret).has_slot


def test_what_the_arena_owes_is_done_although_the_slot_is_gone(matches, now, ada):
    """The play host was away for long, or the person has begun other matches."""
    one, claim = ready(matches, person=ada.number)
    assert claim.write(position(MatchState.BOT, 1), "digest")
    claim.release()
    for _ in range(SLOTS_OF_A_PERSON):
        begin(matches, person=ada.number)
    assert not matches.find(one.secret).has_slot
    assert matches.waiting()[-1] == one.number
    claim = matches.claim(one.number)
    assert claim.read() is not None
    assert claim.write(position(MatchState.PERSON, 2), "digest")
    claim.release()
    later(matches, now, FINISHING_SECONDS + 1)
    assert not matches.find(one.secret).has_slot
    matches.request(one.number, PlayRequest.HINT, 2)


@on_both
def test_one_program_at_a_time_plays_a_match_on_and_another_when_it_was_killed(matches, now):
    one = begin(matches)
    assert matches.waiting() == [one.number]
    claim = matches.claim(one.number)
    assert matches.waiting() == []
    assert matches.claim(one.number) is None
    now.seconds += CLAIM_SECONDS - 1
    assert claim.keep()
    now.seconds += CLAIM_SECONDS - 1
    assert matches.claim(one.number) is None
    now.seconds += 2
    assert matches.waiting() == [one.number]
    assert matches.claim(one.number) is not None
    assert not claim.keep()
    assert claim.read() is None
    assert not claim.write(position(MatchState.OVER), "")
    assert matches.find(one.secret).position.state is MatchState.BEGINNING


@on_both
def test_what_killed_programs_have_left_is_free_at_once(matches):
    numbers = [begin(matches, f"192.0.2.{k}").number for k in range(2)]
    claims = [matches.claim(number) for number in numbers]
    for number in numbers:
        matches.release_left(number)
        assert matches.waiting() == [number]
        claims.append(matches.claim(number))
    matches.release_left()
    assert matches.waiting() == numbers
    assert [claim.keep() for claim in claims] == [False] * 4


def test_nobody_has_anything_to_do_while_the_person_thinks(matches):
    one, claim = ready(matches)
    claim.release()
    assert matches.waiting() == []
    matches.request(one.number, PlayRequest.HINT, 0)
    assert matches.waiting() == [one.number]
    claim = matches.claim(one.number)
    assert claim.answer("greedy@1 would play a1.")
    found = matches.find(one.secret)
    assert (found.answer, found.request, found.is_waiting) == ("greedy@1 would play a1.", None, False)


def test_a_match_that_ends_its_programs_fails_and_can_be_tried_again(matches, now):
    one = begin(matches)
    for _ in range(MAX_TRIES):
        assert matches.claim(one.number) is not None
        later(matches, now, CLAIM_SECONDS + 1)
    assert matches.claim(one.number) is None
    found = matches.find(one.secret)
    assert (found.position.state, found.has_slot) == (MatchState.FAILED, False)
    assert "no fault of yours" in found.position.reason
    matches.retry(one.number)
    assert matches.waiting() == [one.number]
    assert matches.claim(one.number) is not None
    with pytest.raises(UsageError, match="nothing in this match has failed, so there is nothing to try again"):
        matches.retry(one.number)


def test_what_gets_further_may_be_tried_as_often_again(matches, now):
    one = begin(matches)
    for plies in range(1, 2 * MAX_TRIES):
        assert matches.claim(one.number).write(position(MatchState.BOT, plies), "")
        later(matches, now, CLAIM_SECONDS + 1)
    assert matches.claim(one.number) is not None


def test_who_resigns_ends_the_match_at_once(matches):
    one = begin(matches)
    claim = matches.claim(one.number)
    matches.end(one.number, "You resigned.")
    assert not claim.write(position(MatchState.PERSON, 1), "")
    found = matches.find(one.secret)
    assert (found.position.state, found.position.reason, found.has_slot) == (MatchState.OVER, "You resigned.", False)
    with pytest.raises(UsageError, match="the match is over already"):
        matches.end(one.number, "You resigned.")


def test_matches_that_nobody_has_touched_for_long_are_deleted(matches, now):
    one = begin(matches)
    now.seconds += KEPT_DAYS * 86_400
    matches.prune()
    assert matches.find(one.secret) is not None
    now.seconds += 1
    matches.prune()
    assert matches.find(one.secret) is None


def test_who_leaves_leaves_no_match(store, matches, ada):
    store.accounts.add("olga", Role.OPERATOR, "test")
    one = begin(matches, person=ada.number)
    store.accounts.erase(ada)
    assert matches.find(one.secret) is None


@on_both
def test_where_nobody_has_an_account_visitors_have_all_slots(store):
    store.unrated_matches.set_menu("{}", SLOTS)
    for _ in range(SLOTS):
        begin(store.unrated_matches)
    with pytest.raises(UsageError, match=f"visitors from one network have {SLOTS} slots at most; try again"):
        begin(store.unrated_matches)


@on_both
def test_a_match_that_its_visitor_has_left_gives_way_to_the_next_and_can_be_continued(matches, now, ada):
    left, claim = ready(matches)
    later(matches, now, GIVES_WAY_SECONDS - 1)
    with pytest.raises(UsageError, match="visitors from one network have 1 slot at most"):
        begin(matches)
    later(matches, now, 1)
    following = begin(matches)
    assert (matches.find(left.secret).has_slot, following.has_slot) == (False, True)
    assert claim.read() is None
    later(matches, now, GIVES_WAY_SECONDS)
    with pytest.raises(UsageError, match="visitors from one network have 1 slot at most"):
        begin(matches)  # the arena is at the next one, so that is not left
    claim = matches.claim(following.number)
    assert claim.write(position(MatchState.PERSON), "digest")
    matches.request(left.number, PlayRequest.ACT, 0, "a1")
    assert (matches.find(left.secret).has_slot, matches.find(following.secret).has_slot) == (True, False)
    with pytest.raises(UsageError, match=r"1 slot at most; sign in, or try again .* idle for 10 seconds"):
        matches.request(following.number, PlayRequest.ACT, 0, "a1")  # the arena is at the first one


@on_both
def test_a_match_begins_after_the_actions_that_are_played_on(matches):
    one = matches.begin(CHOICES, None, "192.0.2.1", "[[0, [1, 1], null, null], [1, [2, 3], null, null]]")
    assert (one.position.plies, one.position.state) == (2, MatchState.BEGINNING)
    assert matches.waiting() == [one.number]
