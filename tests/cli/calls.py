"""Commands, run in this process."""

from arena.cli.group import run


def calling(home, capsys):
    """Return a function that runs a command in a home and returns (exit code, stdout, stderr)."""

    def call(*arguments):
        code = run([*map(str, arguments), "--home", str(home)])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return call
