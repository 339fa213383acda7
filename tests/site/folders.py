import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from arena.site.publish.publishing import publish
from tests.analysis.text.tournaments import play

BOTS = ["alpha", "Beta", "gamma delta", "猫"]


def two_tournaments(home):
    play(home, "League", BOTS[:3], failing=["Beta"], note="<b>hi</b>", encounters=1)
    play(home, "cup", BOTS, format="knockout")


def published(home, out, *names, **options):
    publish(home, names, out, **options)
    return out


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.addresses, self.ids = [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("href", "src", "action", "data-src", "poster", "srcset"):
                self.addresses.append(value)
            elif key == "id":
                self.ids.add(value)


def targets(folder, page):
    """Yield where each address of a page leads: the path in the folder, and the id there."""
    for address in Links((folder / page).read_text()).addresses:
        parts = urlsplit(address)
        assert not parts.scheme, address
        assert not parts.netloc, address
        assert not parts.query, address
        path = (folder / page).parent / unquote(parts.path) if parts.path else folder / page
        assert Path(*path.parts).resolve().is_relative_to(folder.resolve()), address
        yield str(path.resolve().relative_to(folder.resolve())), parts.fragment


def signed_again(folder, change=lambda manifest: None):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in sorted(content(folder).items())
        if name != "manifest.json"
    }
    change(manifest)
    path.write_text(json.dumps(manifest))
