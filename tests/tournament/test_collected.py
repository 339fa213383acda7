import io
import subprocess
import tarfile
import zipfile

import pytest

from arena.base.errors import DefinitionError, UsageError
from arena.match.uploads.unpacking import packed
from arena.sandbox.isolation import git_export
from arena.sandbox.isolation.git_export import RUNS_NOTHING
from arena.tournament.collected import collected
from arena.tournament.definition import find_entrant, load_definition
from arena.tournament.missing_manifests import write_manifests
from tests import needs
from tests.conftest import BOTS

PROGRAM = b"from arena.botkit import run\nrun(lambda game, state, clock: game.legal_actions(state)[0])\n"
MANIFEST = b"name = 'champion'\nversion = '7'\ncommand = ['python3', 'bot.py']\n"
WHOLE = {"bot/bot.toml": MANIFEST, "bot/bot.py": PROGRAM}
ANN, BO = "Ng Ann_12_assignsubmission_file_", "Bo Zoë_7_assignsubmission_file"


def zipped(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def tarred(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return data.getvalue()


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def labels(tmp_path, home, text, more=""):
    path = tmp_path / "t.toml"
    path.write_text(f'game = "differences"\nentrants_from = "{text}"\n{more}')
    return [bot.label for bot in load_definition(path, home.bots).entrants]


@pytest.mark.slow(sample=True)
def test_folders_archives_and_programs_enter_by_the_names_of_their_files(tmp_path, home):
    folder = {"ada.py": PROGRAM, "ben.zip": zipped(WHOLE), "cy.tar.gz": tarred({"x.py": PROGRAM}), ".DS_Store": b""}
    write(tmp_path / "s", folder | {"dan/bot.toml": MANIFEST, "dan/bot.py": PROGRAM, "eva/final.zip": zipped(WHOLE)})
    expected = ["ada@1", "ben@7", "cy@1", "dan@7", "eva@7"]
    assert labels(tmp_path, home, "s") == labels(tmp_path, home, "s/*") == expected
    found = load_definition(tmp_path / "t.toml", home.bots).entrants
    assert all(bot.submitted for bot in found)
    assert found[1].directory == str(tmp_path / "home/bots" / found[1].digest)
    assert found[3].directory == str(tmp_path / "s/dan")
    with pytest.raises(DefinitionError, match=r"bot 's/ben.zip': it is unpacked into a home; expected home.bots"):
        load_definition(tmp_path / "t.toml")


@pytest.mark.slow
@pytest.mark.parametrize("below", ["", "course/"])
def test_a_download_of_moodle_is_taken_as_a_folder_and_as_an_archive(tmp_path, home, below):
    files = {f"{below}{ANN}/bot.zip": zipped(WHOLE), f"{below}{BO}/mine.py": PROGRAM}
    write(tmp_path / "d", files)
    (tmp_path / "d.zip").write_bytes(zipped(files))
    assert labels(tmp_path, home, f"d/{below}") == labels(tmp_path, home, "d.zip") == ["Bo Zoë@1", "Ng Ann@7"]


@pytest.mark.slow
def test_broken_submissions_are_left_out_and_noted_only_where_the_file_says_so(tmp_path, home):
    failing = MANIFEST + b"build = ['false']\n"
    broken = {"a.zip": b"PK\3\4", "b.zip": b"", "c/x.txt": b"", "d.zip": zipped({"bot.toml": failing, "bot.py": b""})}
    write(tmp_path / "s", broken | {"e.py": PROGRAM, "f.zip": zipped(WHOLE), "g.zip": zipped({"../x.py": PROGRAM})})
    with pytest.raises(DefinitionError) as raised:
        labels(tmp_path, home, "s")
    assert str(raised.value).count("entrants_from: ") == 4  # what can't be built is known when it is built
    assert labels(tmp_path, home, "s", "skip_broken = true") == ["e@1", "f@7"]
    rejected = load_definition(tmp_path / "t.toml", home.bots).rejected
    assert [one.name for one in rejected] == ["a", "b", "c", "d", "g"]
    assert "its build failed" in rejected[3].reason
    assert "'..' in a path" in rejected[4].reason
    assert not any(str(tmp_path) in one.reason or "\n" in one.reason for one in rejected)


@pytest.mark.slow
def test_a_broken_archive_in_the_folder_of_a_person_is_named_with_the_person(tmp_path, home):
    files = {f"{ANN}/bot.zip": b"", f"{BO}/bot.zip": zipped({"mine/bot.py": PROGRAM, "mine/more.py": PROGRAM})}
    write(tmp_path / "d", files)
    (tmp_path / "d.zip").write_bytes(zipped(files))
    for text in ("d", "d.zip"):
        with pytest.raises(DefinitionError) as raised:
            labels(tmp_path, home, text)
        assert f"entrants_from: {text}/{ANN}/bot.zip: an empty file" in str(raised.value)
        assert f"entrants_from: {text}/{BO}/bot.zip: there is no bot.toml" in str(raised.value)


def test_what_was_left_out_is_stored_and_is_no_part_of_what_results_depend_on(tmp_path, home):
    write(tmp_path / "s", {"a.py": PROGRAM, "b.py": PROGRAM, "c.zip": b""})
    labels(tmp_path, home, "s", "skip_broken = true")
    definition = load_definition(tmp_path / "t.toml", home.bots)
    assert type(definition).from_json("t", definition.to_json()) == definition
    (tmp_path / "s/c.zip").unlink()
    without = load_definition(tmp_path / "t.toml", home.bots)
    assert without.identity() == definition.identity()
    assert "rejected" not in without.to_json()


def test_where_too_few_are_left_the_reasons_of_those_left_out_are_said(tmp_path, home):
    write(tmp_path / "s", {"a.py": PROGRAM, "b.zip": b"", "c/x.txt": b""})
    with pytest.raises(DefinitionError, match=r"got 1; left out 'b': .*an empty file.*; left out 'c': .*no bot.toml"):
        labels(tmp_path, home, "s", "skip_broken = true")


def test_two_of_one_name_are_said_in_a_sentence(tmp_path, home):
    write(tmp_path / "s", {"ann.py": PROGRAM, "ann.zip": zipped(WHOLE)})
    with pytest.raises(DefinitionError, match=r"'s/ann.py' and 's/ann.zip' would both be named 'ann'; rename one"):
        labels(tmp_path, home, "s", "skip_broken = true")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("submisions.zip", "No such file"),
        ("empty", "'empty': it holds no submission; expected a folder"),
        ("submisions/*", "'submisions/\\*': no file matches it$"),
        pytest.param("x" * 5000, "File name too long", id="long"),
    ],
)
def test_a_path_that_is_not_there_is_no_broken_submission(tmp_path, home, text, sentence):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DefinitionError, match=sentence):
        labels(tmp_path, home, text, "skip_broken = true")


def test_submitted_bots_enter_with_their_latest_version(tmp_path, home):
    for version in (b"1", b"2"):
        bot = write(tmp_path / "b", {"bot.toml": MANIFEST.replace(b"'7'", b"'%s'" % version), "bot.py": PROGRAM})
        home.bots.add(home.bots.copy_in(bot))
    home.bots.add(home.bots.copy_in(BOTS / "minimal"))
    assert labels(tmp_path, home, "submitted:*") == ["champion@2", "minimal@1"]
    assert labels(tmp_path, home, "submitted:champ*@*") == ["champion@1", "champion@2"]
    with pytest.raises(DefinitionError, match="unknown submitted bot 'nobody'"):
        labels(tmp_path, home, "submitted:nobody")


@pytest.fixture
def repository(tmp_path):
    """A repository whose own configuration would run a program wherever git asks it for a filter."""
    path = write(
        tmp_path / "repo", {"bot.toml": MANIFEST, "bot.py": PROGRAM, ".gitattributes": b"* filter=evil\n"} | WHOLE
    )

    def git(*arguments):
        own = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main")
        done = subprocess.run(["git", "-C", path, *own, *arguments], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "one")
    git("tag", "v1")
    git("config", "filter.evil.smudge", f"touch {tmp_path}/ran")
    git("config", "filter.evil.required", "true")
    write(path, {"bot.py": b"broken (", "bot/bot.py": b"broken ("})
    return path, git("rev-parse", "HEAD")


@needs.program("git")
def test_a_commit_is_exported_clean_and_its_version_is_the_commit(tmp_path, home, repository):
    path, commit = repository
    for text in (f"git:{path}@v1", f"git:{path}@main", f"git:repo/bot@{commit}"):
        bot = find_entrant(text, ["--fast"], tmp_path, home.bots)
        assert (bot.version, bot.command[-1]) == (commit[:12], "--fast")
        assert (tmp_path / "home/bots" / bot.digest / "bot.py").read_bytes() == PROGRAM
        assert bot.name == ("bot" if "bot@" in text else "repo")
    assert not (tmp_path / "ran").exists()


@needs.program("git")
@pytest.mark.parametrize("variable", [*RUNS_NOTHING])
def test_no_program_of_a_repository_fetches_what_it_lacks(tmp_path, repository, variable, monkeypatch):
    path, commit = repository
    (path / ".git/objects" / commit[:2] / commit[2:]).unlink()
    program = write(tmp_path, {"fetch": f"#!/bin/sh\ntouch {tmp_path}/ran\n".encode()}) / "fetch"
    program.chmod(0o755)
    with (path / ".git/config").open("a") as config:
        config.write(f'[extensions]\npartialClone = x\n[remote "x"]\npromisor = true\nurl = {path}\n')
        config.write(f"uploadpack = {program}\n")
    text = (path / ".git/config").read_text().replace("repositoryformatversion = 0", "repositoryformatversion = 1")
    (path / ".git/config").write_text(text)
    monkeypatch.setattr(git_export, "RUNS_NOTHING", {variable: RUNS_NOTHING[variable]})  # one alone is enough
    with pytest.raises(UsageError, match="git finds no bot there"):
        find_entrant("git:repo@v1", [], tmp_path, None)
    assert not (tmp_path / "ran").exists()


@needs.program("git")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("git:repo@v2", "git finds no bot there: no such commit"),
        ("git:repo@--help", "git finds no bot there: no such commit"),
        ("git:nowhere@v1", "there is no directory"),
        ("git:repo", r"expected git:PATH@REF, such as git:\.\./bot@v1\.2"),
        ("git:home@v1", "not a git repository"),
        pytest.param(f"git:{'x' * 5000}@v1", "there is no directory", id="long path"),
        pytest.param(f"git:repo@{'x' * 200_000}", "git can't be run: Argument list too long", id="long reference"),
    ],
)
def test_a_commit_that_is_not_there_is_said_in_a_sentence(tmp_path, home, repository, text, sentence):
    (tmp_path / "home").mkdir(exist_ok=True)
    with pytest.raises(UsageError, match=sentence) as raised:
        find_entrant(text, [], tmp_path, home.bots)
    assert "\n" not in str(raised.value)
    with pytest.raises(DefinitionError, match=sentence):
        labels(tmp_path, home, text, "skip_broken = true")


def test_missing_manifests_are_written_where_it_is_clear_what_is_the_program(tmp_path):
    several = {"ben/bot.py": PROGRAM, "ben/x.py": b"", f"{ANN}/only.py": PROGRAM, "cy/x.py": b"", "cy/y.py": b""}
    write(tmp_path / "s", several | {"dan/bot.toml": MANIFEST})
    assert [path.parent.name for path in list(write_manifests(tmp_path / "s"))] == [ANN, "ben"]
    assert (tmp_path / "s/ben/bot.toml").read_text() == "name = 'ben'\ncommand = ['python3', 'bot.py']\n"
    assert (tmp_path / "s" / ANN / "bot.toml").read_text() == "name = 'Ng Ann'\ncommand = ['python3', 'only.py']\n"
    assert list(write_manifests(tmp_path / "s/ben")) == []
    with pytest.raises(UsageError, match=r"found 'x.py', 'y.py'; expected one program, or 'bot.py', 'main.py' or"):
        list(write_manifests(tmp_path / "s/cy"))


def test_a_folder_of_submissions_with_one_program_gets_no_manifest_of_its_own(tmp_path):
    class_ = write(tmp_path / "s", {"ann.py": PROGRAM, "gus.zip": b"", "ben/bot.py": PROGRAM})
    assert [path.relative_to(class_).as_posix() for path in write_manifests(class_)] == ["ben/bot.toml"]
    data = write(tmp_path / "t", {"bot.py": PROGRAM, "weights.tar.gz": b""})
    assert [path.parent for path in write_manifests(data)] == [data]


def test_students_beside_a_single_program_do_not_vanish_into_a_bot_of_the_whole_folder(tmp_path):
    class_ = write(tmp_path / "m", {"b.py": PROGRAM, "ann/bot.py": PROGRAM, "README.txt": b""})
    with pytest.raises(UsageError, match=r"'b.py' may be its program, or a submission as 'ann' may be; call a program"):
        list(write_manifests(class_))
    assert not list(class_.rglob("bot.toml"))
    written = [path for each in sorted(class_.iterdir()) for path in write_manifests(each)]  # arena check m/*
    assert written == [class_ / "ann/bot.toml"]
    main = write(tmp_path / "n", {"bot.py": PROGRAM, "ann/bot.toml": MANIFEST, "ben/bot.py": PROGRAM})
    assert list(write_manifests(main)) == [main / "ben/bot.toml"]
    package = write(tmp_path / "p", {"play.py": PROGRAM, "lib/__init__.py": b"", "lib/bot.py": b"", "old/x.txt": b""})
    assert list(write_manifests(package)) == [package / "bot.toml"]


def test_a_virtual_environment_is_named_wherever_a_copy_would_lack_it(tmp_path, home):
    manifest = b"name = 'v'\ncommand = ['.venv/bin/python', 'bot.py']\n"
    bot = write(tmp_path / "s/v", {"bot.toml": manifest, "bot.py": PROGRAM, ".venv/bin/python": b"#!/bin/sh\n"})
    (bot / ".venv/bin/python").chmod(0o755)
    sentence = "its command names '.venv/bin/python', but .venv is no part of a bot"
    with pytest.raises(UsageError, match=sentence):
        home.bots.copy_in(bot)
    with pytest.raises(UsageError, match=sentence), collected("s/v", tmp_path) as found, found[0].opened():
        pass
    with pytest.raises(UsageError, match=sentence), packed(bot):
        pass
