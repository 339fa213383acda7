import shutil
import stat
import subprocess
import threading

import pytest

from arena.base.errors import StoreError, UsageError
from arena.site.publish.signature import KEY_FILE, PUBLIC_KEY, SIGNATURE, public_key, signing_key
from arena.site.publish.verification import verify_folder
from arena.store.home import ArenaHome
from tests.analysis.text.tournaments import play
from tests.cli.calls import calling
from tests.needs import program
from tests.site.folders import content, published, signed_again

OF_RFC_8032 = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
"""The public key of the first test in its section 7.1."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("signed")) as home:
        play(home, "cup", ["alpha", "beta"], encounters=1)
        yield published(home, tmp_path_factory.mktemp("published") / "out", key=signing_key(home.directory))


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "out")


def key_of(folder):
    return public_key(str(folder / PUBLIC_KEY))


@program("openssl")
def test_openssl_finds_the_signature_right(folder):
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", PUBLIC_KEY, "-rawin", "-in", "manifest.json"]
    command += ["-sigfile", SIGNATURE]
    assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
    with (folder / "manifest.json").open("a") as file:
        file.write(" ")
    assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode != 0


def test_the_key_of_somebody_else(folder, tmp_path):
    other = signing_key(tmp_path).public
    (problem,) = verify_folder(folder, key=other).problems
    assert problem == f"it is signed with the key {key_of(folder).text}, not with {other.text}"
    (folder / PUBLIC_KEY).write_bytes(other.pem)
    (problem,) = verify_folder(folder).problems
    assert problem == f"{SIGNATURE}: it is not the signature of manifest.json by {other.text}"


def test_a_folder_that_was_changed_and_whose_manifest_fits_is_not_signed_any_more(folder):
    (folder / "index.html").write_text("")
    (problem,) = verify_folder(folder).problems
    assert problem.startswith("index.html: ")
    signed_again(folder)
    found = verify_folder(folder)
    assert found.signed_by is None
    assert found.problems == [f"{SIGNATURE}: it is not the signature of manifest.json by {key_of(folder).text}"]


@pytest.mark.parametrize("missing", [[SIGNATURE], [PUBLIC_KEY], [SIGNATURE, PUBLIC_KEY]])
def test_what_is_missing(folder, missing):
    key = key_of(folder)
    for name in missing:
        (folder / name).unlink()
    (problem,) = verify_folder(folder, key=key).problems
    expected = {
        SIGNATURE: f"{SIGNATURE}: it is not the signature of manifest.json by {key.text}",
        PUBLIC_KEY: f"{PUBLIC_KEY}: it is no Ed25519 public key in PEM",
    }
    assert problem == (expected[missing[0]] if len(missing) == 1 else f"it is not signed, and so not by {key.text}")
    assert (verify_folder(folder).problems == []) == (len(missing) == 2)


def test_what_is_no_signature_and_what_is_no_key_is_said(folder, tmp_path):
    for data in (b"", b"x" * 64, b"x" * 63, b"x" * 100_000):
        (folder / SIGNATURE).write_bytes(data)
        (problem,) = verify_folder(folder).problems
        assert problem.startswith(f"{SIGNATURE}: it is not the signature")
    for data in (b"", b"-----BEGIN PUBLIC KEY-----\n", b"\0" * 5000):
        (folder / PUBLIC_KEY).write_bytes(data)
        assert verify_folder(folder).problems == [f"{PUBLIC_KEY}: it is no Ed25519 public key in PEM"]
    (folder / PUBLIC_KEY).rename(tmp_path / "elsewhere")
    (folder / PUBLIC_KEY).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="can't be read"):
        verify_folder(folder)


def test_a_key_is_made_once_and_only_its_owner_reads_it(tmp_path):
    found = []
    threads = [threading.Thread(target=lambda: found.append(signing_key(tmp_path).public.text)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [signing_key(tmp_path).public.text] * 20
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == [KEY_FILE]
    assert stat.S_IMODE((tmp_path / KEY_FILE).parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


def test_what_is_no_key_is_not_replaced(tmp_path):
    (tmp_path / KEY_FILE).parent.mkdir()
    for data in (b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nxx\n-----END PRIVATE KEY-----\n"):
        (tmp_path / KEY_FILE).write_bytes(data)
        with pytest.raises(StoreError, match="expected an Ed25519 key in PEM"):
            signing_key(tmp_path)
        assert (tmp_path / KEY_FILE).read_bytes() == data


def test_a_key_by_its_digits():
    assert public_key(f"ed25519:{OF_RFC_8032}").text == f"ed25519:{OF_RFC_8032}"
    signature = bytes.fromhex(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    assert public_key(f"ed25519:{OF_RFC_8032}").has_signed(b"", signature)
    assert not public_key(f"ed25519:{OF_RFC_8032}").has_signed(b"x", signature)
    for text in ("", "ed25519:", f"ed25519:{OF_RFC_8032}0", OF_RFC_8032, "/", "\0", "x" * 5000):
        with pytest.raises(UsageError, match="expected ed25519: and 64 hexadecimal digits, or a PEM file"):
            public_key(text)


@pytest.mark.slow
def test_as_commands(tmp_path, capsys):
    call = calling(tmp_path / "home", capsys)
    with ArenaHome(tmp_path / "home") as home:
        play(home, "cup", ["alpha", "beta"], encounters=1)
    code, out, _ = call("publish", "cup", tmp_path / "out", "--sign")
    key = key_of(tmp_path / "out").text
    assert (code, out.splitlines()[1]) == (0, f"signed with the key {key}")
    found = verify_folder(tmp_path / "out")
    assert (found.problems, found.signed_by, found.files) == ([], key, len(content(tmp_path / "out")) - 3)
    code, out, _ = call("verify", tmp_path / "out", "--key", key)
    assert (code, out.splitlines()[1]) == (0, f"signed with the key {key}")
    assert out.startswith(f"{tmp_path / 'out'}: ") and out.splitlines()[0].endswith("checked: all of them hold")
    code, _, errors = call("verify", tmp_path / "out", "--key", f"ed25519:{OF_RFC_8032}")
    assert code == 1
    assert "not with" in errors
    assert call("verify", tmp_path / "out", "--key", "nothing")[0] == 2
    (tmp_path / "out" / "index.html").write_text("")
    code, _, errors = call("verify", tmp_path / "out")
    assert (code, "index.html: it has 0 bytes" in errors) == (1, True)
    assert call("verify", "cup", "--key", key)[0] == 2
