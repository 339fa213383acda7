"""Numbers about the running site, for Prometheus and its operator."""
