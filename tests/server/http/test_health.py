import threading

import anyio

from arena.base.programs.service_program import HealthProblem
from arena.server.http.app import PROBLEMS_SECONDS, Health
from arena.server.http.endpoint import CspReports
from arena.server.http.opened_home import OpenedHome
from arena.server.operating.service_programs import HOME
from tests.server.conftest import answered, client_of


async def test_problems_are_read_in_a_thread_and_once_a_second(directory, versions, caplog):
    now, threads = [0.0], []

    def problems():
        threads.append(threading.get_ident())
        return (HealthProblem("web", "the whole", f"trouble {len(threads)}"), HealthProblem("checker", "untold"))

    home = OpenedHome(directory)
    health = Health(home, versions, {}, CspReports(), now=lambda: now[0], problems=problems)
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(health.page)
    assert (await health.page()).troubles == ("trouble 1",)
    now[0] += PROBLEMS_SECONDS
    assert (await health.page()).troubles == ("trouble 2",)
    assert len(threads) == 2
    assert threading.get_ident() not in threads
    assert caplog.messages == ["the whole", "the whole"]  # its own, whenever it is another
    home.close()


async def test_a_home_that_can_not_be_written_is_not_well(directory):
    found = (HealthProblem(HOME, "the whole", "nothing new is kept"),)
    async with client_of(directory, problems=lambda: found) as client:
        for accept in ("application/json", "text/html"):
            await answered(client.get("/health", headers={"accept": accept}), 503, "nothing new is kept")
        assert (await client.get("/tournaments/t/matches")).status_code == 200  # it is read as before
        assert (await client.get("/health.json")).json()["is_home_writable"] is False
        found = ()
        client.site._responses._health.__self__._problems_at = float("-inf")
        assert (await client.get("/health")).status_code == 200
