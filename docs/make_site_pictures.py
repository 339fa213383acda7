"""Take the pictures in docs/publish.md: pages of a published folder, in a browser without a network.

python docs/make_site_pictures.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH = 1000
MAX_BYTES = 150_000


def main() -> None:
    """Play the quickstart, publish it, and take the pictures."""
    program = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        folder = published(Path(directory))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
        page.goto((folder / "tournaments" / "quickstart" / "index.html").as_uri())
        take(page, "published_tournament.png", 620)
        page.goto((folder / "tournaments" / "quickstart" / "matches" / "0" / "300.html").as_uri())
        take(page, "published_match.png", 760)
        browser.close()


def published(directory: Path) -> Path:
    """Return the folder of the quickstart."""
    home, folder = directory / "home", directory / "contest"
    for command in (
        ["run", str(ROOT / "tournaments" / "quickstart.toml"), "-q"],
        ["publish", "quickstart", str(folder)],
    ):
        subprocess.run([sys.executable, "-m", "arena", *command, "--home", str(home)], capture_output=True, check=True)
    return folder


def take(page: Page, name: str, height: int) -> None:
    """Take a picture of the upper part of a page."""
    path = ROOT / "docs" / name
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
    if path.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{path}: {path.stat().st_size:,} bytes; expected at most {MAX_BYTES:,}")


if __name__ == "__main__":
    main()
