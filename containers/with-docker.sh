#!/bin/sh
# with-docker.sh COMMAND...: run a command where it finds a Docker daemon, if one can be had.
#
# A daemon that answers is used. Else, as root, a private one is started (Debian's docker.io is installed if there is no
# dockerd), with its own folders and socket, and ended afterwards. Else the command runs without. The exit status is the
# command's.
set -u

READY_S=30
daemon=
folder=

say() { echo "with-docker: $*" >&2; }

end_daemon() {
  [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null && wait "$daemon"; }
  [ -z "$folder" ] || rm -rf "$folder"
  daemon= folder=
}

install_daemon() {
  command -v apt-get >/dev/null || { say "there is no dockerd, and no apt-get to install it with"; return 1; }
  say "installing docker.io and iptables"
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends docker.io iptables; } \
    >"$folder/install.log" 2>&1 || { say "they could not be installed: $(tail -n 1 "$folder/install.log")"; return 1; }
}

# Neither the machine's packet filter nor its forwarding is changed and no default bridge is made: ports are published
# on loopback by a proxy process, and containers of one network need no more. iptables itself is still needed, by the
# name server inside each container's own network.
start_daemon() {
  dockerd --data-root "$folder/data" --exec-root "$folder/exec" --pidfile "$folder/pid" --host "unix://$folder/socket" \
    --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false >"$folder/log" 2>&1 &
  daemon=$!
  waited=0
  until grep -qs "API listen on" "$folder/log"; do
    if [ "$waited" -ge $((READY_S * 5)) ] || ! kill -0 "$daemon" 2>/dev/null; then
      say "dockerd does not start: $(tail -n 1 "$folder/log")"
      return 1
    fi
    waited=$((waited + 1))
    sleep 0.2
  done
}

answers() { command -v docker >/dev/null && docker info >/dev/null 2>&1; }

trap end_daemon EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if answers; then
  say "using the daemon that runs"
elif [ "$(id -u)" -ne 0 ]; then
  say "no daemon answers, and only root can start one"
else
  folder=$(mktemp -d /tmp/kadmin-docker.XXXXXX) # a socket's path may not be long
  if { command -v dockerd >/dev/null || install_daemon; } && ! answers; then
    if start_daemon; then
      export DOCKER_HOST="unix://$folder/socket"
    else
      end_daemon
    fi
  fi
fi

"$@"
