"""Who a program is at a site, and the end of its token."""

from __future__ import annotations

from dataclasses import dataclass

from arena.base.errors import SiteError
from arena.cli.remote.fields import MAX_WORDS, Fields
from arena.cli.remote.site_client import NOT_FOUND, SiteClient

MAX_TOKENS = 1000


@dataclass(frozen=True, slots=True)
class Account:
    """An account, as a program of it sees it.

    Attributes:
        name: of the person.
        role: what they are.
        scopes: what the program's token is good for.
        expires_at: until when it is.
    """

    name: str
    role: str
    scopes: tuple[str, ...]
    expires_at: str


def account_of(client: SiteClient) -> Account:
    """Return the account that a client acts for.

    Raises:
        SiteError: if the token is not good for anybody, or what answers is no arena.
        SiteAwayError: if the site can't be reached, or fails.
    """
    try:
        answer = Fields(client.get_json("/account"), client.no_arena())
    except SiteError as error:
        if error.status != NOT_FOUND:
            raise
        sentence = "nobody can sign in there; its director can change that: arena serve --open-to authors"
        raise SiteError(f"{client.site}: {sentence}", NOT_FOUND) from error
    token = next((token for token in answer.objects("tokens", MAX_TOKENS) if token.flag("is_this")), None)
    if token is None:
        raise client.no_arena()
    scopes = tuple(token.texts("scopes", MAX_WORDS))
    return Account(answer.text("name"), answer.text("role"), scopes, token.text("expires_at"))


def end_token(client: SiteClient) -> None:
    """End the token of a client.

    Raises:
        SiteError: if the token is not good for anybody, or what answers is no arena.
        SiteAwayError: if the site can't be reached, or fails.
    """
    client.post_json("/account/token/end")
