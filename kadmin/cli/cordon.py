"""`kadmin broker cordon`, `uncordon` and `unregister`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import changes_cluster
from kadmin.cli.context import open_context
from kadmin.cli.execution import ask_first, read_cluster_at
from kadmin.cli.output import answer
from kadmin.contexts.address import ClusterAddress

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.cordons import CordonChange

BrokerArgument: TypeAlias = Annotated[
    int, typer.Argument(metavar="ID", help="The broker's id.", min=0)
]


@changes_cluster
def cordon(
    broker: BrokerArgument,
    cluster: ClusterAddress,
    *,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Cordon a broker: it gets no new replicas.

    It keeps and leads those that it has, and moves onto it in flight finish. Kafka then refuses
    every list of replicas with it. Needs KRaft mode, Kafka 4.3 and metadata.version 4.3-IV0.
    """
    from kadmin.operations.cordons import CordonChange, find_to_cordon
    from kadmin.operations.cordons import cordon as write

    with open_context(cluster, timeout_s=timeout) as context:
        found = find_to_cordon(context, broker)
        change = CordonChange(found, found)
        if not found.is_cordoned:
            _ask(context, cluster, "Cordon", broker, yes=yes)
            change = write(context, broker, lock_timeout)
    _answer(output, change)


@changes_cluster
def uncordon(
    broker: BrokerArgument,
    cluster: ClusterAddress,
    *,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Take the cordon off a broker.

    It gets the config back that it had before kadmin's cordon. That of a broker that is not alive
    is written at the controller, and takes effect when the broker is back.
    """
    from kadmin.operations.cordons import CordonChange, find_to_uncordon
    from kadmin.operations.cordons import uncordon as write

    with open_context(cluster, timeout_s=timeout) as context:
        found = find_to_uncordon(context, broker)
        change = CordonChange(found, found)
        if not found.is_free:
            _ask(context, cluster, "Uncordon", broker, yes=yes)
            change = write(context, broker, lock_timeout)
    _answer(output, change)


@changes_cluster
def unregister(
    broker: BrokerArgument,
    cluster: ClusterAddress,
    *,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Unregister a broker that is gone for good.

    Refused while it is alive, and while a list of replicas names it. Needs KRaft mode. It cannot be
    undone: the broker registers again when its process starts.
    """
    from kadmin.operations.registrations import require_gone
    from kadmin.operations.registrations import unregister as write
    from kadmin.report.brokers import unregistered_answer, unregistered_text

    with open_context(cluster, timeout_s=timeout) as context:
        require_gone(context, broker)
        _ask(context, cluster, "Unregister", broker, yes=yes)
        write(context, broker, lock_timeout)
    answer(output, lambda: unregistered_text(broker), lambda: unregistered_answer(broker))


def _ask(context: Context, cluster: ClusterAddress, verb: str, broker: int, *, yes: bool) -> None:
    from kadmin.report.operations.questions import broker_question

    ask_first(
        context,
        lambda: broker_question(verb, broker, read_cluster_at(context, cluster)),
        cluster,
        yes=yes,
    )


def _answer(output: options.OutputFormat, change: CordonChange) -> None:
    from kadmin.report.brokers import cordon_answer, cordon_text

    answer(output, lambda: cordon_text(change), lambda: cordon_answer(change))
