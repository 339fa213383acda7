import json

from arena.cli.group import run
from arena.store.home import ArenaHome


def played_in(directory, **files):
    """Write tournament files, play them in a home beside them, and return the directory."""
    from arena.tournament.definition import load_definition
    from arena.tournament.director import run_tournament

    with ArenaHome(directory / "home") as home:
        for name, text in files.items():
            (directory / f"{name}.toml").write_text(text)
            run_tournament(load_definition(directory / f"{name}.toml"), home.store, executor="in-process")
    return directory


def called(capture, *arguments):
    code = run([*map(str, arguments)])
    out, err = capture.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def calling(home, capture):
    """Return a function that runs a command in a home and returns (exit code, stdout, stderr)."""
    return lambda *arguments: called(capture, *arguments, "--home", home)


def refusals(call, *arguments):
    """Return the sentences, one for each mistake, with which a command refuses what is asked."""
    code, out, err = call(*arguments)
    assert (code, out) == (2, ""), err
    lines = err.splitlines()
    assert all(line.startswith("arena: ") for line in lines), err
    return [line.removeprefix("arena: ") for line in lines]


def refusal(call, *arguments):
    (sentence,) = refusals(call, *arguments)
    return sentence


def ended(call, code, *arguments):
    """Return what a command prints and says that ends with this exit code."""
    found, out, err = call(*arguments)
    assert found == code, err
    return out, err


def printed(call, *arguments):
    return ended(call, 0, *arguments)[0]


def shown(call, code, *arguments):
    return ended(call, code, *arguments)[0]


def printed_alone(call, *arguments):
    """Return what a command prints that does what is asked, and says nothing else."""
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    return out


def told(call, code, *arguments):
    return ended(call, code, *arguments)[1]


def as_json(call, *arguments):
    return json.loads(printed(call, *arguments, "--json"))
