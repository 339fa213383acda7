"""Who may do what: a role is a set of permissions, a token has only some of them."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a person is in an arena. Whoever is not signed in is a visitor."""

    VISITOR = "visitor"
    AUTHOR = "author"
    DIRECTOR = "director"
    OPERATOR = "operator"


MEMBER_ROLES = (Role.AUTHOR, Role.DIRECTOR, Role.OPERATOR)
"""The roles that a person can be given."""


class Permission(StrEnum):
    """Something that not everybody may do."""

    PLAY = "play"
    """Play against bots."""
    SUBMIT = "submit"
    """Hand in bots, and see what is known of one's own."""
    DIRECT = "direct"
    """Make and change contests."""
    INVITE_AUTHORS = "invite authors"
    MODERATE_AUTHORS = "moderate authors"
    """Close the accounts of authors, and open them again."""
    MANAGE_PEOPLE = "manage people"
    """Invite anybody, change roles, and close any account."""


_AUTHOR = frozenset({Permission.PLAY, Permission.SUBMIT})
_DIRECTOR = _AUTHOR | {Permission.DIRECT, Permission.INVITE_AUTHORS, Permission.MODERATE_AUTHORS}

PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.VISITOR: frozenset({Permission.PLAY}),
    Role.AUTHOR: _AUTHOR,
    Role.DIRECTOR: _DIRECTOR,
    Role.OPERATOR: frozenset(Permission),
}


class Scope(StrEnum):
    """What a token is good for."""

    READ = "read"
    SUBMIT = "submit"
    PLAY = "play"
    DIRECT = "direct"


SCOPE_PERMISSIONS: dict[Scope, frozenset[Permission]] = {
    Scope.READ: frozenset(),
    Scope.SUBMIT: frozenset({Permission.SUBMIT}),
    Scope.PLAY: frozenset({Permission.PLAY}),
    Scope.DIRECT: _DIRECTOR - _AUTHOR,
}


def scopes_of(role: Role) -> tuple[Scope, ...]:
    """Return the scopes that a token of somebody with this role can have."""
    return tuple(scope for scope in Scope if SCOPE_PERMISSIONS[scope] <= PERMISSIONS[role])


def permissions_of_token(role: Role, scopes: frozenset[Scope]) -> frozenset[Permission]:
    """Return what a token may do: never more than the person it belongs to may do now."""
    granted = frozenset[Permission]().union(*(SCOPE_PERMISSIONS[scope] for scope in scopes))
    return granted & PERMISSIONS[role]
