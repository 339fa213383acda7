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


def refusals(call, *arguments):
    """Return the sentences, one for each mistake, with which a command refuses what is asked."""
    code, out, err = call(*arguments)
    assert (code, out) == (2, ""), err
    lines = err.splitlines()
    assert all(line.startswith("arena: ") for line in lines), err
    return [line.removeprefix("arena: ") for line in lines]


def refusal(call, *arguments):
    """Return the one sentence with which a command refuses what is asked of it."""
    (sentence,) = refusals(call, *arguments)
    return sentence
