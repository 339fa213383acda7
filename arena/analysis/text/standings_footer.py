"""The sentences under standings: what was counted, and what the ratings rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.analysis.measures.standings import Standings
from arena.analysis.text.corrections_table import corrections_line
from arena.base.text import all_of, counted
from arena.ratings.consistency import MIN_ENCOUNTERS, MIN_FREEDOM

MIN_BOTS = 4
"""The ratings of two bots fit any results of theirs, and those of three all but a cycle."""


def standings_footer(table: Standings) -> str:
    """Return the sentences under standings: what was counted, and what the ratings rest on.

    Before any match it is only what was corrected, if anything.
    """
    corrected = corrections_line(table.corrections)
    if not table.matches:
        return corrected
    of = f"{table.matches:,} of " if table.scheduled is not None else ""
    played = of + counted(table.matches if table.scheduled is None else table.scheduled, "match")
    if table.scheduled is not None and (table.matches < table.scheduled or not table.is_finished):
        played += ": the tournament is not complete"
    duplicates = table.matches - table.rated
    sentences = [f"{played}. ", f"{corrected} " if corrected else ""]
    if duplicates:
        sentences.append(
            f"{counted(duplicates, 'duplicate match')} {'is' if duplicates == 1 else 'are'} not rated:"
            " their bots always play the same match from that opening. "
        )
    if table.adjudicated:
        ended = f"{counted(table.adjudicated, 'match')} ended at the limit of plies"
        sentences.append(f"{ended}, ranked by the scores as they stood. ")
    functions = [line.bot for line in table.lines if line.is_function]
    if functions:
        sentences.append(
            f"{all_of(functions)} {'is a Python function' if len(functions) == 1 else 'are Python functions'},"
            " played without isolation. "
        )
    if table.first_seat_share is not None:
        sentences.append(f"Seat 0 scores {100 * table.first_seat_share:.1f} %. ")
    if table.draw_probability is not None:
        sentences.append(f"Two equal bots draw with probability {table.draw_probability:.3f}. ")
    sentences.append(f"{_about_the_fit(table)} ")
    if any(line.same_as_next for line in table.lines):
        sentences.append('"=": the rating and the next one can\'t be told apart at 95 %.')
    return "".join(sentences).strip()


def _about_the_fit(table: Standings) -> str:
    """Return how wide the prior is, and whether a single rating for each bot fits the results."""
    tested = table.consistency
    prior = f"Prior sd {table.fitted.prior_width:.1f} (estimated)"
    if tested.phi is None:
        return f"{prior}. {untested_text(table)}"
    overdispersion = f"{prior}. Overdispersion φ = {tested.phi:.2f}"
    if not tested.is_flagged:
        return f"{overdispersion}: a single rating per bot fits."
    cycles = ", ".join(cycle_text(cycle, table.shown_names) for cycle in tested.cycles[:3])
    shown_cycles = f" ({cycles})" if cycles else ""
    return (
        f"{overdispersion}: A SINGLE RATING PER BOT DOES NOT FIT{shown_cycles}; see the crosstable, or Nash averaging"
        " with arena stats."
    )


def untested_text(table: Standings) -> str:
    """Return why there is no test whether a single rating per bot fits: what there is, and what it takes."""
    tested, bots = table.consistency, len(table.fitted.names)
    if bots < MIN_BOTS:
        why = f"that takes {MIN_BOTS} bots or more"
    elif not tested.pairs:
        most = counted(tested.most_encounters, "encounter")
        why = f"no two bots have met in more than {most}, and it takes {MIN_ENCOUNTERS}"
    elif tested.pairs <= bots:
        met = f"{counted(tested.pairs, 'pair')} of bots {'has' if tested.pairs == 1 else 'have'} met"
        why = f"{met} in {MIN_ENCOUNTERS} encounters or more, and with {bots} bots it takes {bots + 1} such pairs"
    else:
        why = (
            f"the {tested.pairs} pairs of bots that have met in {MIN_ENCOUNTERS} encounters or more leave"
            f" {tested.freedom:.1f} degrees of freedom, and it takes {MIN_FREEDOM:g}: more encounters, or more bots"
        )
    return f"Whether a single rating per bot fits can't be tested: {why}."


def cycle_text(cycle: Sequence[str], names: Mapping[str, str]) -> str:
    """Return a cycle as ``a > b > c > a``.

    Args:
        cycle: bots as ``name@version``, each of which beats the next.
        names: the name to show of each bot; one that is disqualified has none, and is shown as it is.
    """
    return " > ".join(names.get(label, label) for label in (*cycle, cycle[0]))
