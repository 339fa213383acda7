import csv
import io
import json
import re
from html.parser import HTMLParser
from http import HTTPStatus
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.etree import ElementTree

import html5lib
import pytest

from arena.store.home import ArenaHome
from tests.conftest import ROOT
from tests.server.http.test_serve import served
from tests.site.hostile import TEXTS, fill

FEW = (f"=1+1 {TEXTS[1]} {TEXTS[2]}", f"{TEXTS[14]} {TEXTS[15]}", "@\0", "@SUM(1)", "..")
"""A formula with markup, terminal escapes with directions, and names that are no names."""

UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
NUMBER = re.compile(r"-|[+-]?[0-9][0-9.]*(e-?[0-9]+)?")


class Links(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        is_sent = tag == "form" and ("method", "post") in attrs  # nothing to look at
        self.found += [value for name, value in attrs if name in ("href", "src", "action") and not is_sent]


def check_csv(text):
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            assert not UNSEEN.search(cell), cell
            assert cell[:1] not in ("=", "+", "-", "@", "\t", "\r") or NUMBER.fullmatch(cell), cell


CHECKS = {
    "text/html": lambda body: html5lib.HTMLParser(strict=True).parse(body),
    "application/json": json.loads,
    "text/csv": lambda body: check_csv(body.decode()),
    "application/atom+xml": ElementTree.fromstring,
    "text/css": bytes.decode,
    "text/javascript": bytes.decode,
    "image/svg+xml": ElementTree.fromstring,
}


def crawled(server):
    origin = f"http://{server.address}"
    seen, waiting, pages, wrong = {"/"}, ["/"], [], []
    while waiting:
        path = waiting.pop()
        status, headers, body = server.get_until(path, lambda answer: answer[1]["retry-after"] is None)
        kind = headers["content-type"].partition(";")[0]
        if status != HTTPStatus.OK:
            wrong.append((status, path))
            continue
        try:
            CHECKS[kind](body)
        except Exception as mistake:
            wrong.append((path, kind, mistake))
        if kind == "text/html":
            pages.append(path)
            for link in Links(body.decode()).found:
                address = urldefrag(urljoin(origin + path, link))[0]
                if not address.startswith(f"{origin}/"):
                    if not path.startswith("/guide/"):  # documents of the arena, which may lead elsewhere
                        wrong.append((path, link))
                    continue
                target = address.removeprefix(origin)
                if target not in seen and "actions=" not in target:  # a position of a game has no end of next ones
                    seen.add(target)
                    waiting.append(target)
    assert wrong == []
    return pages


def looked_at(chromium, server, pages):
    context = chromium.new_context()
    page = context.new_page()
    messages = []
    page.on("request", lambda request: urlsplit(request.url).netloc == server.address or messages.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: (messages.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("popup", lambda popup: messages.append(f"popup: {popup.url}"))
    for path in pages:
        page.goto(f"http://{server.address}{path}")
        if urlsplit(page.url).path != urlsplit(path).path:
            messages.append(f"{path} has led to {page.url}")
    context.close()
    return messages


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "most"), [(FEW, 30), pytest.param(TEXTS, None, marks=pytest.mark.soak)], ids=["few", "all"]
)
def test_a_hostile_home_runs_nothing_and_every_link_leads_to_a_page(tmp_path, chromium, texts, most):
    with ArenaHome(tmp_path / "home") as home:
        fill(home, texts)
    with served("--home", tmp_path / "home", cwd=ROOT) as server:
        pages = crawled(server)
        messages = looked_at(chromium, server, pages[:: len(pages) // most] if most else pages)
        reports = json.loads(server.get("/health.json")[2])["csp_reports"]
        written = server.end()[1]
    assert (messages, reports, written) == ([], 0, "")
