"""What the site serves: every page that links lead to, as somebody."""

import http.client
import re
import signal
import subprocess
import time
from collections import Counter, deque
from urllib.parse import urlencode, urljoin, urlsplit

from benchmarks.outputs.commands import Recorder
from benchmarks.outputs.reduced import lines_of, page_of

MAX_ADDRESSES = 3000
MAX_QUERIES = 12
"""Of one path: orders and filters of a table."""
WAIT_SECONDS = 120.0
MEASURED = ("/health", "/ladders")
ENDING = ("/sign-out", "/account/sessions", "/account/leave", "/account/token", "/csp-reports")
STRANGE = ("/none", "/bots/none", "/games/none", "/tournaments/none", "/tournaments/none/matches/1", "/contests/none")
FIRST = (
    "/",
    "/index.json",
    "/openapi.json",
    "/robots.txt",
    "/signing-key",
    "/log",
    "/people",
    "/account",
    "/programs",
    "/contests/new?template=cup",
    "/play",
    "/ladders",
    "/health",
    "/health/parts",
    "/account/data",
    "/submissions",
)
HTML, JSON = "text/html,*/*", "application/json"
Answer = tuple[int, dict[str, str], bytes]


class Site:
    """``arena serve`` on a port of its own."""

    def __init__(self, recorder: Recorder, *options: str) -> None:
        self.recorder = recorder
        command = [str(recorder.arena), "--home", "home", "serve", "--port", "0", *options]
        self.log = (recorder.directory / "serve.log").open("wb")
        self.process = subprocess.Popen(
            command, cwd=recorder.directory, env=recorder.environment(), stdout=subprocess.PIPE, stderr=self.log
        )
        assert self.process.stdout is not None
        found = re.search(rb":(\d+)/", self.process.stdout.readline())
        if found is None:
            raise SystemExit(f"arena serve {' '.join(options)} did not begin; see {self.log.name}")
        self.port = int(found[1])

    def __enter__(self) -> "Site":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.log.close()

    def ask(
        self, path: str, cookie: str = "", accept: str = "text/html,*/*", form: dict[str, str] | None = None
    ) -> Answer:
        """Return status, headers and body, once the page has been built."""
        until = time.monotonic() + WAIT_SECONDS
        headers = {
            "Host": f"localhost:{self.port}",
            "Accept": accept,
            "Sec-Fetch-Site": "same-origin",
            "Cookie": cookie,
        }
        body = None if form is None else urlencode(form)
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
            connection.request("GET" if body is None else "POST", path, body, headers)
            response = connection.getresponse()
            answer = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
            connection.close()
            if answer[0] not in (202, 503) or body is not None or time.monotonic() > until:
                return answer
            time.sleep(0.1)

    def sign_in(self, name: str, password: str) -> str:
        """Return the cookie of somebody."""
        status, headers, _ = self.ask("/sign-in", form={"name": name, "password": password})
        if "set-cookie" not in headers:
            raise SystemExit(f"{name} can't sign in: status {status}")
        return headers["set-cookie"].partition(";")[0]

    def crawl(self, actor: str, cookie: str = "") -> int:
        """Keep every page that links lead to, and then the answers to its forms when they are sent empty."""
        waiting, seen = deque([*FIRST, *STRANGE]), {*FIRST, *STRANGE}
        queries: Counter[str] = Counter()
        forms: dict[str, None] = {}
        while waiting:
            path = waiting.popleft()
            answer = self.ask(path, cookie)
            self._keep(actor, path, answer)
            if "html" in answer[1].get("content-type", ""):
                other = self.ask(path, cookie, JSON)
                if "json" in other[1].get("content-type", ""):
                    self._keep(f"{actor}, JSON", path, other)
            links = []
            if "html" in answer[1].get("content-type", "") and answer[0] == 200:
                page = page_of(answer[2].decode())
                links = page.links
                forms.update(dict.fromkeys(urljoin(path, form) for form in page.forms))
            for link in [*links, answer[1].get("location", path)]:
                found = urlsplit(urljoin(f"http://localhost:{self.port}{path}", link))
                address = found.path + (f"?{found.query}" if found.query else "")
                if (
                    found.netloc != f"localhost:{self.port}"
                    or address in seen
                    or address.startswith(("/static/", "/events"))
                ):
                    continue
                queries[found.path] += bool(found.query)
                if queries[found.path] <= MAX_QUERIES and len(seen) < MAX_ADDRESSES:
                    seen.add(address)
                    waiting.append(address)
        for path in sorted(form for form in forms if not form.startswith(ENDING)):
            self._keep(f"{actor}, empty form", path, self.ask(path, cookie, form={}))
        return len(seen)

    def _keep(self, actor: str, path: str, answer: Answer) -> None:
        status, headers, body = answer
        kind = headers.get("content-type", "")
        lines = [f"status {status}, {kind}", *([f"to {headers['location']}"] if "location" in headers else [])]
        if path.endswith(".zip"):
            body = b"(archive)"
        is_measured = path.startswith(MEASURED)
        self.recorder.keep(f"site as {actor}", path, [*lines, *lines_of(body, kind)], is_measured)
