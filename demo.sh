#!/bin/sh
# Runs kadmin on real brokers: sandbox, snapshot, proposal, apply, election, deletion, each one verified, and a plan for
# load that changes by the hour, on a cluster in KRaft mode; then the rebalance on one with ZooKeeper.
# Prints every command before it runs; README.md explains each. Usage: demo.sh (after make setup)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out="$here/demo-output/$(date -u +%Y%m%dT%H%M%SZ)"
state=$(mktemp -d)
kadmin() { "$here/.venv/bin/kadmin" "$@"; }
step() { printf '\n== %s\n' "$1"; }
value_of() { "$here/.venv/bin/python" -c "import json, sys; value = json.load(sys.stdin); print($1)"; }
run() { printf '$ kadmin %s\n' "$*"; kadmin "$@"; }
finish() {
  status=$?
  kadmin sandbox down --dir "$state/kraft" >/dev/null 2>&1 || true
  kadmin sandbox down --dir "$state/zookeeper" >/dev/null 2>&1 || true
  rm -rf "$state"
  if [ "$status" -ne 0 ]; then
    echo "the demo failed with exit code $status; its files are in $out" >&2
  fi
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir -p "$out"
started=$(date +%s)

step "1. Four real Kafka ${KADMIN_DEMO_KRAFT:-4.4.0} brokers on three racks, one of them almost empty"
run sandbox up --kraft --dir "$state/kraft" --version "${KADMIN_DEMO_KRAFT:-4.4.0}" --brokers 4 --racks 3
run sandbox seed --dir "$state/kraft"
KADMIN_BOOTSTRAP_SERVER=$(kadmin sandbox status --dir "$state/kraft" -o json | value_of '",".join(value["bootstrap"])')
export KADMIN_BOOTSTRAP_SERVER

step "2. A look that changes nothing, and a snapshot of the skewed cluster"
run doctor
run snapshot --out "$out/before" --table csv

step "3. A rebalance is proposed, beside its proven bounds"
run propose rebalance "$here/plans/rebalance.yaml" --inventory "$out/before" --out "$out/plan.yaml" --figures "$out/figures.json" --html "$out/plan.html"

step "4. Validate the plan as CI does, show what it would change, and a dry run"
run validate "$out/plan.yaml" --inventory "$out/before"
run diff "$out/plan.yaml"
run apply "$out/plan.yaml" --dry-run

step "5. Apply it on the live brokers"
run apply "$out/plan.yaml" --yes
run verify "$out/plan.yaml"

step "6. Before and after: a second proposal finds nothing to do"
run snapshot --out "$out/after" --table csv
run propose rebalance "$here/plans/rebalance.yaml" --inventory "$out/after" --out "$out/second.yaml"

step "7. Restart a broker and elect its preferred leaders"
run sandbox stop-broker 1 --dir "$state/kraft"
run sandbox start-broker 1 --dir "$state/kraft"
run propose election --out "$out/election.yaml"
run apply "$out/election.yaml" --yes
run verify "$out/election.yaml"

step "8. Delete the retired topic"
cp "$here/plans/delete-topic.yaml" "$out/deletion.yaml"
run apply "$out/deletion.yaml" --yes
run verify "$out/deletion.yaml"

step "9. The operations on record, and a report of the rebalance for the change ticket"
run history
rebalance=$(kadmin history -o json | value_of 'value["operations"][0]["operation_id"]')
run report "$rebalance" --out "$out/report.html"

step "10. Even in every hour: samples of a day that lasts 24 seconds, a load history that Spark builds, a plan with it"
(kadmin sandbox traffic --dir "$state/kraft" --hour 1s --for 1d >"$out/traffic.txt" 2>&1) &
run sample --out "$out/samples" --every 1s --for 26s --hour 1s 2>"$out/samples.txt"
wait
run load build --samples "$out/samples" --out "$out/load"
run snapshot --out "$out/loaded" --table csv
cp "$here/plans/even-load.yaml" "$out/even-load.yaml"
run propose rebalance "$out/even-load.yaml" --inventory "$out/loaded" --out "$out/even-load-plan.yaml" --html "$out/even-load.html"
run sandbox down --dir "$state/kraft"
unset KADMIN_BOOTSTRAP_SERVER

step "11. The same plans with ZooKeeper: Kafka ${KADMIN_DEMO_VERSION:-2.8.2}, through its admin znodes"
run sandbox up --dir "$state/zookeeper" --version "${KADMIN_DEMO_VERSION:-2.8.2}" --brokers 4 --racks 3 --chroot /kafka
run sandbox seed --dir "$state/zookeeper"
KADMIN_ZOOKEEPER=$(kadmin sandbox status --dir "$state/zookeeper" -o json | value_of 'value["connect"]')
export KADMIN_ZOOKEEPER
run snapshot --out "$out/zookeeper" --table csv
run propose rebalance "$here/plans/rebalance.yaml" --inventory "$out/zookeeper" --out "$out/zookeeper.yaml"
run apply "$out/zookeeper.yaml" --yes
run verify "$out/zookeeper.yaml"
run history

printf '\nOpen in a browser: %s (before it was applied: %s)\n' "$out/report.html" "$out/plan.html"
printf 'Plans, figures and snapshots: %s\n' "$out"
printf 'Done in %s s.\n' "$(($(date +%s) - started))"
