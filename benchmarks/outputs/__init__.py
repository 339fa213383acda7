"""What one version of the arena says beside what another says: every command, page and file, with each difference.

    python -m benchmarks.outputs make-homes HOMES --arena BEFORE/.venv/bin/arena
    python -m benchmarks.outputs record OLD --homes HOMES --arena BEFORE/.venv/bin/arena
    python -m benchmarks.outputs record NEW --homes HOMES --arena .venv/bin/arena
    python -m benchmarks.outputs compare OLD NEW

The older version makes the homes once, and both are recorded from copies of these, at the same path, so that times,
random numbers and paths are equal. Everything goes through the command line and HTTP, never through imports of arena:
the tool records any checkout. A recording is a folder of texts, one for each call and address.
"""
