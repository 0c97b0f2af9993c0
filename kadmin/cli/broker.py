"""`kadmin broker`."""

from __future__ import annotations

import typer

from kadmin.cli.cordon import cordon, uncordon, unregister

broker_app = typer.Typer(help="Cordon, uncordon or unregister a broker.")

broker_app.command()(cordon)
broker_app.command()(uncordon)
broker_app.command()(unregister)
