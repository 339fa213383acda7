import threading
import urllib.error
import urllib.request
from types import SimpleNamespace

import httpx
import pytest

from arena.base.programs.service_program import HealthProblem
from arena.server.http.addresses import Hosts
from arena.server.http.metrics import (
    CONTENT_TYPE,
    MEASURE_SECONDS,
    RequestMetrics,
    Sample,
    StateMetrics,
    metric,
    metrics_app,
)
from arena.server.http.observation import Answered
from arena.server.operating.service_programs import SERVICES
from arena.site.frame.model import Lane
from arena.store.home import ArenaHome, open_people
from arena.store.people.directors import DirectorState
from arena.store.people.values import Role
from tests.server.conftest import client_of
from tests.server.http.test_serve import served
from tests.store.people.conftest import FakeClock

AWKWARD = 'a "quoted" \\ back\nslash'


def parsed(text):
    parser = pytest.importorskip("prometheus_client.parser", reason="needs prometheus-client")
    samples = [sample for family in parser.text_string_to_metric_families(text) for sample in family.samples]
    return {(one.name, *(value for _, value in sorted(one.labels.items()))): one.value for one in samples}


def test_the_text_is_what_prometheus_reads():
    text = metric("arena_x", AWKWARD, [Sample(1.5, {"label": AWKWARD}), Sample(2**53, {"label": ""})])
    assert parsed(text) == {("arena_x", AWKWARD): 1.5, ("arena_x", ""): 2**53}


def test_requests_are_counted_by_template():
    requests = RequestMetrics()
    for seconds in (0.0005, 0.001, 0.2, 99.0):
        requests(Answered("GET", "/bots/{bot}", 200, seconds, None))
    requests(Answered("POST", "/sign-in", 429, 0.01, 7))
    values = parsed("".join(requests.metrics()))
    assert values["arena_requests_total", "GET", "/bots/{bot}", "200"] == 4
    assert values["arena_requests_total", "POST", "/sign-in", "429"] == 1
    buckets = {
        key[1]: value for key, value in values.items() if key[0] == "arena_request_seconds_bucket" and "{bot}" in key[2]
    }
    assert buckets == {
        "0.001": 2, "0.005": 2, "0.025": 2, "0.1": 2, "0.25": 3, "0.5": 3, "1": 3, "2.5": 3, "10": 3, "+Inf": 4
    }  # fmt: skip
    assert values["arena_request_seconds_sum", "/bots/{bot}"] == pytest.approx(99.2015)
    assert values["arena_request_seconds_count", "/bots/{bot}"] == 4


@pytest.mark.slow(sample=True)
async def test_what_a_stranger_asks_for_becomes_no_label(directory):
    requests = RequestMetrics()
    async with client_of(directory, observers=[requests]) as client:
        for path in ("", "canary", "tournaments/canary", "tournaments/t?canary=1", "static/canary/canary", "bots/%ff"):
            await client.get(f"/{path}")
        await client.request("CANARY", "/")
        await client.get("/", headers={"host": "canary.example"})
    text = "".join(requests.metrics())
    assert "canary" not in text.lower()
    values = parsed(text)
    assert values["arena_requests_total", "GET", "/", "200"] == 1
    assert values["arena_requests_total", "OTHER", "/", "405"] == 1
    assert values["arena_requests_total", "GET", "unknown", "404"] == 1
    assert values["arena_requests_total", "GET", "unknown", "421"] == 1
    assert values["arena_requests_total", "GET", "/tournaments/{tournament}", "404"] == 1


def builder(**values):
    processes = values.pop("processes", ())
    queue = SimpleNamespace(**{"busy": 0, "waiting": 0, "refused": 0} | values)
    return SimpleNamespace(processes=processes, queue=queue)


@pytest.fixture
def state(directory, tmp_path):
    clock = FakeClock()
    with ArenaHome(directory) as home, open_people(directory) as people:
        found = []
        builders = {Lane.RATINGS: builder(processes=(1, 2), busy=1, waiting=5, refused=3), Lane.BOARDS: builder()}
        yield SimpleNamespace(
            metrics=StateMetrics(lambda: home, directory, builders, lambda: 42, people, lambda: found, clock),
            people=people,
            problems=found,
            clock=clock,
            directory=directory,
        )


def values_of(state):
    return parsed("".join(state.metrics.metrics()))


def test_the_state_is_read_when_it_is_asked_for(state):
    ann = state.people.accounts.add("canary-ann", Role.AUTHOR, "test")
    state.people.submissions.add(ann, "f" * 16 + "-" + "0" * 16, "0" * 64, 7, "canary.py", "canary")
    state.people.directors.report_state("spring", "ladder", DirectorState.SHORT)
    state.problems += [HealthProblem(service, "canary") for service in ("ladder", "ladder", "checker")]
    values = values_of(state)
    assert (values["arena_ladders", "short"], values["arena_ladders", "idle"]) == (1, 0)
    assert values["arena_event_readers",] == 42
    assert values["arena_builders_processes", "ratings"] == 2
    assert values["arena_builders_waiting", "ratings"] == 5
    assert values["arena_builders_refused_total", "ratings"] == 3
    assert values["arena_builders_busy", "boards"] == 0
    assert (values["arena_tournaments",], values["arena_records",]) == (1, 2)
    assert values["arena_submissions_unfinished", "waiting"] == 1
    assert values["arena_submissions_finished_total", "accepted"] == 0
    assert 0 <= values["arena_submission_oldest_seconds",] < 60
    assert [values[f"arena_{what}_readable",] for what in ("results", "people", "disk")] == [1, 1, 1]
    found = {name: values["arena_troubles", name] for name in ("web", "work", *(service.name for service in SERVICES))}
    idle = dict.fromkeys(("web", "work", "contests", "results", "play", "annotator"), 0)
    assert found == {**idle, "checker": 1, "ladder": 2}, "without their sentences"
    assert "canary" not in "".join(state.metrics.metrics())


def test_files_are_measured_now_and_then_and_what_cannot_be_read_is_left_out(state, monkeypatch):
    (state.directory / "uploads").mkdir()
    (state.directory / "uploads" / "x").write_bytes(b"x" * 1000)
    (state.directory / "uploads" / "link").symlink_to("/usr")
    link_bytes = len("/usr")
    assert values_of(state)["arena_disk_bytes", "uploads"] == 1000 + link_bytes
    (state.directory / "uploads" / "y").write_bytes(b"x" * 500)
    assert values_of(state)["arena_disk_bytes", "uploads"] == 1000 + link_bytes
    state.clock.seconds += MEASURE_SECONDS
    assert values_of(state)["arena_disk_bytes", "uploads"] == 1500 + link_bytes
    monkeypatch.setattr(state.people.submissions, "queue", lambda: (_ for _ in ()).throw(OSError))
    values = values_of(state)
    assert values["arena_people_readable",] == 0
    assert ("arena_submission_oldest_seconds",) not in values
    assert values["arena_records",] == 2


async def test_only_metrics_are_there_and_only_for_this_machine():
    threads = []

    def second():
        threads.append(threading.current_thread())
        return []

    app = metrics_app(Hosts(), lambda: [metric("arena_x", "X.", 1)], second)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:9100") as client:
        response = await client.get("/metrics")
        assert (response.status_code, response.headers["content-type"]) == (200, CONTENT_TYPE)
        assert response.text.endswith("arena_x 1\n")
        assert (await client.get("/")).status_code == 404
        assert (await client.post("/metrics")).status_code == 405
        assert (await client.get("/metrics", headers={"host": "evil.example"})).status_code == 421
    assert threads != [threading.main_thread()]


@pytest.mark.slow
def test_metrics_are_at_an_address_of_their_own(directory):
    with served("--home", directory, "--metrics-address", "127.0.0.1:0") as site:
        address = site.process.stderr.readline().removeprefix("Metrics are at ").strip()
        assert address.startswith("http://127.0.0.1:")
        assert site.get("/")[0] == 200
        assert site.get("/metrics")[0] == 404
        with urllib.request.urlopen(address) as response:
            values = parsed(response.read().decode())
        assert values["arena_requests_total", "GET", "/", "200"] == 1
        assert values["arena_requests_total", "GET", "unknown", "404"] == 1
        assert values["arena_records",] == 2
        assert site.end() == (0, "")
