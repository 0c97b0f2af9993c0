#!/bin/sh
# Makes the virtual environment from the lock file. Usage: setup.sh PYTHON VENV
# Only pip's ordinary configuration decides where packages come from.
set -eu
python=$1
venv=$2

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
  echo "kadmin needs Python 3.11 or later, and '$python' is not; run: make setup PYTHON=python3.11" >&2
  exit 1
}
"$python" -c 'import venv, ensurepip' 2>/dev/null || {
  echo "'$python' cannot make virtual environments; install its venv package (Debian: apt-get install python3-venv)" >&2
  exit 1
}
echo "setting up $venv (1.7 GB, PySpark included; minutes the first time)"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
# The lock is whole, so pip need not resolve: it would take a newer release for what is wanted with an extra.
"$venv/bin/python" -m pip install --quiet --require-hashes --no-deps --requirement requirements.lock
"$venv/bin/python" -m pip install --quiet --no-deps --no-build-isolation --editable .
"$venv/bin/python" -m pip --quiet check
echo "archiving Spark's classes, with which it starts in two thirds of the time"
"$venv/bin/python" -m kadmin.planner.class_archive || echo "Spark will start without the archive"
touch "$venv/.ready"
echo "ready: $venv/bin/kadmin"
