#!/usr/bin/env bash
# bench/warm_run.sh [MATRIX]: the whole matrix from kept facts and frozen locks, five times, beside what one bare read of a
# shared object by readelf costs in the same run. Needs a first run.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
matrix=${1:-$root/matrices/sgl-kernel-torch.yaml}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$root/build/release/compatrix" run "$matrix" --offline -o "$out" >/dev/null 2>&1 || { echo "run it once without --offline first"; exit 1; }
python3 - "$root/build/release/compatrix" "$matrix" "$out" <<'PY'
import statistics, subprocess, sys, time
program, matrix, out = sys.argv[1:]
def timed(*command):
    begun = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - begun
ours, peer = [], []
for _ in range(5):
    ours.append(timed(program, "run", matrix, "--offline", "-o", out))
    peer.append(timed("readelf", "-W", "--dyn-syms", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"))
cells = int(subprocess.run([program, "matrix", "list", matrix], stdout=subprocess.PIPE, text=True, check=True).stdout.count("\n"))
print(f"{cells} cells: {min(ours):.2f} / {statistics.median(ours):.2f} / {max(ours):.2f} s (minimum, median, maximum)")
print(f"ratio: a cell takes {statistics.median(ours) / cells / statistics.median(peer):.1f} times what readelf takes to list libstdc++.so.6's symbols")
PY
