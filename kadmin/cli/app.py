"""The tree of commands; each command's body lives in the module of its topic."""

from __future__ import annotations

import typer

from kadmin.cli import cluster, operate, takeover
from kadmin.cli.consumers import consumers_app
from kadmin.cli.convert import convert
from kadmin.cli.deadline import bounded
from kadmin.cli.doctor import doctor
from kadmin.cli.election import propose_election
from kadmin.cli.heal import heal
from kadmin.cli.inspect import inspect_app
from kadmin.cli.propose import propose_app
from kadmin.cli.recreate import recreate
from kadmin.cli.report import report
from kadmin.cli.sandbox import sandbox_app
from kadmin.cli.schema import schema_app
from kadmin.cli.throttle import throttle_app
from kadmin.cli.validate import validate
from kadmin.cli.whatif import whatif_app

app = typer.Typer(
    name="kadmin",
    help="Operations toolkit for Apache Kafka clusters whose metadata lives in ZooKeeper.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command()(bounded(validate))
app.command()(bounded(convert))
app.command()(doctor)
app.add_typer(inspect_app, name="inspect")
app.add_typer(whatif_app, name="whatif")
app.add_typer(consumers_app, name="consumers")
app.command()(cluster.diff)
app.command()(operate.apply)
app.command()(operate.verify)
app.command()(operate.status)
app.command()(takeover.resume)
app.command()(takeover.pause)
app.command()(takeover.cancel)
app.command()(takeover.rollback)
app.command()(operate.history)
app.command()(recreate)
app.command()(heal)
app.add_typer(operate.lock_app, name="lock")
app.add_typer(throttle_app, name="throttle")
app.command()(cluster.snapshot)
app.command()(report)
propose_app.command("election")(propose_election)
app.add_typer(propose_app, name="propose")
app.add_typer(schema_app, name="schema")
app.add_typer(sandbox_app, name="sandbox")
