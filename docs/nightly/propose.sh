#!/bin/sh
# Commits a plan for the load of the last weeks on the branch kadmin/FOLDER, if it is worth its moves.
# FOLDER is this script's own, with request.yaml. STATE is a folder that stays, with samples (kadmin sample).
# Usage: propose.sh [COMMAND...]; COMMAND publishes the commit HEAD, by default git push.
set -eu
cd "$(dirname "$0")"
: "${STATE:?is to name the folder that has samples}"
branch=kadmin/$(basename "$PWD")

# One plan at a time: a cluster that is about to change has no load to plan for.
status=$(kadmin status --output json)
case $status in *'"operations": []'*) ;; *)
  echo 'nothing is proposed: an operation is unfinished (kadmin status)'
  exit 0 ;;
esac
if [ -f plan.yaml ]; then
  history=$(kadmin history --output json)
  case $history in *"\"file_digest\": \"$(cut -c 1-64 plan.sha256)\""*) ;; *)
    changes=0
    kadmin diff plan.yaml --detailed-exitcode >/dev/null || changes=$?
    if [ "$changes" -eq 2 ]; then
      echo 'nothing is proposed: the plan that was merged is still to be applied'
      exit 0
    fi ;;
  esac
fi

# The load of each month begins anew, because load build keeps what it has read.
load=$STATE/load-$(date -u +%Y-%m)
for other in "$STATE"/load-*; do
  [ "$other" = "$load" ] || rm -rf "$other"
done
find "$STATE/samples" -name '*.parquet' -mtime +28 -exec rm {} +
kadmin load build --samples "$STATE/samples" --out "$load" --per-week

ln -sfn "$load" load
rm -rf inventory plan.yaml
kadmin snapshot --out inventory
kadmin propose rebalance request.yaml --inventory inventory --out plan.yaml --html plan.html >figures.txt
cat figures.txt

git fetch --quiet --prune origin "+refs/heads/kadmin/*:refs/remotes/origin/kadmin/*"
# No plan, and not exit code 8 of --exit-code, which a file that cannot be written has, too.
if [ ! -f plan.yaml ]; then
  if git rev-parse --quiet --verify "refs/remotes/origin/$branch" >/dev/null; then
    git push --quiet origin --delete "$branch"
    echo "the branch $branch is deleted"
  fi
  exit 0
fi

# The moves of a plan on standard input; sizes, their order, and the time of the inventory change every night.
moves() {
  sed -e '/^  description: /d' -e 's/, size_bytes: [0-9]*//' | sort
}
new=$(moves <plan.yaml)
for known in HEAD "refs/remotes/origin/$branch"; do
  if [ "$(git show "$known:./plan.yaml" 2>/dev/null | moves)" = "$new" ]; then
    echo "nothing is proposed: $known has this plan"
    exit 0
  fi
done

kadmin diff plan.yaml --output markdown >plan.md
{
  printf '\n### Figures\n\n```text\n'
  cat figures.txt
  printf '```\n'
} >>plan.md
sha256sum plan.yaml >plan.sha256
git checkout --quiet --detach
git add plan.yaml plan.sha256 plan.html plan.md
git -c user.name=kadmin -c user.email=kadmin@localhost commit --quiet --message 'Even out the load of brokers'
[ $# -gt 0 ] || set -- git push --quiet --force origin "HEAD:refs/heads/$branch"
exec "$@"
