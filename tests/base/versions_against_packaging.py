#!/usr/bin/env python3
"""Holds our PEP 440 against the `packaging` library, on generated versions and specifiers."""
import os
import random
import subprocess
import sys

python = os.environ.get("COMPATRIX_TEST_PYTHON")
if python and os.environ.get("COMPATRIX_INNER") != "1":
    os.environ["COMPATRIX_INNER"] = "1"
    os.execv(python, [python, *sys.argv])
try:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version
except ImportError:
    print("skipped: the `packaging` library is not there; ./dev test provides it")
    sys.exit(77)

SEED = 20260301
PAIRS = 20_000
draw = random.Random(SEED)


def version():
    text = draw.choice(["", "", "", "v", "1!"]) + ".".join(str(draw.choice([0, 0, 1, 2, 9, 10, 12])) for _ in range(draw.randint(1, 4)))
    if draw.random() < 0.3:
        text += draw.choice(["", ".", "-", "_"]) + draw.choice(["a", "alpha", "b", "beta", "c", "rc", "pre", "preview"])
        text += draw.choice(["", ".", "-"]) + draw.choice(["", "0", "1", "12"]) if draw.random() < 0.8 else ""
    if draw.random() < 0.25:
        text += draw.choice([".post1", "-1", ".rev2", "post", ".post0", "-r3"])
    if draw.random() < 0.25:
        text += draw.choice([".dev0", "dev", ".dev20260226", "-dev3", "_dev1"])
    if draw.random() < 0.3:
        text += "+" + draw.choice(["cu128", "cu130", "1", "abc.1", "1.abc", "ubuntu-1", "5.7", "CU130"])
    if draw.random() < 0.03:
        text += draw.choice([".", "+", "x", " 1", "..1"])
    return text


def near():
    """One of few versions, so that pairs of them often meet at a border."""
    suffixes = ["", "", "a1", "a1.dev1", "rc1", "rc1.post0", ".post0", ".post1", ".post1.dev1", ".dev0", ".dev1", "a1.post1.dev1"]
    return draw.choice(["0", "1", "1.0", "1.0.0", "1.2", "2.0", "1!1.0"]) + draw.choice(suffixes) + draw.choice(["", "", "", "+a", "+1", "+cu130"])


def specifier():
    clauses = []
    for _ in range(draw.choice([1, 1, 2, 3])):
        operator = draw.choice(["==", "!=", "<=", ">=", "<", ">", "~=", "==="])
        text = near() if draw.random() < 0.6 else version()
        if operator in ("==", "!=") and draw.random() < 0.4:
            text = (text if draw.random() < 0.2 else text.split("+")[0].split("a")[0].split("rc")[0].split(".post")[0].split(".dev")[0]) + ".*"
        if operator in ("<=", ">=", "<", ">", "~=") and draw.random() < 0.95:
            text = text.split("+")[0]
        if operator == "===" and draw.random() < 0.2:
            text = draw.choice([text.upper(), "word", "1.*", ""])
        clauses.append(operator + draw.choice(["", "", " "]) + text)
    return draw.choice([",", ", "]).join(clauses)


def order(a, b):
    try:
        a, b = Version(a), Version(b)
    except InvalidVersion:
        return "invalid"
    return "<" if a < b else ">" if a > b else "="


def contains(clauses, candidate):
    try:
        return "yes" if SpecifierSet(clauses).contains(Version(candidate)) else "no"
    except (InvalidSpecifier, InvalidVersion):
        return "invalid"


questions, answers = [], []
for _ in range(PAIRS):
    a, b = version(), version()
    questions.append(f"order {a}|{b}")
    answers.append(order(a, b))
    clauses, candidate = specifier(), near() if draw.random() < 0.7 else version()
    questions.append(f"contains {clauses}|{candidate}")
    answers.append(contains(clauses, candidate))
ours = subprocess.run([sys.argv[1]], input="\n".join(questions) + "\n", text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines()
wrong = [(q, theirs, own) for q, theirs, own in zip(questions, answers, ours, strict=True) if theirs != own]
for question, theirs, own in wrong[:20]:
    print(f"{question}: packaging says {theirs}, we say {own}")
print(f"seed {SEED}: tried {len(questions)}, equal {len(questions) - len(wrong)}")
sys.exit(1 if wrong else 0)
