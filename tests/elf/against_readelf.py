#!/usr/bin/env python3
"""Holds `compatrix explain` against binutils' readelf: needed, soname, rpath, runpath, versions and symbols of shared objects.

usage: against_readelf.py COMPATRIX FILE-OR-FOLDER...  (this machine's own libraries are taken too when only fixtures are given)
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

if shutil.which("readelf") is None:
    print("skipped: readelf is not there (Debian's package binutils)")
    sys.exit(77)


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, text=True, errors="surrogateescape").stdout


def by_readelf(path):
    facts = {"needed": [], "soname": None, "rpath": None, "runpath": None}
    for line in output_of("readelf", "-W", "-d", path).splitlines():
        found = re.search(r"\((NEEDED|SONAME|RPATH|RUNPATH)\).*\[(.*)\]", line)
        if found and found[1] == "NEEDED":
            facts["needed"].append(found[2])
        elif found:
            facts[found[1].lower()] = found[2]
    if facts["runpath"] is not None:
        facts["rpath"] = None  # void beside a runpath
    facts["undefined"], facts["weak_undefined"], facts["defined"] = [], [], []
    for line in output_of("readelf", "-W", "--dyn-syms", path).splitlines():
        parts = re.sub(r"<[^>]*>: \d+", "OTHER", line).split()  # a type that readelf has no name for
        if len(parts) < 8 or not parts[0].endswith(":") or parts[0] == "Num:" or parts[4] == "LOCAL":
            continue
        name = parts[7].split("@")[0]
        kind = "defined" if parts[6] != "UND" else "weak_undefined" if parts[4] == "WEAK" else "undefined"
        facts[kind].append(name)
    needs, file = set(), None
    for line in output_of("readelf", "-W", "-V", path).splitlines():
        if found := re.search(r"Version: 1\s+File: (\S+)", line):
            file = found[1]
        elif (found := re.search(r"Name: (\S+)\s+Flags: (.*?)\s+Version:", line)) and file:
            needs.add((file, found[1], "WEAK" in found[2]))
    facts["version_needs"] = sorted(needs)
    return facts


def by_compatrix(program, path):
    run = subprocess.run([program, "explain", path, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
    if run.returncode != 0:
        return {"error": run.stderr.strip()}
    facts = json.loads(run.stdout)["elf"]
    facts["version_needs"] = sorted((n["file"], n["version"], n["weak"]) for n in facts["version_needs"])
    return facts


def shared_objects(places):
    for place in map(pathlib.Path, places):
        for path in sorted(place.rglob("*.so*")) if place.is_dir() else [place]:
            if path.is_file() and not path.is_symlink() and path.open("rb").read(5) == b"\x7fELF\x02":
                yield str(path)


program, places = sys.argv[1], sys.argv[2:]
files = list(shared_objects(places))
if os.path.basename(places[0]) == "fixtures":
    files = [f for f in files if "/plugins/" not in f]
    files += [f for f in shared_objects(["/usr/lib/x86_64-linux-gnu"])][:120]
wrong = symbols = 0
for path in files:
    expected, found = by_readelf(path), by_compatrix(program, path)
    symbols += len(expected["undefined"]) + len(expected["defined"]) + len(expected["weak_undefined"])
    for key, value in expected.items():
        own = found.get(key)
        if isinstance(value, list) and key != "needed" and isinstance(own, list):
            value, own = sorted(value), sorted(own)
        if value != own:
            wrong += 1
            print(f"{path}: {key}: readelf has {str(value)[:200]}, we have {str(own)[:200]} {found.get('error', '')}")
print(f"tried {len(files)} shared objects with {symbols} symbols, differences {wrong}")
sys.exit(1 if wrong or not files else 0)
