import contextlib
import ctypes
import gc
import io
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from functools import partial
from importlib import import_module
from pathlib import Path
from unittest.mock import Mock

import pytest

from arena.base.definition import GameChoice
from arena.base.errors import UsageError
from arena.base.programs.service_program import FIRST_NICENESS
from arena.cli.site import serve_command
from arena.community.submissions.upload_directory import NO_CHECKER, UploadDirectory, note_containment, noted_refusal
from arena.lab.matches.puzzle import keep_puzzles
from arena.sandbox.isolation import reaper
from arena.server.http import server
from arena.server.operating.service_programs import SERVICES
from arena.store.home import ArenaHome, open_people
from arena.store.people.unrated_match import Choices, MatchState
from arena.store.people.values import Role, SubmissionState
from arena.store.results.values import OwnedBot
from tests import needs
from tests.cli.calls import calling, refusal
from tests.conftest import ROOT
from tests.lab.made_puzzles import made_puzzle
from tests.leftovers import command_line, command_lines, own_errors, wait_for_the_end_of
from tests.server.conftest import add_tournament
from tests.store.results.samples import definition, line, record
from tests.test_light_processes import WEB, loaded_too_much
from tests.waiting import wait_until
from tests.written_bots import kit_bot

PLAY_PAGE = b"Choose a game.</p>"  # the guide, which is there in its place, has the words too


class Served:
    def __init__(self, *arguments, cwd=None):
        command = [sys.executable, "-m", "arena", "serve", "--port", "0", *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)
        self.line = self.process.stdout.readline()
        self.address = self.line.partition("http://")[2].split("/")[0]

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=60) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def get_until(self, path, is_right):
        deadline = time.monotonic() + 60
        while not is_right(answer := self.get(path)):
            assert time.monotonic() < deadline, answer
            time.sleep(0.05)
        return answer

    def built(self, path):
        """Return a page once it is there: on a busy machine, the first answer may say that it is being computed."""
        return self.get_until(path, lambda answer: answer[0] == 200)[2]

    def end(self):
        self.process.terminate()
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, own_errors(errors)


@contextlib.contextmanager
def served(*arguments, **options):
    server = Served(*arguments, **options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate()


@pytest.mark.slow
def test_it_says_its_address_in_a_line_and_ends_quietly(directory):
    with served("--home", directory) as server:
        assert server.line == f"The arena is at http://{server.address}/ (Ctrl-C ends it)\n"
        assert json.loads(server.built("/index.json"))["matches"] == 2
        assert server.built("/tournaments/t/matches/1.json")
        with contextlib.ExitStack() as open_ones:
            stream = b"GET /events?topics=arena HTTP/1.1\r\nHost: localhost\r\n\r\n"
            for head in (b"GET / HTTP/1.1\r\n", *[stream] * 50):
                connection = open_ones.enter_context(socket.create_connection(server.address.split(":")))
                connection.sendall(head)
                assert head is not stream or connection.recv(12) == b"HTTP/1.1 200"
            assert server.end() == (0, "")


@pytest.mark.slow
def test_it_ends_quietly_while_a_page_is_being_built(tmp_path):
    game = {"game": "tests.server.http.failing_rules:Hanging", "options": {"goal": 9}}
    with ArenaHome(tmp_path) as home:
        tournament = home.store.create_tournament(definition(games=(GameChoice(players=2, **game),)), [line(1)])
        home.store.record(tournament, [record(1, actions=[[0, 1], [1, 2]], **game)])
    with served("--home", tmp_path, cwd=ROOT) as server, socket.socket() as connection:
        host, port = server.address.split(":")
        connection.connect((host, int(port)))
        connection.sendall(b"GET /tournaments/t/matches/1.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        server.get_until("/health.json", lambda answer: b'"processes":1' in answer[2])
        assert server.end() == (0, "")
        assert connection.recv(12) == b"HTTP/1.1 503"


@pytest.mark.slow
def test_the_web_process_rates_nothing_and_builders_end_with_it(directory):
    with ArenaHome(directory) as home:
        keep_puzzles(directory, home.store.tournament("t"), [made_puzzle()])
        bot = home.store.tournament("t").definition.entrants[0]
        home.store.set_owner(OwnedBot(bot.label, bot.digest, "ada"))
        for name in ("ladder", "trials", "comparison"):
            tournament = home.store.create_tournament(definition(name=name, format=name), [line(1)])
            home.store.record(tournament, [record(1, tournament=name)])
    program = (
        "import asyncio, sys; from tests.server.http.test_serve import every_page; "
        f"asyncio.run(every_page({str(directory)!r})); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "arena.server.http.app" in loaded
    assert not loaded_too_much(loaded, WEB.never - {"rich"})  # which the client that asks has loaded


async def every_page(directory):
    from arena.site.links import ServedLinks
    from arena.site.page_table import PAGES
    from tests.server.conftest import client_of

    values = {"tournament": "t", "match": 1, "bot": "a", "rival": "b", "game": "differences"}
    values |= {"puzzle": 1, "person": "ada"}
    async with client_of(directory) as client:
        for page in PAGES:
            for suffix in (".json", ".csv", ""):
                fields = {name: values[name] for name in page.path_fields}
                response = await client.get(ServedLinks({}).page(page.name, suffix, **fields))
                assert response.status_code in (200, 404), (page.name, response.text)
                assert suffix == ".csv" or response.status_code == 200, (page.name, response.text)


@pytest.mark.slow
def test_visitors_of_this_machine_see_what_decided_a_match_and_may_play_on(tmp_path):
    from tests.analysis.text.tournaments import play  # what plays matches is not to be loaded with every_page

    with ArenaHome(tmp_path) as home:
        play(home, "t", ["a", "b"], game=[("multiplication", {"size": 7})], encounters=3)
    with served("--home", tmp_path) as server:
        for match in range(1, 7):  # few actions of a random bot are no mistake, and some match is decided by one
            found = server.get_until(f"/tournaments/t/matches/{match}.json", lambda answer: b'"mark":"' in answer[2])
            if b'"turning":{"ply"' in found[2]:
                break
        else:
            pytest.fail("no match has a turning point")
        server.get_until("/play", lambda answer: PLAY_PAGE in answer[2])
        assert server.get("/account")[0] == 404
        assert server.end()[0] == 0
    assert not (tmp_path / "people.sqlite3").exists()


@pytest.mark.slow
def test_a_server_that_goes_away_and_comes_back(tmp_path, postgres, postgres_url):
    with ArenaHome(tmp_path / "home", store=postgres_url) as home:
        add_tournament(home)
    with served("--home", tmp_path / "home", "--store", postgres_url) as server:
        assert json.loads(server.built("/index.json"))["matches"] == 2
        assert server.built("/tournaments/t/matches/1.json")
        postgres.stop()
        try:
            status, _, body = server.get_until("/index.json", lambda answer: "age" in answer[1])
            assert (status, json.loads(body)["matches"]) == (200, 2)
            assert server.get("/tournaments/t/matches/2.json")[0] == 503
        finally:
            postgres.start()
        server.get_until("/index.json", lambda answer: "age" not in answer[1])
        server.get_until("/tournaments/t/matches/2.json", lambda answer: answer[0] == 200)
        assert server.end()[0] == 0


@pytest.mark.slow
def test_the_password_of_a_database_server_is_in_no_command_line_but_the_one_that_was_typed(tmp_path, postgres_url):
    url = postgres_url.replace("arena@", "arena:not-for-everybody@")
    programs = {"arena.server.http.builder", *(part.module for part in SERVICES)}
    with served("--home", tmp_path, "--store", url, "--open-to", "authors") as server:
        server.get("/leaderboards")  # starts a builder
        deadline = time.monotonic() + 60
        lines = {}
        while not programs <= {module for line in lines.values() for module in line}:
            assert time.monotonic() < deadline, lines
            lines |= command_lines(reaper.descendants(server.process.pid))
        assert not [line for line in lines.values() if "not-for-everybody" in " ".join(line)]
        assert server.end()[0] == 0


@pytest.mark.slow(sample=True)
def test_a_database_that_is_locked_by_a_writer_is_read(directory):
    with (
        served("--home", directory) as server,
        contextlib.closing(sqlite3.connect(directory / "arena.sqlite3")) as writer,
    ):
        writer.execute("BEGIN EXCLUSIVE")
        assert server.built("/index.json")
        writer.rollback()
        assert server.end() == (0, "")


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ("", [4]), ("--play-slots 0", [0]), ("--allowed-host arena.example", [0]), ("--trusted-proxy 10.0.0.1", [0]),
        ("--host 0.0.0.0 --public", [0]), ("--only web", []),
    ],
)  # fmt: skip
def test_only_where_strangers_do_not_come_visitors_may_play(directory, capsys, monkeypatch, options, asked):
    slots = []
    locked = lambda _, play_slots, __: slots.append(play_slots) or contextlib.nullcontext(())  # noqa: E731
    monkeypatch.setattr(serve_command, "locked_for_visitors", locked)
    import_module("arena.server.operations.opened_people")  # later, it would keep what stands for OpenedHome
    monkeypatch.setattr("arena.server.http.opened_home.OpenedHome", Mock(side_effect=UsageError("far enough")))
    assert refusal(calling(directory, capsys), "serve", *options.split()) == "far enough"
    assert slots == asked


def test_a_port_in_use_a_home_that_is_not_there_and_a_missing_extra_are_one_sentence(
    directory, tmp_path, capsys, monkeypatch
):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        sentence = refusal(calling(directory, capsys), "serve", "--port", port)
    assert f"--port {port}: another program listens on it; expected a free one" in sentence
    assert "there is no tournament yet" in refusal(calling(tmp_path / "none", capsys), "serve")
    assert not (tmp_path / "none").exists()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "uvicorn" else object())
    assert "pip install 'grid-arena[web]'" in refusal(calling(directory, capsys), "serve")


@pytest.mark.slow
def test_in_an_empty_directory_it_waits_for_the_first_tournament(tmp_path):
    with served(cwd=tmp_path) as server:
        assert b"Nothing has been played here yet." in server.built("/")
        with ArenaHome(tmp_path / ".arena") as home:
            add_tournament(home, "first")
        server.get_until("/index.json", lambda answer: json.loads(answer[2])["tournament_count"] == 1)
        assert server.end() == (0, "")


HEAPS = """
import ctypes, os, threading
libc = ctypes.CDLL(None)
{setting}
held, have_allocated = [], threading.Barrier(5)
def allocate():
    held.append(bytes(100_000))
    have_allocated.wait()
for _ in range(4):
    threading.Thread(target=allocate).start()
have_allocated.wait()
libc.fdopen.restype = ctypes.c_void_p
file = libc.fdopen(os.dup(1), b"w")
libc.malloc_info(0, ctypes.c_void_p(file))
libc.fflush(None)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="needs glibc, which has heaps for threads")
@pytest.mark.slow
def test_threads_that_render_pages_leave_no_holes_in_heaps_of_their_own():
    one, several = (
        subprocess.run([sys.executable, "-c", HEAPS.format(setting=setting)], capture_output=True, check=True).stdout
        for setting in ("from arena.server.http import server; server.use_one_heap()", "")
    )
    assert one.count(b"<heap nr") == 1 < several.count(b"<heap nr")


def test_the_loop_is_let_on_ten_times_as_soon_as_by_python(monkeypatch):
    async def serve(*_):
        pass

    seconds = []
    monkeypatch.setattr(sys, "setswitchinterval", seconds.append)
    monkeypatch.setattr(gc, "set_threshold", lambda _: None)  # of this process, as the interval
    monkeypatch.setattr(server, "_serve", serve)
    server.serve(None, None, None)
    assert seconds == [pytest.approx(0.0005)]


@needs.root  # others may let a process come before none
@pytest.mark.slow
def test_answers_come_before_what_is_computed_and_boards_before_ratings(directory):
    def nicenesses(processes):
        return sorted(os.getpriority(os.PRIO_PROCESS, process) for process in processes)

    own = os.nice(0)
    with served("--home", directory, "--only", "web") as site:
        site.built("/tournaments/t/matches/1")
        site.built("/leaderboards")
        assert nicenesses([site.process.pid]) == [own or FIRST_NICENESS]
        expected = [own + 5, own + 10]
        wait_until(lambda: nicenesses(reaper.descendants(site.process.pid)) == expected)


REFUSED = {
    ("--host", "0.0.0.0"): "'0.0.0.0': other machines may reach it, and would see everything; add --public",
    ("--host", "203.0.113.7", "--public"): "--host '203.0.113.7': this is no address of this machine",
    ("--host", "no host", "--public"): "--host 'no host': this is no name or address of this machine",
    ("--port", "70000"): "70000 is not in the range",
    ("--only", "web", "--ladder", "x.toml"): "--ladder: --only web has no use for it",
    ("--allowed-host", "a.example:80"): "--allowed-host 'a.example:80': expected a name or an address without https://",
    ("--only", "web", "--play-slots", "2"): "--play-slots: --only web has no use for it",
    ("--only", "work", "--port", "8000"): "--port: --only work has no use for it",
    ("--only", "work", "--open-to", "authors"): "--open-to: --only work has no use for it",
    ("--open-to", "authors", "--ladder", "none", "--ladder", "x"): "--ladder none: no ladder is played, so leave out",
    ("--ladder", "x.toml"): "--ladder x.toml: bots enter ladders where authors submit them; add --open-to authors",
    ("--only", "work", "--ladder", "missing.toml"): "missing.toml: there is no such file",
    ("--only", "checker"): "'checker' is not one of 'web', 'work'.",
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.items(), ids=" ".join)
def test_what_a_service_cannot_do_is_said_in_a_sentence(directory, capsys, arguments, sentence):
    assert sentence in refusal(calling(directory, capsys), "serve", *arguments)


class Alone:
    def __init__(self, home, *arguments):
        command = [sys.executable, "-m", "arena", "serve", "--home", str(home), "--only", *arguments]
        heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # which is ignored in the background
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, number):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, own_errors(err)


@pytest.mark.slow
def test_what_checks_and_plays_ends_quietly_with_all_that_it_has_started(tmp_path):
    with Alone(tmp_path, "work") as alone:
        wait_until(lambda: len(services_below(alone)) == len(SERVICES), alive=[alone.process])
        started = services_below(alone)
        ended, out, err = alone.end(signal.SIGINT)
        assert (ended, out, err.strip()) == (130, "", "")  # behind ^C comes the end of a line
    assert not [one for one in started if Path(f"/proc/{one}").exists()]


def services_below(alone):
    modules = {part.module for part in SERVICES}
    lines = command_lines(reaper.descendants(alone.process.pid))
    return {process for process, words in lines.items() if modules & set(words)}


@pytest.mark.slow
def test_a_second_one_on_a_home_is_refused_and_the_first_works_on(tmp_path, capsys):
    with ArenaHome(tmp_path):
        pass
    with Alone(tmp_path, "work") as first:
        lock = tmp_path / "parts" / "work.lock"
        wait_until(lambda: lock.exists() and lock.read_text() != "", alive=[first.process])
        holder = f"(process {first.process.pid}); nothing was changed"
        for arguments in (["--only", "work"], ["--open-to", "authors", "--port", "0"]):
            sentence = refusal(calling(tmp_path, capsys), "serve", *arguments)
            assert sentence == f"{tmp_path}: another arena serve runs its work {holder}"
        assert first.process.poll() is None
        with served("--home", tmp_path, "--only", "web", "--open-to", "authors") as web:
            assert web.get("/submissions")[0] == 200
            sentence = refusal(calling(tmp_path, capsys), "serve", "--open-to", "authors", "--port", "0")
            assert "another arena serve runs its web (process" in sentence


@pytest.mark.slow
def test_what_is_submitted_waits_for_the_checker_and_the_other_way_round(tmp_path):
    needs.contained_uploads()
    with open_people(tmp_path) as people:
        ada = people.accounts.add("ada", Role.AUTHOR, "test")
    with served("--home", tmp_path, "--only", "web", "--open-to", "authors") as web:
        assert NO_CHECKER in _submissions(web)["refusal"]
        note_containment(tmp_path, "")
        assert _submissions(web)["refusal"] == ""  # the checker has begun meanwhile
        with open_people(tmp_path) as people:
            with UploadDirectory(tmp_path / "uploads").receive() as receiving:
                receiving.write(b"print()\n")
                came = receiving.keep()
            number = people.submissions.add(ada, came.name, came.digest, came.size_bytes, "bot.py", "").number
            with Alone(tmp_path, "work", "--ladder", "none") as checker:
                wait_until(
                    lambda: people.submissions.find(number).state is not SubmissionState.WAITING,
                    alive=[checker.process],
                )
                web.process.kill()  # the checker does without
                web.process.wait()
                wait_until(lambda: people.submissions.find(number).finished_at is not None, alive=[checker.process])
                assert noted_refusal(tmp_path) == ""
                assert checker.end(signal.SIGTERM)[0] == 0


def _submissions(web):
    request = urllib.request.Request(f"http://{web.address}/submissions", headers={"accept": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


NEVER_ANSWERS = kit_bot("import time; time.sleep(1_000_000)")
NEVER_BUILT = """name = "built"
version = "1"
command = ["python3", "bot.py"]
build = ["sleep", "1000000"]
"""


def prepare(directory, people):
    """Return the label of a bot that never answers, and the number of a submission that is never built."""
    with ArenaHome(directory) as home:
        file = directory / "thinker.py"
        file.write_text(NEVER_ANSWERS)
        bot = home.bots.copy_in(file)
        home.bots.add(bot)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bot.toml", NEVER_BUILT)
        archive.writestr("bot.py", "")
    with UploadDirectory(directory / "uploads").receive() as receiving:
        receiving.write(packed.getvalue())
        came = receiving.keep()
    ada = people.accounts.add("ada", Role.AUTHOR, "test")
    return bot.label, people.submissions.add(ada, came.name, came.digest, came.size_bytes, "built.zip", "").number


@pytest.mark.slow
def test_it_ends_quietly_leaves_no_process_and_what_was_begun_is_begun_again_at_once(tmp_path):
    needs.contained_uploads()
    with open_people(tmp_path) as people:
        bot, submission = prepare(tmp_path, people)
        command = [sys.executable, "-m", "arena", "serve", "--home", str(tmp_path), "--open-to", "authors"]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # which is ignored in the background
        site = subprocess.Popen([*command, "--port", "0"], preexec_fn=heard, **options)
        ended = lambda: site.poll() is not None and site.communicate()  # noqa: E731
        until = partial(wait_until, explained=ended, alive=[site])
        try:
            until(lambda: people.unrated_matches.menu() is not None)
            choices = {"game": "differences", "options": '{"size": 4}', "seat": 1, "per_action_milliseconds": 60_000}
            match = people.unrated_matches.begin(Choices(bot=bot, **choices), None, "192.0.2.1")
            found = partial(people.unrated_matches.find, match.secret)
            until(lambda: found().position.state is MatchState.BOT)
            until(lambda: any(b"1000000" in command_line(pid) for pid in reaper.descendants(site.pid)))
            processes = reaper.descendants(site.pid)
            os.killpg(site.pid, signal.SIGINT)  # as a terminal does
            _, errors = site.communicate(timeout=60)
        finally:
            site.kill()
            site.communicate()
        assert (site.returncode, own_errors(errors)) == (130, "")
        wait_for_the_end_of(processes)
        assert people.submissions.find(submission).state is SubmissionState.WAITING
        assert found().is_waiting
        assert people.unrated_matches.claim(match.number) is not None
