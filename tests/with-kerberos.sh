#!/bin/sh
# with-kerberos.sh FOLDER PYTHON ARGUMENTS...: run Python where there are a Kerberos KDC and the package gssapi, if they
# can be had.
#
# Programs that the machine has are used as they are. Else, as root, Debian's are installed. The package is built into FOLDER once, of which the version that pyproject.toml wants; the environment of the
# other tests stays without it. The exit status is Python's.
set -u

say() { echo "with-kerberos: $*" >&2; }

PATH=$PATH:/usr/sbin:/sbin
folder=$1
shift

has_programs() {
  for program in krb5kdc kdb5_util kadmin.local kinit kvno krb5-config cc; do
    command -v "$program" >/dev/null || return 1
  done
}

install_programs() {
  command -v apt-get >/dev/null || { say "Kerberos is not here whole, and no apt-get to install it with"; return 1; }
  [ "$(id -u)" -eq 0 ] || { say "Kerberos is not here whole, and only root can install it"; return 1; }
  say "installing krb5-kdc, krb5-admin-server, krb5-user, libkrb5-dev, gcc and Python's headers"
  log=$(mktemp)
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    krb5-kdc krb5-admin-server krb5-user libkrb5-dev gcc libc6-dev "$@"; } >"$log" 2>&1 ||
    say "they could not be installed: $(tail -n 1 "$log")"
  rm -f "$log"
}

# Debian's own Python has its headers in a package; another Python has brought them.
headers=
"$1" -c 'import pathlib, sys, sysconfig; sys.exit(not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists())' ||
  headers=python3-dev
if ! has_programs || [ -n "$headers" ]; then
  install_programs $headers
fi

if ! PYTHONPATH="$folder" "$1" -c 'import gssapi' 2>/dev/null; then
  say "building gssapi"
  wanted=$("$1" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["kerberos"])')
  rm -rf "$folder"
  # shellcheck disable=SC2086 # requirements without spaces
  "$1" -m pip install --quiet --target "$folder" $wanted || say "it could not be built"
fi

PYTHONPATH="$folder${PYTHONPATH:+:$PYTHONPATH}"
export PATH PYTHONPATH
exec "$@"
