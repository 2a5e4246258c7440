#!/usr/bin/env python3
"""Every shipped matrix file is valid by the JSON Schema that ships for editors. usage: against_schema.py MATRICES"""
import json
import os
import pathlib
import sys

python = os.environ.get("COMPATRIX_TEST_PYTHON")
if python and os.environ.get("COMPATRIX_INNER") != "1":
    os.environ["COMPATRIX_INNER"] = "1"
    os.execv(python, [python, *sys.argv])
try:
    import jsonschema
except ImportError:
    print("skipped: the `jsonschema` library is not there; ./dev test provides it")
    sys.exit(77)

folder = pathlib.Path(sys.argv[1])
schema = json.loads((folder / "matrix.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
good = {"compatrix": 1, "axes": {"torch": ["2.9.1"]}, "environment": {"requirements": ["torch=={torch}"]}, "checks": ["torch_abi"]}
wrong = [dict(good, compatrix=2), {k: v for k, v in good.items() if k != "checks"}, dict(good, axis={}), dict(good, axes={"torch": []}),
         dict(good, expect=[{"check": "torch_abi", "status": "great", "reason": "x"}])]
assert validator.is_valid(good)
assert not any(validator.is_valid(w) for w in wrong)
print(f"tried {1 + len(wrong)} documents, all judged right")
