#!/usr/bin/env python3
"""Every header compiles alone; the plugin ABI also as C11. usage: headers.py SOURCE_TREE COMPILER"""
import concurrent.futures
import pathlib
import subprocess
import sys

tree, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
headers = sorted([*tree.glob("framework/**/*.h"), *tree.glob("reports/*.h"), *tree.glob("include/**/*.h*")])
flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", f"-I{tree}", f"-I{tree}/include"]
commands = [[compiler, "-std=c++20", "-x", "c++", *flags, "-include", str(header), "/dev/null"] for header in headers]
commands += [["cc", "-std=c11", "-pedantic", "-x", "c", *flags, "-include", str(header), "/dev/null"] for header in headers if "/include/" in str(header) and header.suffix == ".h"]
# The SDK is for C++17.
commands += [[compiler, "-std=c++17", "-pedantic", "-x", "c++", *flags, "-include", str(header), "/dev/null"] for header in headers if "/include/" in str(header)]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return command[-2], done.returncode != 0, done.stdout


wrong = 0
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for header, failed, output in pool.map(run, commands):
        if failed:
            wrong += 1
            print(f"{header}: does not compile alone\n{output[:1500]}")
print(f"checked {len(commands)} headers, wrong {wrong}")
sys.exit(1 if wrong else 0)
