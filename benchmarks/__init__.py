"""Benchmarks, one command each: ``python -m benchmarks.NAME``. Results stand in benchmarks/README.md."""
