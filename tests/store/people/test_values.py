import re
from itertools import combinations

import pytest

from arena.base.errors import UsageError
from arena.store.people.secret import (
    check_password,
    hash_password,
    is_right,
    is_secret,
    is_token,
    new_secret,
    new_token,
)
from arena.store.people.values import (
    MEMBER_ROLES,
    PERMISSIONS,
    Permission,
    Role,
    Scope,
    is_person_name,
    look_alike_key,
    permissions_of_token,
    scopes_of,
)


def test_each_role_may_do_all_that_the_one_below_may_and_operators_alone_manage_people():
    for lower, higher in zip(Role, list(Role)[1:], strict=False):
        assert PERMISSIONS[lower] < PERMISSIONS[higher]
    assert [role for role in Role if Permission.MANAGE_PEOPLE in PERMISSIONS[role]] == [Role.OPERATOR]
    assert Permission.MANAGE_PEOPLE not in permissions_of_token(Role.OPERATOR, frozenset(Scope))
    assert scopes_of(Role.AUTHOR) == (Scope.READ, Scope.SUBMIT, Scope.PLAY)


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_a_token_never_may_more_than_its_owner_may_now(role):
    for count in range(len(Scope) + 1):
        for scopes in combinations(Scope, count):
            assert permissions_of_token(role, frozenset(scopes)) <= PERMISSIONS[role]


def test_a_token_of_a_director_who_became_an_author_does_not_direct():
    scopes = frozenset({Scope.DIRECT, Scope.SUBMIT})
    assert Permission.DIRECT in permissions_of_token(Role.DIRECTOR, scopes)
    assert permissions_of_token(Role.AUTHOR, scopes) == {Permission.SUBMIT}


ACCEPTED = ("ada", "Ada", "ada-lovelace", "a1", "A.B_c-d", "x" * 32)
REFUSED = (
    *("", "a", "x" * 33, "1a", "-ada", "ada-", "a--b", "a b", "a@b", "a/b", "ада", "adä", "ada\n", "ada\u200b"),
    *("a\0b", "root", "Admin", "human", "arena", "left-5", "a\uff41", "<b>", "a'b", "..", "a\u202eb"),
)


def test_a_name_is_accepted_or_refused():
    assert [name for name in (*ACCEPTED, *REFUSED) if is_person_name(name)] == [*ACCEPTED]


ALIKE = ["Illa=lIIa", "bob=b0b", "ada=A-D-A", "modern=modem", "vvill=will", "clan=dan", "club=c1ub", "my bot=mybot"]
DIFFERENT = ["ada=adam", "bob=rob", "anna=hanna", "x1=x2"]


@pytest.mark.parametrize("pair", ALIKE + DIFFERENT)
def test_names_that_look_alike_are_one_and_others_two(pair):
    name, other = map(look_alike_key, pair.split("="))
    assert (name == other) == (pair in ALIKE)


def test_a_secret_has_256_bits_and_a_token_can_be_found_in_a_text_and_a_mistyped_one_is_none():
    secrets = {new_secret() for _ in range(1000)}
    assert len(secrets) == 1000
    assert all(is_secret(secret) for secret in secrets)
    assert not is_secret(next(iter(secrets))[:-1])
    token = new_token()
    assert re.fullmatch(r"arena_[A-Za-z0-9_-]{49}", token)
    assert is_token(token)
    for place in range(len(token)):
        letter = "A" if token[place] != "A" else "B"
        assert not is_token(token[:place] + letter + token[place + 1 :])
    assert not is_token(token + "\n")


@pytest.mark.parametrize(
    "password", ["", "short", "aaaaaaaaaaaa", "ababababab", "ada-lovelace1", "x" * 201, "ada-lovelaceada-lovelace"]
)
def test_a_password_that_is_refused_is_not_repeated(password):
    with pytest.raises(UsageError) as caught:
        check_password(password, "ada-lovelace")
    assert not password or password not in str(caught.value)


@pytest.mark.slow(sample=True)
def test_the_right_password_and_no_other():
    check_password("correct horse", "ada")
    stored = hash_password("correct horse")
    assert stored.startswith("$argon2id$")
    assert is_right("correct horse", stored)
    assert not is_right("correct hors", stored)
    assert not is_right("correct horse", None)
    assert not is_right("correct horse", "no hash at all")
