"""What ``pip install`` of the arena without extras puts into a fresh environment, without pip and setuptools.

In MiB, with the bytecode that pip compiles and without. Takes half a minute and a package index.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import arena

INSTALLERS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")
MIB = 1024 * 1024


def size_on_disk(files):
    return sum(file.lstat().st_blocks * 512 for file in files) / MIB


def measure():
    checkout = Path(arena.__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.executable, "-m", "venv", directory], check=True)
        pip = [Path(directory) / "bin/python", "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", checkout], check=True, stdout=subprocess.DEVNULL)
        (packages,) = Path(directory).glob("lib/python*/site-packages")
        own = [entry for entry in packages.iterdir() if not entry.name.startswith(INSTALLERS)]
        files = [file for entry in own for file in (entry.rglob("*") if entry.is_dir() else [entry]) if file.is_file()]
        sources = [file for file in files if file.suffix != ".pyc"]
        return {"installed, MiB": size_on_disk(files), "installed without bytecode, MiB": size_on_disk(sources)}
