import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path


def programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


class Server:
    """Started and stopped at will. As root it runs as the user ``postgres``, for it refuses to run as root."""

    def __init__(self):
        self._bin = programs()
        self.directory = Path(tempfile.mkdtemp(prefix="arena-postgres-"))
        self._user = {}
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            os.chown(self.directory, account.pw_uid, account.pw_gid)
            self._user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self._process = None
        self._numbers = count()
        self._run("initdb", "-D", "data", "-A", "trust", "-U", "arena", "-E", "UTF8", "--no-sync", *self._language())
        self.start()

    def _language(self):
        """Return options for an order of texts other than SQLite's; PostgreSQL has them since version 15."""
        command = [str(self._bin / "initdb"), "--help"]
        is_offered = b"--icu-locale" in subprocess.run(command, check=True, capture_output=True).stdout
        return ("--locale-provider=icu", "--icu-locale=en-US") if is_offered else ()

    def _run(self, program, *arguments):
        command = [str(self._bin / program), *arguments]
        subprocess.run(command, cwd=self.directory, check=True, capture_output=True, timeout=60, **self._user)

    def start(self):
        command = [str(self._bin / "postgres"), "-D", "data", "-k", str(self.directory), "-c", "listen_addresses="]
        with (self.directory / "log").open("ab") as log:
            command += ["-c", "fsync=off", "-c", "autovacuum=off"]  # which changes what `CommitSignal` reads
            self._process = subprocess.Popen(command, cwd=self.directory, stdout=log, stderr=log, **self._user)
        deadline = time.monotonic() + 30
        while not self._answers():
            assert time.monotonic() < deadline, (self.directory / "log").read_text()
            time.sleep(0.05)

    def _answers(self):
        command = [str(self._bin / "pg_isready"), "-h", str(self.directory), "-U", "arena", "-q"]
        return subprocess.run(command, check=False).returncode == 0

    def stop(self):
        self._process.send_signal(signal.SIGINT)
        self._process.wait(timeout=30)

    def new_database(self):
        name = f"arena{next(self._numbers)}"
        self._run("createdb", "-h", str(self.directory), "-U", "arena", name)
        return f"postgresql://arena@/{name}?host={self.directory}"

    def close(self):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)
