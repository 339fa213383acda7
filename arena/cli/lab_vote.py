"""``arena lab vote``: which of two sets of options people prefer, without knowing which is which."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from arena.cli.common import open_home, print_json, print_wrapped
from arena.cli.options import WholeNumber, json_option
from arena.errors import UsageError
from arena.names import is_visible_text
from arena.report.tables import printable, printable_lines
from arena.text import counted

if TYPE_CHECKING:
    from arena.home import ArenaHome
    from arena.lab.votes import Tally
    from arena.records import MatchRecord
    from arena.store.values import StoredTournament

WIDTH = 80
MAX_VOTER_CHARACTERS = 64


@click.command("vote")
@click.argument("a")
@click.argument("b")
@click.option("--count", type=WholeNumber(0, 1000), default=10, show_default=True, help="How many pairs to show.")
@click.option("--voter", default="", metavar="NAME", help="Who votes; so that the voters can be counted.")
@json_option
def vote(a: str, b: str, count: int, voter: str, as_json: bool) -> None:
    """Ask which of two matches you would rather have played: one of tournament A, and one of tournament B.

    A and B are tournaments of one game each, which differ in the game's options. Neither the tournaments nor the bots
    are named, and the order of each pair is random. Answers are kept in the home. The votes so far are counted at the
    end, and with --count 0 or --json nothing else is done.
    """
    from arena.lab.votes import game_text, read_votes, tally

    if len(voter) > MAX_VOTER_CHARACTERS or not is_visible_text(voter):
        raise UsageError(f"--voter {voter!r}: expected at most {MAX_VOTER_CHARACTERS} visible characters")
    with open_home(must_exist=True) as arena_home:
        sides = [_side(arena_home, name) for name in (a, b)]
        texts = [game_text(side.game, side.options) for side in sides]
        if texts[0] == texts[1]:
            raise UsageError(f"tournaments {a!r} and {b!r}: both play {texts[0]}; expected different options")
        if not as_json:
            _ask(arena_home, sides, texts, count, voter)
        votes = read_votes(arena_home.directory, *texts)
        found = tally(votes, *texts)
    if as_json:
        print_json(_as_json(texts, found))
    else:
        _show(texts, found)


@dataclass(frozen=True, slots=True)
class _Side:
    """A tournament whose matches are shown."""

    tournament: StoredTournament
    game: str
    options: dict[str, Any]
    matches: Sequence[int]


def _side(arena_home: ArenaHome, name: str) -> _Side:
    stored = arena_home.store.tournament(name)
    games = stored.definition.games
    if len(games) != 1:
        raise UsageError(f"tournament {name!r}: it plays {counted(len(games), 'game')}; expected one")
    matches = sorted(arena_home.store.recorded_matches(stored))
    if not matches:
        raise UsageError(f"tournament {name!r}: no match has been recorded yet")
    return _Side(stored, games[0].game, dict(games[0].options), matches)


def _ask(arena_home: ArenaHome, sides: Sequence[_Side], texts: Sequence[str], count: int, voter: str) -> None:
    from arena.lab.votes import Vote, add_vote

    rng = random.SystemRandom()
    for number in range(1, count + 1):
        chosen = [rng.choice(side.matches) for side in sides]
        order = rng.sample((0, 1), 2)
        for place, which in enumerate(order, 1):
            side = sides[which]
            click.echo(_match_text(f"Match {place}", arena_home.store.record_of(side.tournament, chosen[which])))
        answer = _answer(f"Pair {number} of {count}: which would you rather have played? 1, 2, s to skip, q to quit")
        if answer == "q":
            return
        if answer == "s":
            continue
        preferred = order[int(answer) - 1]
        shown = [f"{sides[which].tournament.name}/{chosen[which]}" for which in (preferred, 1 - preferred)]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        add_vote(
            arena_home.directory,
            Vote(voter=voter, preferred=texts[preferred], other=texts[1 - preferred], matches=tuple(shown), at=now),
        )


def _answer(question: str) -> str:
    """Return 1, 2, s or q; the end of the input is q."""
    while True:
        try:
            text = str(click.prompt(question, default="", show_default=False, prompt_suffix=" ")).strip().lower()
        except click.Abort:
            click.echo()
            return "q"
        if text in ("1", "2", "s", "q"):
            return text
        click.echo("Expected 1, 2, s or q.")


def _match_text(title: str, record: MatchRecord) -> str:
    """Return a match as text: its actions, its last board and its scores, without names."""
    from arena.match.replay import states_of

    played = list(states_of(record))
    game, state = played[-1]
    actions = " ".join("out" if action is None else str(game.format_action(action)) for _, action in record.actions)
    scores = " : ".join(f"{score:g}" for score in record.scores)
    board = game.render_after(state, [(seat, action) for seat, action in record.actions])
    lines = [title, *textwrap.wrap(printable(actions), WIDTH - 2, initial_indent="  ", subsequent_indent="  ")]
    return "\n".join([*lines, printable_lines(board), f"scores {scores}", ""])


def _show(texts: Sequence[str], found: Tally) -> None:
    for text, votes in zip(texts, (found.first, found.second), strict=True):
        click.echo(printable(f"{votes:>5}  {text}"))
    if found.votes:
        low, high = found.interval
        share = f"{100 * found.first / found.votes:.1f} % prefer the first [{100 * low:.1f}, {100 * high:.1f}] at 95 %"
        click.echo(f"{share}, from {counted(found.votes, 'vote')} of {counted(found.voters, 'voter')}")
    if found.strength is not None:
        click.echo("Bradley-Terry strength of the first: {:+.2f} [{:+.2f}, {:+.2f}]".format(*found.strength))
    print_wrapped("", 0, _verdict(texts, found))


def _verdict(texts: Sequence[str], found: Tally) -> str:
    from arena.lab.votes import needed_votes

    if found.missing:
        return (
            f"Which is preferred is not known yet: {counted(found.missing, 'more vote')} of {needed_votes()} to notice"
            " a preference of 60:40 with a probability of 80 %."
        )
    if not found.is_decided:
        return "Which is preferred is not known: the interval includes one half."
    return printable(f"Preferred: {texts[0] if found.first > found.second else texts[1]}.")


def _as_json(texts: Sequence[str], found: Tally) -> dict[str, Any]:
    from arena.lab.votes import needed_votes

    return {
        "first": texts[0],
        "second": texts[1],
        "votes": [found.first, found.second],
        "voters": found.voters,
        "share_95": list(found.interval),
        "strength": None if found.strength is None else found.strength[0],
        "strength_95": None if found.strength is None else list(found.strength[1:]),
        "needed": needed_votes(),
        "missing": found.missing,
        "preferred": None if not found.is_decided else texts[0] if found.first > found.second else texts[1],
    }
