import re

import pytest

from arena.community.uploads.entry import RejectedError
from tests.community.uploads.archives import unpack_here
from tests.community.uploads.hostile import HOSTILE

LATER = {f"zip: {what}" for what in ("without a manifest", "two bots")}
"""What is refused only when everything has been unpacked."""


@pytest.mark.slow(only=("bzip2 of zeros", "tar: 60,000 entries", "xz of zeros"), sample=("xz of zeros",))
@pytest.mark.parametrize("what", sorted(HOSTILE.keys() - LATER))
def test_a_hostile_archive_is_rejected_in_a_sentence(what, tmp_path):
    name, make, message = HOSTILE[what]
    with pytest.raises(RejectedError) as refused:
        unpack_here(make(), name, tmp_path)
    sentence = str(refused.value)
    assert message in sentence
    assert sentence.isprintable()
    assert len(sentence) < 300
    assert re.search(r"expected|claims|damaged", sentence)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tree", "upload"]
    assert not [path for path in tmp_path.rglob("*") if path.is_symlink()]
