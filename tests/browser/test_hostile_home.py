"""A home that was made to do harm, crawled: every link leads to a page, every answer is valid, and nothing runs."""

import csv
import http.client
import io
import json
import re
import subprocess
import sys
import time
from contextlib import closing
from html.parser import HTMLParser
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.etree import ElementTree

import html5lib
import pytest

from arena.store.home import ArenaHome
from tests.site.hostile import TEXTS, fill

ROOT = Path(__file__).parents[2]

FEW = (f"=1+1 {TEXTS[1]} {TEXTS[2]}", f"{TEXTS[14]} {TEXTS[15]}", "@\0", "@SUM(1)", "..")
"""A formula with markup, terminal escapes with directions, and names that are no names."""

MOST_IN_A_BROWSER = 30
"""Of the pages of few texts; every page of all texts is looked at in a long run."""

UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
NUMBER = re.compile(r"-|[+-]?[0-9][0-9.]*(e-?[0-9]+)?")


class Server:
    def __init__(self, directory, port):
        self.port = port
        self.origin = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "arena", "serve", "--home", str(directory), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        assert self.origin in self.process.stdout.readline()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def get(self, path):
        """Return the answer once it has been built: its status, type and body."""
        while True:
            self.connection.request("GET", path)
            answer = self.connection.getresponse()
            body = answer.read()
            if answer.headers["retry-after"] is None:
                return answer.status, answer.headers["content-type"].partition(";")[0], body
            time.sleep(0.05)

    def end(self):
        """End it; return what it has written to stderr."""
        self.connection.close()
        self.process.terminate()
        return self.process.communicate(timeout=60)[1]


class Links(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("href", "src", "action")]


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
    """Check everything that links lead to; return the pages."""
    seen, waiting, pages, wrong = {"/"}, ["/"], [], []
    while waiting:
        path = waiting.pop()
        status, kind, body = server.get(path)
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
                address = urldefrag(urljoin(server.origin + path, link))[0]
                if not address.startswith(f"{server.origin}/"):
                    if not path.startswith("/guide/"):  # documents of the arena, which may lead elsewhere
                        wrong.append((path, link))
                    continue
                target = address.removeprefix(server.origin)
                if target not in seen and "actions=" not in target:  # a position of a game has no end of next ones
                    seen.add(target)
                    waiting.append(target)
    server.connection.close()  # the server ends it when it waits
    assert wrong == []
    return pages


def looked_at(chromium, server, pages):
    """Look at pages in a browser; return what it has asked of others, said or complained of."""
    context = chromium.new_context()
    page = context.new_page()
    messages = []
    page.on("request", lambda request: urlsplit(request.url).port == server.port or messages.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: (messages.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("popup", lambda popup: messages.append(f"popup: {popup.url}"))
    for path in pages:
        page.goto(server.origin + path)
        if urlsplit(page.url).path != urlsplit(path).path:
            messages.append(f"{path} has led to {page.url}")
    context.close()
    return messages


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "most"), [(FEW, MOST_IN_A_BROWSER), pytest.param(TEXTS, None, marks=pytest.mark.soak)], ids=["few", "all"]
)
def test_a_hostile_home_runs_nothing_and_every_link_leads_to_a_page(tmp_path, port, chromium, texts, most):
    with ArenaHome(tmp_path / "home") as home:
        fill(home, texts)
    server = Server(tmp_path / "home", port)
    with closing(server.connection):
        try:
            pages = crawled(server)
            messages = looked_at(chromium, server, pages[:: len(pages) // most] if most else pages)
            reports = json.loads(server.get("/health.json")[2])["csp_reports"]
        finally:
            written = server.end()
    assert (messages, reports, written) == ([], 0, "")
