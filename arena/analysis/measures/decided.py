"""What a tournament that plays until it is decided has decided so far."""

from __future__ import annotations

from math import ceil
from typing import cast

from arena.base.enums import StopReason
from arena.base.errors import DefinitionError
from arena.base.until import Claim, Decided, OpenClaim
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.formats.until_decided import MATCHES, UntilDecided
from arena.tournament.rounds import played_format


def decided_so_far(store: Store, tournament: StoredTournament) -> Decided | None:
    """Return what is decided after the last complete round; None if a tournament has a fixed schedule."""
    until = tournament.definition.until
    if until is None:
        return None
    try:
        deciding = cast(UntilDecided, played_format(store, tournament)).deciding
    except DefinitionError:  # too many bots have withdrawn: nothing is left to decide
        return None
    labels = [bot.label for bot in tournament.definition.entrants]
    claims = []
    for pair, claim in deciding.decision.claims.items():
        bot, rival = claim.ordered(pair)
        claims.append(Claim(bot=labels[bot], rival=labels[rival], claim=claim.kind, error=claim.error))
    is_known = deciding.look is not None and deciding.is_begun
    games = len(tournament.definition.games)
    still_open = tuple(
        OpenClaim(
            bot=labels[pair.bots[0]],
            rival=labels[pair.bots[1]],
            difference=pair.difference,
            matches=MATCHES * games * max(1, ceil(pair.encounters / games)),
        )
        for pair in (deciding.look.open if deciding.look is not None else ())
    )
    reason = deciding.reason
    if reason is None and tournament.finished_at is not None:
        reason = StopReason.HOURS
    return Decided(
        until=until,
        decided=is_known and not still_open,
        stopped_because=reason,
        claims=tuple(claims),
        open=still_open,
        matches_needed=sum(open_claim.matches for open_claim in still_open) if is_known else None,
    )
