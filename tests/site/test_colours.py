"""The colours of the site: contrast by WCAG 2.2 (success criterion 1.4.3), in light and dark."""

import re
from importlib.resources import files

import pytest

CSS = (files("arena.site") / "static" / "site.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): ([^;]+);", block)) for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
)
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)


def rgb(colour):
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def mixed(colour, paper, share):
    return [share * a + (1 - share) * b for a, b in zip(rgb(colour), rgb(paper), strict=True)]


def luminance(channels):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (value / 255 for value in channels)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_numbers_on_marks_and_in_the_heat_map_can_be_read(tokens):
    assert contrast([0, 0, 0], [255, 255, 255]) == pytest.approx(21)
    for ink in ("ink", "soft", "bad"):
        for ground in ("paper", "raised", "wash"):
            assert contrast(rgb(tokens[ink]), rgb(tokens[ground])) >= 4.5, (ink, ground)
    for seat in range(8):
        assert contrast(rgb(tokens["paper"]), rgb(tokens[f"seat{seat}"])) >= 4.5, seat
    assert sorted(float(share) for share in set(re.findall(r"--share: ([\d.]+)", CSS))) == list(SHARES)
    heat = float(tokens["heat"].rstrip("%")) / 100
    for accent in ("good", "bad"):
        for share in SHARES:
            cell = mixed(tokens[accent], tokens["paper"], heat * share)
            assert contrast(rgb(tokens["ink"]), cell) >= 4.5, (accent, share)
