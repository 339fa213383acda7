"""The wire between the arena and bots, protocol version 1; protocol.md is its authority."""
