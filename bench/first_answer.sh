#!/usr/bin/env bash
# bench/first_answer.sh [KERNEL] [TORCH]: how long the first answer for a pair takes when nothing is known, beside what people do by hand
# in the same run: install the pair into a fresh environment and import it. Downloads a few gigabytes, twice.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
kernel=${1:-sgl-kernel==0.3.21} torch=${2:-torch==2.10.0}
export COMPATRIX_UV=${COMPATRIX_UV:-$root/build/tools/bin/uv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seconds() { local begun; begun=$(date +%s.%N); "$@" >"$work/log" 2>&1 || true; echo "$(date +%s.%N) - $begun" | python3 -c 'print(round(eval(input()), 2))'; }
by_hand() {
  "$COMPATRIX_UV" venv -q --python 3.11 "$work/env"
  UV_CACHE_DIR="$work/uv" "$COMPATRIX_UV" pip install -q --python "$work/env/bin/python" "$torch" "$kernel"
  "$work/env/bin/python" -c 'import torch'
}

export COMPATRIX_CACHE=$work/cache
first=$(seconds "$root/build/release/compatrix" check "$kernel" --with "$torch")
again=$(seconds "$root/build/release/compatrix" check "$kernel" --with "$torch" --offline)
hand=$(seconds by_hand)
printf 'first answer for %s with %s: %s s, kept facts %s\n' "$kernel" "$torch" "$first" "$(du -sh "$work/cache" | cut -f1)"
printf 'the same from kept facts: %s s\n' "$again"
printf 'installing the pair and importing torch: %s s, %s on disk\n' "$hand" "$(du -sh "$work/env" | cut -f1)"
python3 -c "print(f'ratio: first answer takes {$first / $hand:.2f} of the time by hand, the next {$again / $hand:.4f}')"
