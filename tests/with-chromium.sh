#!/bin/sh
# with-chromium.sh COMMAND...: run a command where there is a Chromium, if one can be had.
#
# A chromium on the PATH is used as it is. Else, as root, Debian's is installed. Else the command runs without, and says
# itself what it misses. The exit status is the command's.
set -u

say() { echo "with-chromium: $*" >&2; }

install_chromium() {
  command -v apt-get >/dev/null || { say "there is no chromium, and no apt-get to install it with"; return 1; }
  [ "$(id -u)" -eq 0 ] || { say "there is no chromium, and only root can install it"; return 1; }
  say "installing chromium and a font"
  log=$(mktemp)
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } \
    >"$log" 2>&1 || say "it could not be installed: $(tail -n 1 "$log")"
  rm -f "$log"
}

command -v chromium >/dev/null || install_chromium
exec "$@"
