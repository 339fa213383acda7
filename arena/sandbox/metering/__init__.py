"""What a bot uses while it runs: CPU time, memory, processes, files."""
