from arena.match.players.transcript import MAX_BYTES, Entry, Transcript

QUESTION, LARGE = b"\0\0\0\1q", b"x" * MAX_BYTES


def transcript_of(turns, keeps_sent=False):
    transcript = Transcript(keeps_sent)
    for _ in range(turns):
        transcript.add((Entry.QUESTION, QUESTION))
        transcript.add((Entry.ANSWER, LARGE))
        transcript.shrink()
    return transcript


def test_the_last_exchange_is_kept_however_large_it_is():
    transcript = transcript_of(3)
    assert transcript.before_last_exchange() == []
    assert transcript.last_exchange() == (QUESTION, MAX_BYTES.to_bytes(4, "big") + LARGE)


def test_what_is_sent_is_kept_without_the_answers():
    """A repro of a match of many plies holds one answer, not all of them."""
    frames = transcript_of(50, keeps_sent=True).frames()
    assert [frame.data for frame in frames if frame.is_sent] == [QUESTION] * 50
    assert len(frames) == 51


def test_small_frames_are_bounded_by_their_number():
    transcript = Transcript()
    for _ in range(100):
        transcript.add((Entry.QUESTION, QUESTION))
        transcript.add((Entry.ANSWER, b"a"))
    transcript.shrink()
    assert len(transcript.frames()) == 32
