"""Commands, run in this process."""

from arena.cli.group import run


def called(capture, *arguments):
    """Run a command and return (exit code, stdout, stderr)."""
    code = run([*map(str, arguments)])
    out, err = capture.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def calling(home, capture):
    """Return a function that runs a command in a home and returns (exit code, stdout, stderr)."""
    return lambda *arguments: called(capture, *arguments, "--home", home)


def refusal(call, *arguments):
    """Return the one sentence with which a command refuses what is asked of it, and prints nothing else."""
    code, out, err = call(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("arena: ")
    return err.removeprefix("arena: ").removesuffix("\n")
