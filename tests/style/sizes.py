#!/usr/bin/env python3
"""Files have at most 400 lines, functions at most 60 (plugins too: they are what others copy). usage: sizes.py SOURCE_TREE"""
import pathlib
import re
import sys

tree = pathlib.Path(sys.argv[1])
wrong = files = functions = 0
for pattern in ("framework", "reports", "plugins", "include", "bench"):
    for source in sorted((tree / pattern).rglob("*.[ch]*")):
        lines = source.read_text().splitlines()
        files += 1
        if len(lines) > 400:
            wrong += 1
            print(f"{source.relative_to(tree)}: {len(lines)} lines")
        # A function begins at a line that ends with "{" after a ")" at depth 0 or inside a class or namespace.
        starts = []
        for number, line in enumerate(lines, 1):
            code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'|//.*', "", line)
            # Attributes and array bounds are none of the brackets that begin a lambda.
            code = re.sub(r"\[\[.*?\]\]|\[\w*\](?=\s*[),])", "", code)
            opened = code.count("{") - code.count("}")
            if opened > 0:
                is_function = bool(re.search(r"\)\s*(const|noexcept|override|try|\s)*\{$|\)\s*:.*\{$|\}\s*,?\s*\{$", code.strip())) and not re.match(
                    r"\s*(if|for|while|switch|else|catch|namespace|struct|class|enum)\b", code) and "[" not in code
                starts += [(number, is_function)] * opened
            for _ in range(-opened if opened < 0 else 0):
                if starts:
                    begun, is_function = starts.pop()
                    functions += is_function
                    if is_function and number - begun > 60:
                        wrong += 1
                        print(f"{source.relative_to(tree)}:{begun}: a function of {number - begun} lines")
print(f"checked {files} files and {functions} functions, wrong {wrong}")
sys.exit(1 if wrong or functions < 100 else 0)
