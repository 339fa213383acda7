import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BARE_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Reader:
    environment: Path
    home: Path

    def paste(self, block, directory, stops_at_errors=True):
        programs = self.environment / "bin"
        activate = f". {shlex.quote(str(programs / 'activate'))}"
        if not (programs / "activate").exists():  # the tests were not started in a virtual environment
            activate = f"PATH={shlex.quote(str(programs))}:$PATH"
        options = ["-e"] if stops_at_errors else []
        variables = {"PATH": BARE_PATH, "HOME": str(self.home)}
        if "TMPDIR" in os.environ:
            variables["TMPDIR"] = os.environ["TMPDIR"]
        return subprocess.run(
            ["bash", *options, "-c", f"{activate}\n{block}"],
            cwd=directory,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )

    def follow(self, page, directory):
        """Do what a page says from the top down, and return how many lines of output were compared.

        Files are written, commands run, and each line of an output on the page is in that of the command before it.
        """
        output, compared = None, 0
        for language, about, body in FENCE.findall(page):
            if language in ("python", "toml"):
                file = directory / about
                file.parent.mkdir(exist_ok=True)
                file.write_text(body)
            elif language == "sh":
                expected = int(about.removeprefix("exit=")) if about else 0
                done = self.paste(body, directory, stops_at_errors=expected == 0)
                output = done.stdout
                assert done.returncode == expected, f"{body}\n{output}"
            elif language == "text":
                assert output is not None
                for line in body.splitlines():
                    assert line in output, f"{line!r} is not in:\n{output}"
                    compared += 1
                output = None
        return compared


def build(directory, target):
    """Build a "wheel", also one for an editable installation, or the "sdist" into a directory, and return it."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(directory)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (built,) = directory.glob("*.tar.gz" if target == "sdist" else "*.whl")
    return built


def install(wheel, environment):
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    copy_dependencies(environment / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix))
    pip = [environment / "bin" / "python3", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel]
    subprocess.run(pip, check=True)


def copy_dependencies(directory):
    """Copy the packages that the tests run with into another directory, but for the arena and the installers."""
    left_out = shutil.ignore_patterns("*grid_arena*", "*editable_*", "pip", "pip-*", "setuptools*", "*distutils*")
    ours = sysconfig.get_path("purelib")
    shutil.copytree(ours, directory, ignore=left_out, copy_function=_link_or_copy, dirs_exist_ok=True)


def _link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
