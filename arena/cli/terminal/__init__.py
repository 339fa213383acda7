"""What commands share: options, streams, progress, confirmation."""
