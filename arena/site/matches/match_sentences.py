"""A match in sentences: how it ended, and each of its positions."""

from __future__ import annotations

from collections.abc import Sequence

from arena.base.enums import Termination
from arena.base.records import MatchRecord
from arena.base.text import all_of, counted, score_text


def result_sentence(record: MatchRecord, names: Sequence[str], reader: int | None = None) -> str:
    """Return how a match ended.

    Args:
        record: the match.
        names: of the bots.
        reader: the seat of the person who reads it; None where bots play alone.
    """
    if {fault.seat for fault in record.faults} == set(range(len(names))):
        return f"No bot played it to the end{_reason(record, names)}."
    return f"{_placing(record, names, reader)}{_reason(record, names)}."


def _placing(record: MatchRecord, names: Sequence[str], reader: int | None) -> str:
    first = sorted((seat for seat, rank in enumerate(record.ranks) if rank == 1), key=lambda seat: seat != reader)
    rest = sorted((seat for seat in range(len(names)) if seat not in first), key=lambda seat: record.ranks[seat])
    scores = " : ".join(score_text(record.scores[seat]) for seat in (*first, *rest))
    winners = all_of(["You" if seat == reader else names[seat] for seat in first])
    has_forfeit = bool(record.faults)
    if not rest:
        return f"{winners} tie {scores}" if not has_forfeit else winners
    verb = "share the first place" if len(first) > 1 else "win" if first == [reader] else "wins"
    return f"{winners} {verb}" if has_forfeit else f"{winners} {verb} {scores}"


def _reason(record: MatchRecord, names: Sequence[str]) -> str:
    faults = all_of([f"{names[fault.seat]} forfeits ({fault.kind} at ply {fault.ply})" for fault in record.faults])
    if faults:
        return f": {faults}"
    if record.termination is Termination.ADJUDICATION:
        return f", at the limit of {counted(record.ply_limit or len(record.actions), 'ply')}"
    return ""


def position_sentence(
    record: MatchRecord,
    names: Sequence[str],
    ply: int,
    action: str,
    scores: Sequence[int | float | None],
    due: int | None,
    reader: int | None = None,
) -> str:
    """Return a position as a sentence, for those who do not see the board.

    Args:
        record: the match.
        names: of the bots.
        ply: how many actions led to it.
        action: the text of the last.
        scores: of each seat; None where the rules don't say.
        due: the seat to act; None at the end.
        reader: the seat of the person who reads it; None where bots play alone.
    """
    parts = [_action_sentence(record, names, ply, action, reader)]
    if None not in scores:
        parts.append(f"scores {' : '.join(score_text(score or 0) for score in scores)}")
    if due is not None and due == reader:
        turn = "" if record.faults else " It is your turn."  # a forfeit has ended the match
        return f"{'; '.join(parts)}.{turn}"
    if due is not None and 0 <= due < len(names):
        parts.append(f"{names[due]} is to act")
    return f"{'; '.join(parts)}."


def _action_sentence(record: MatchRecord, names: Sequence[str], ply: int, action: str, reader: int | None) -> str:
    if not ply:
        return "The beginning"
    seat, raw = record.actions[ply - 1]
    if raw is None:
        return f"{names[seat]} is out"
    who = "You play" if seat == reader else f"{names[seat]} plays"
    return f"{who} {action}" + (", in the opening" if ply <= record.opening_plies else "")
