#!/usr/bin/env python3
"""Every #include leads to the file's own layer or an earlier one (framework/LAYERS). usage: layers.py SOURCE_TREE"""
import pathlib
import re
import sys

tree = pathlib.Path(sys.argv[1])
order = [line for line in (tree / "framework/LAYERS").read_text().splitlines() if line and not line.startswith("#")]
wrong = checked = 0


def layer_of(path):
    return next((i for i, layer in enumerate(order) if path.startswith(layer + "/")), None)


for source in sorted([*tree.glob("framework/**/*.[ch]*"), *tree.glob("reports/*.[ch]*"), *tree.glob("plugins/**/*.[ch]*")]):
    path = source.relative_to(tree).as_posix()
    own = layer_of(path)
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if not (found := re.match(r'\s*#include "(.+)"', line)):
            continue
        checked += 1
        other = layer_of(found[1])
        # Programs that make a plugin's data are the maintainers': they read wheels as the host does.
        if re.match(r"plugins/\w+/data/", path):
            continue
        # Plugins see the C ABI, versions and the texts of a wheel, nothing of the host.
        allowed = range(own + 1) if own is not None else (layer_of("framework/base/"), layer_of("framework/wheel/"))
        if other is not None and other not in allowed:
            wrong += 1
            print(f"{path}:{number}: includes {found[1]}, which is " + ("of a later layer" if own is not None else "not for plugins"))
print(f"checked {checked} includes, wrong {wrong}")
sys.exit(1 if wrong or checked < 100 else 0)
