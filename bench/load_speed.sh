#!/usr/bin/env bash
# bench/load_speed.sh [EXTENSION PACKAGE TORCH...]: how long it takes to say whether an extension loads, from mapped files and from stored
# facts, beside `ldd -r` on the same files in the same run. Environments (some gigabytes each) are made once and kept in the cache.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
extension=${1:-sgl_kernel/sm100/common_ops.abi3.so} package=${2:-sgl-kernel==0.3.21}
torches=("${@:3}"); [ "${#torches[@]}" != 0 ] || torches=(2.9.1 2.10.0)
. "$root/bench/environments"

fewest() { local best='' begun took; for _ in 1 2 3 4 5; do begun=$(date +%s.%N); "$@" >"$work/out" 2>&1 || true; took=$(echo "$(date +%s.%N) - $begun" | python3 -c 'print(1000 * eval(input()))'); best=$(python3 -c "print(min([x for x in [$took, ${best:-None}] if x]))"); done; printf '%.1f' "$best"; }

for torch in "${torches[@]}"; do
  environment=$(environment_with "$package" "$torch")
  site=$("$environment/bin/python" -c 'import site; print(site.getsitepackages()[0])')
  folders=$(find "$site" -type d -name lib \( -path '*/nvidia/*' -o -path '*/torch/lib' \) | paste -sd:)
  ldd_time=$(LD_LIBRARY_PATH=$folders fewest ldd -r "$site/$extension")
  undefined=$(grep -c 'undefined symbol' "$work/out" || true)
  missing=$(grep -c 'not found' "$work/out" || true)
  speed() { "$root/build/release/bench/compatrix_load_speed" "$@"; }
  read -r _ mapped mapped_again whole alone memory answer < <(speed mapped "$environment/bin/python" "$extension")
  read -r _ facts facts_again facts_whole facts_alone facts_memory _ < <(speed facts "$extension" "torch==$torch" "$package")
  printf '%s of %s with torch %s: %s\n' "$extension" "$package" "$torch" "$answer"
  printf '  ldd -r                                    %8s ms, says: %s undefined, %s not found\n' "$ldd_time" "$undefined" "$missing"
  printf '  its closure, mapped files                 %8s ms, %s MB  (%.0f times faster)\n' "$mapped" "$memory" "$(python3 -c "print($ldd_time / $mapped)")"
  printf '  its closure, stored facts                 %8s ms, %s MB, from nothing; in a further cell %s ms (from mapped files %s ms)\n' "$facts" "$facts_memory" "$facts_again" "$mapped_again"
  printf '  after import torch, mapped files          %8s ms, of which the extension %s ms\n' "$whole" "$alone"
  printf '  after import torch, stored facts          %8s ms, of which the extension %s ms\n' "$facts_whole" "$facts_alone"
done
