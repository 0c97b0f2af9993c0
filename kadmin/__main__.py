"""`python -m kadmin` is the command line."""

from kadmin.cli import main

main()
