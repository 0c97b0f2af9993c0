"""An event of a running operation as a message to a webhook.

It is kadmin's JSON, with the text that a chat shows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.report.operations.event_line import event_line
from kadmin.report.operations.follow_json import event_answer

if TYPE_CHECKING:
    from kadmin.answers.events import EventAnswer
    from kadmin.operations.events import Event, OperationStarted


def notification(
    event: Event, at: str, opened: OperationStarted | None, cluster: str
) -> EventAnswer:
    """Return the event of `answers/event`, whose `text` names the operation and the cluster, too.

    `cluster` is the address that was typed, for the time before its id is known. `&`, `<` and `>`
    are escaped, because Slack gives them a meaning.
    """
    subject = f"kadmin on {cluster}"
    if opened is not None:
        where = (
            cluster if opened.cluster_id is None else f"cluster {opened.cluster_id} at {cluster}"
        )
        subject = f"kadmin operation {opened.operation_id} on {where}"
    text = one_line(f"{subject}: {event_line(event)}")
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return replace(event_answer(event, at, opened), text=escaped)
