#!/usr/bin/env python3
"""Judges the reports that tests_reports wrote, by parsers of others: expat for JUnit XML, jsonschema for results.json.

usage: judge_reports.py FOLDER SCHEMA
The rules of the strict profile: one flat level of suites, attributes and children in the order that the schemas of Jenkins'
xunit plugin (junit-10) and of windyroad both accept, at most one of skipped, failure and error in a testcase.
"""
import collections
import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

python = os.environ.get("COMPATRIX_TEST_PYTHON")
if python and os.environ.get("COMPATRIX_INNER") != "1":
    os.environ["COMPATRIX_INNER"] = "1"
    os.execv(python, [python, *sys.argv])

folder, schema = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)


def judge_suite(suite, names):
    expect(set(suite.attrib) == {"name", "id", "package", "hostname", "timestamp", "time", "tests", "failures", "errors", "skipped"}, "suite attributes")
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp")), "timestamp " + suite.get("timestamp"))
    order = [child.tag for child in suite]
    expect(order == ["properties"] + ["testcase"] * (len(order) - 3) + ["system-out", "system-err"], f"order {order}")
    counts = collections.Counter()
    for case in suite.findall("testcase"):
        expect(set(case.attrib) == {"classname", "name", "time"}, "testcase attributes")
        expect(re.fullmatch(r"\d+\.\d{3}", case.get("time")), "time " + case.get("time"))
        expect(len(case) <= 1, "several results in one testcase")
        names[(case.get("classname"), case.get("name"))] += 1
        for result in case:
            expect(result.tag in ("skipped", "failure", "error"), result.tag)
            expect(result.get("message"), f"{result.tag} without a message")
            expect(result.tag == "skipped" or result.get("type"), f"{result.tag} without a type")
            expect(len(result.text or "") < 80_000, "text is not capped")
            counts[result.tag] += 1
    expect(int(suite.get("tests")) == len(suite.findall("testcase")), "tests")
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        expect(int(suite.get(attribute)) == counts[tag], attribute)
    return counts


names = collections.Counter()
root = ElementTree.parse(folder / "everything.xml").getroot()
expect(root.tag == "testsuites" and not root.attrib, "a bare testsuites")
totals = sum((judge_suite(suite, names) for suite in root), collections.Counter())
expect(all(child.tag == "testsuite" for child in root), "one flat level of suites")
expect(max(names.values()) == 1, "names are not unique")
expect(totals == collections.Counter(failure=3, error=2, skipped=3), f"totals {totals}")
skipped = [s.get("message") for s in root.iter("skipped")]
expect("expected: known" in skipped and "no GPU" in skipped and "never built" in skipped, f"reasons {skipped}")
expect(any("tag differs" in (out.text or "") for out in root.iter("system-out")), "the warning is in no output")
ElementTree.parse(folder / "empty.xml")

results = json.loads((folder / "everything.json").read_text())
try:
    import jsonschema
except ImportError:
    jsonschema = None
    print("results.json is not held against its schema: the `jsonschema` library is not there; ./dev test provides it")
if jsonschema:
    document = json.loads(schema.read_text())
    jsonschema.Draft202012Validator.check_schema(document)
    validator = jsonschema.Draft202012Validator(document)
    for error in validator.iter_errors(results):
        faults.append(f"results.json {list(error.absolute_path)}: {error.message}")
    broken = json.loads(json.dumps(results))
    broken["cells"][0]["results"][0]["status"] = "passed"
    expect(not validator.is_valid(broken), "the schema accepts an unknown status")
for fault in faults:
    print("wrong:", fault)
print(f"tried {sum(names.values())} testcases, faults {len(faults)}")
sys.exit(1 if faults else 0)
