"""The table of operations."""

from __future__ import annotations

from arena.server.gate.operation import Operation
from arena.server.operations import (
    account,
    bot_logs,
    contest_changes,
    contest_results,
    contests,
    directing,
    directory,
    invitations,
    own_data,
    playing,
    sign_in,
    submissions,
)

OPERATIONS: tuple[Operation, ...] = (
    *sign_in.OPERATIONS,
    *invitations.OPERATIONS,
    *account.OPERATIONS,
    *own_data.OPERATIONS,
    *submissions.OPERATIONS,
    *contests.OPERATIONS,
    *contest_changes.OPERATIONS,
    *contest_results.OPERATIONS,
    *bot_logs.OPERATIONS,
    *playing.OPERATIONS,
    *directory.OPERATIONS,
    *directing.OPERATIONS,
)
