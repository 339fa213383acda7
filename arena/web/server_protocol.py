"""HTTP as the server speaks it: requests know the connection they came by."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

TRANSPORT = "transport"
"""Under which name ``scope["state"]`` has the connection's transport: a stream that nobody reads is closed by it."""


class ServerProtocol(HttpToolsProtocol):
    """A connection."""

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.scope["state"][TRANSPORT] = self.transport
