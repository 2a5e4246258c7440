#!/usr/bin/env python3
"""The program as people use it, on small wheels from an index on the loopback address.

usage: end_to_end.py COMPATRIX FIXTURES SOURCES [TEST...]
"""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from local_index import LocalIndex  # noqa: E402

PROGRAM, FIXTURES, SOURCES = (os.path.abspath(a) for a in sys.argv[1:4])
UV = os.environ.get("COMPATRIX_UV") or shutil.which("uv")
PYTHON = shutil.which("python3.11") or os.path.realpath(os.environ.get("COMPATRIX_TEST_PYTHON", ""))
OTHER_CUDA = {"12": "13", "13": "12"}

TORCH_INIT = """
def _load_global_deps() -> None:
    try:
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)
        _preload_cuda_deps("cuda_runtime", "libcudart.so.*[0-9]")
    except OSError as err:
        raise

if True:
    pass
"""


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def write_wheel(folder, name, version, tag, files, requires=(), record=None):
    """Writes a wheel; `record` may change the RECORD lines that are right."""
    info = f"{name}-{version}.dist-info"
    files = dict(files)
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires)
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n"
    contents = {path: c.encode() if isinstance(c, str) else c for path, c in files.items()}
    lines = {path: f"{path},sha256={digest(c)},{len(c)}" for path, c in contents.items()}
    if record:
        record(lines)
    contents[f"{info}/RECORD"] = ("\n".join(lines.values()) + f"\n{info}/RECORD,,\n").encode()
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    wheel = pathlib.Path(folder) / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in contents.items():
            archive.writestr(path, content)
    return wheel


def fixture(path):
    return (pathlib.Path(FIXTURES) / "torch" / path).read_bytes()


def write_torch(folder, version, release, cuda):
    source = f"torch{release}_cuda{cuda}"
    write_wheel(folder, "torch", version, "cp311-cp311-linux_x86_64", {
        "torch/__init__.py": TORCH_INIT, "torch/version.py": f"__version__ = '{version}'\ncuda = '{cuda}.0'\n",
        "torch/lib/libc10.so": fixture(f"{source}/libc10.so"), "torch/lib/libtorch_cpu.so": fixture(f"{source}/libtorch_cpu.so"),
        "torch/lib/libtorch_global_deps.so": fixture(f"{source}/libtorch_global_deps.so"),
        "torch/_C.cpython-311-x86_64-linux-gnu.so": fixture(f"{source}/_C.cpython-311-x86_64-linux-gnu.so"),
    }, requires=[f"made-cuda-runtime=={cuda}.0"])


def write_indexes(folder):
    """main: torch and CUDA runtimes; cu128 and cu130: builds of torch and kern by local version."""
    for cuda in ("12", "13"):
        write_wheel(folder / "main", "made_cuda_runtime", f"{cuda}.0", "py3-none-any",
                    {f"nvidia/cuda_runtime/lib/libcudart.so.{cuda}": fixture(f"cudart{cuda}/libcudart.so.{cuda}")})
    for name, cuda in (("cu128", "12"), ("cu130", "13")):
        write_torch(folder / name, f"2.8.0+{name}", 1, cuda)
        write_torch(folder / name, f"2.9.1+{name}", 1, cuda)
        write_torch(folder / name, f"2.10.0+{name}", 2, cuda)
        write_wheel(folder / name, "kern", f"1.0+{name}", "cp310-abi3-linux_x86_64", {
            "kern/ops.abi3.so": fixture(f"kern_cuda{cuda}/ops.abi3.so"), "kern/plain.abi3.so": fixture(f"kern_cuda{cuda}/plain.abi3.so"),
            "kern/old.cpython-310-x86_64-linux-gnu.so": fixture(f"kern_cuda{OTHER_CUDA[cuda]}/ops.abi3.so"),
        }, requires=["torch==2.9.1"])


    for name in ("operators", "functions"):
        write_wheel(folder / "main", name, "1.0", "cp310-abi3-linux_x86_64", {f"{name}/ops.abi3.so": fixture(f"{name}/ops.abi3.so")},
                    requires=["torch>=2.8"])
    write_wheel(folder / "main", "new_glibc", "1.0", "cp310-abi3-linux_x86_64",
                {"new_glibc/ops.abi3.so": (pathlib.Path(FIXTURES) / "cases/new_glibc/root.so").read_bytes()})
    write_wheel(folder / "main", "numa_user", "1.0", "cp310-abi3-linux_x86_64", {"numa_user/ops.abi3.so": fixture("numa_user/ops.abi3.so")})
    nccl = "nvidia/nccl/lib/libnccl.so.2"
    write_wheel(folder / "main", "nvidia_nccl_cu12", "2.29.3", "py3-none-any", {nccl: fixture("nccl1/libnccl.so.2")})
    write_wheel(folder / "main", "nvidia_nccl_cu13", "2.29.7", "py3-none-any", {nccl: fixture("nccl2/libnccl.so.2")})
    write_wheel(folder / "main", "comm", "1.0", "cp310-abi3-linux_x86_64", {"comm/comm.abi3.so": fixture("nccl_user/comm.abi3.so")},
                requires=["torch", "nvidia-nccl-cu13==2.29.7"])
    write_wheel(folder / "main", "nvidia_nvjitlink_cu12", "12.1.105", "py3-none-any",
                {"nvidia/nvjitlink/lib/libnvJitLink.so.12": fixture("nvjitlink1/libnvJitLink.so.12")})
    write_wheel(folder / "main", "linker", "1.0", "cp310-abi3-linux_x86_64", {"linker/link.abi3.so": fixture("nvjitlink_user/link.abi3.so")},
                requires=["torch", "nvidia-nvjitlink-cu12"])
    write_wheel(folder / "main", "made_cuda_twelve", "12.0", "py3-none-any", {"kern/libcudart.so.12": fixture("cudart12/libcudart.so.12")})


class EndToEnd(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="compatrix-e2e-"))
        cls.index = LocalIndex(cls.folder / "index")
        write_indexes(cls.folder / "index")

    @classmethod
    def tearDownClass(cls):
        cls.index.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.place = self.folder / self.id().split(".")[-1]
        self.place.mkdir()

    def environment(self, **more):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("UV_", "PIP_", "COMPATRIX_"))}
        return kept | {"COMPATRIX_UV": UV or "", "COMPATRIX_CACHE": str(self.place / "cache"), "UV_DEFAULT_INDEX": self.index.url("main"),
                       "TORCH_INDEX": self.index.url("").removesuffix("//simple"), "UV_CACHE_DIR": str(self.place / "uv"),
                       "PATH": os.path.dirname(PYTHON) + ":" + os.environ["PATH"]} | more

    def compatrix(self, *arguments, code=0, **environment):
        run = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.place, env=self.environment(**environment), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertNotIn("terminate called", run.stderr)
        return run

    def matrix(self, text):
        (self.place / "m.yaml").write_text(text)
        return self.place / "m.yaml"

    def results(self):
        document = json.loads((self.place / "compatrix-report" / "results.json").read_text())
        return {(cell["id"], result["check"]): result for cell in document["cells"] for result in cell["results"]}

    CUDA_MATRIX = """compatrix: 1
axes: {kernels: ["kern==1.0"]}
linked:
  - {torch: "2.9.1+cu128", index: cu128}
  - {torch: "2.10.0+cu128", index: cu128}
  - {torch: "2.9.1+cu130", index: cu130}
indexes: {cu128: "${TORCH_INDEX}/cu128/simple", cu130: "${TORCH_INDEX}/cu130/simple"}
environment: {requirements: ["torch=={torch}", "{kernels}+{index}"]}
checks: [torch_abi, wheel_integrity]
"""

    def test_cuda_builds_from_named_indexes(self):
        self.compatrix("run", self.matrix(self.CUDA_MATRIX), code=1)
        results = self.results()
        by_torch = {cell.split("torch=")[1].split(",")[0]: r for (cell, check), r in results.items() if check == "torch_abi"}
        self.assertEqual(by_torch["2.9.1+cu128"]["status"], "pass", by_torch["2.9.1+cu128"])
        self.assertEqual(by_torch["2.9.1+cu130"]["status"], "pass", by_torch["2.9.1+cu130"])
        broken = by_torch["2.10.0+cu128"]
        self.assertEqual((broken["status"], broken["cause"], broken["basis"]), ("fail", "torch-abi", "predicted"))
        undefined = {f["demangled"]: f for f in broken["findings"] if f["kind"] == "undefined-symbol" and f["file"] == "kern/ops.abi3.so"}
        self.assertEqual(set(undefined), {"c10::MessageLogger::MessageLogger(char const*, int, int)",
                                          "c10::cuda::c10_cuda_check_implementation(int, char const*, char const*, int, bool)"})
        self.assertEqual(undefined["c10::MessageLogger::MessageLogger(char const*, int, int)"]["instead"],
                         ["c10::MessageLogger::MessageLogger(char const*, int, int, bool)"])
        self.assertEqual({f["cause"] for f in broken["findings"] if "cause" in f}, {"torch-abi"})
        outcomes = {f["file"]: f for f in broken["findings"] if f["kind"] == "file-outcome"}
        self.assertEqual(outcomes["kern/plain.abi3.so"]["outcome"], "loads")
        self.assertIn("CPython 3.10", outcomes["kern/old.cpython-310-x86_64-linux-gnu.so"]["counted"])
        integrity = next(r for (cell, check), r in results.items() if check == "wheel_integrity" and "2.10.0+cu128" in cell)
        self.assertEqual(integrity["status"], "warn")
        self.assertIn("METADATA requires torch==2.9.1", integrity["summary"])
        suites = ElementTree.parse(self.place / "compatrix-report" / "junit.xml").getroot().findall("testsuite")
        self.assertEqual([s.get("failures") for s in suites], ["0", "1", "0"])
        self.assertEqual(suites[1].find("testcase/failure").get("type"), "torch-abi")

    def test_second_run_needs_no_network(self):
        matrix = self.matrix(self.CUDA_MATRIX)
        self.compatrix("run", matrix, code=1)
        first = self.results()
        before = self.index.requests
        self.compatrix("run", matrix, "--offline", code=1, UV_DEFAULT_INDEX="http://127.0.0.1:9/simple")
        self.assertEqual(self.index.requests, before)
        second = self.results()
        for results in (first, second):
            for result in results.values():
                result.pop("duration_s")
                # What other releases have grows with what was looked at; nothing else may.
                result["findings"] = [f for f in result["findings"] if f["kind"] != "known-releases"]
        self.assertEqual(first, second)

    def test_kernels_for_another_cuda(self):
        run = self.compatrix("check", "kern==1.0+cu128", "--with", "torch==2.9.1+cu130", "--format", "json", code=1,
                             UV_INDEX=self.index.url("cu128") + " " + self.index.url("cu130"), UV_INDEX_STRATEGY="unsafe-best-match")
        result = json.loads(run.stdout)["cells"][0]["results"][0]
        self.assertEqual((result["status"], result["cause"]), ("fail", "cuda-runtime"))
        missing = next(f for f in result["findings"] if f["kind"] == "library-not-found")
        self.assertEqual((missing["needed"], missing["instead"]), ("libcudart.so.12", ["libcudart.so.13"]))
        self.assertTrue(missing["searched"])

    def test_local_wheel_is_read_whole(self):
        wheel = next((self.folder / "index" / "cu128").glob("kern-*.whl"))
        run = self.compatrix("check", wheel, "--with", "torch==2.9.1+cu128", "--index", self.index.url("cu128"), "--format", "json")
        results = {r["check"]: r for r in json.loads(run.stdout)["cells"][0]["results"]}
        self.assertEqual(results["torch_abi"]["status"], "pass")
        self.assertEqual(results["wheel_integrity"]["status"], "pass", results["wheel_integrity"])
        self.assertEqual(results["wheel_integrity"]["assumptions"], [])

    def test_record_that_lies(self):
        def lie(lines):
            lines["liar/a.py"] = f"liar/a.py,sha256={digest(b'other')},5"
            lines["liar/gone.py"] = f"liar/gone.py,sha256={digest(b'gone')},4"
        wheel = write_wheel(self.place, "liar", "1.0", "py3-none-any", {"liar/a.py": "a = 1\n"}, record=lie)
        run = self.compatrix("check", wheel, "--checks", "wheel_integrity", "--format", "json", code=1)
        result = json.loads(run.stdout)["cells"][0]["results"][0]
        self.assertEqual((result["status"], result["cause"]), ("fail", "corrupt-wheel"))
        self.assertEqual({f["kind"] for f in result["findings"]}, {"record-hash-mismatch", "record-lists-absent-file"})

    def test_wheel_cut_in_half(self):
        whole = next((self.folder / "index" / "cu128").glob("kern-*.whl"))
        (self.place / whole.name).write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
        run = self.compatrix("explain", self.place / whole.name, code=1)
        self.assertIn("is no whole ZIP archive", run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1)

    def test_objects_that_are_none(self):
        cut = fixture("kern_cuda12/ops.abi3.so")[:5000]
        wheel = write_wheel(self.place, "broken", "1.0", "cp310-abi3-linux_x86_64",
                            {"broken/text.abi3.so": "this is no library, whatever its name says: " + 40 * "x", "broken/cut.abi3.so": cut,
                             "broken/good.abi3.so": fixture("kern_cuda12/plain.abi3.so")})
        run = self.compatrix("check", wheel, "--with", "torch==2.9.1+cu128", "--index", self.index.url("cu128"), "--format", "json", code=1)
        result = json.loads(run.stdout)["cells"][0]["results"][0]
        self.assertEqual((result["status"], result["cause"]), ("fail", "corrupt-wheel"))
        outcomes = {f["file"]: f for f in result["findings"] if f["kind"] == "file-outcome"}
        self.assertIn("invalid ELF header", outcomes["broken/text.abi3.so"]["message"])
        self.assertEqual(outcomes["broken/cut.abi3.so"]["outcome"], "kills")
        self.assertIn("SIGBUS", outcomes["broken/cut.abi3.so"]["message"])
        self.assertEqual(outcomes["broken/good.abi3.so"]["outcome"], "loads")

    def test_index_that_is_away(self):
        matrix = self.matrix(self.CUDA_MATRIX.replace("${TORCH_INDEX}/cu130/simple", "http://user:canary@127.0.0.1:9/simple"))
        run = self.compatrix("run", matrix, code=1)
        results = self.results()
        away = [r for (cell, _), r in results.items() if "cu130" in cell]
        self.assertEqual({r["status"] for r in away}, {"error"})
        self.assertIn("can't be locked", away[0]["summary"])
        self.assertIn("pass", {r["status"] for (cell, _), r in results.items() if "2.9.1+cu128" in cell})
        everything = run.stdout + run.stderr + "".join(p.read_text() for p in (self.place / "compatrix-report").iterdir())
        self.assertNotIn("canary", everything)

    def test_expectations(self):
        expectations = """expect:
  - {where: {torch: "2.10.0+cu128"}, check: torch_abi, status: fail, cause: torch-abi, reason: "changed in 2.10"}
  - {check: wheel_integrity, status: warn, reason: "pinned"}
  - {where: {torch: ["2.9.1+cu128", "2.9.1+cu130"]}, check: wheel_integrity, status: pass, reason: "as pinned"}
"""
        self.compatrix("run", self.matrix(self.CUDA_MATRIX + expectations), code=0)
        run = self.compatrix("run", self.matrix(self.CUDA_MATRIX + expectations.replace('["2.9.1+cu128", "2.9.1+cu130"]', '"2.9.1+cu128"')), code=1)
        self.assertIn("expects warn, the answer is pass", run.stdout)
        run = self.compatrix("run", self.matrix(self.CUDA_MATRIX + expectations.replace('"changed in 2.10"', '"x", until: 2020-01-01')), code=1)
        self.assertIn("this was expected until 2020-01-01 only", run.stdout)

    def test_plugin_that_crashes(self):
        plugins = self.place / "plugins"
        plugins.mkdir(mode=0o755)
        shutil.copy(pathlib.Path(FIXTURES) / "plugins/crashes_in_run/crashes_in_run.so", plugins)
        (plugins / "crashes_in_run.so").chmod(0o755)
        matrix = self.matrix(self.CUDA_MATRIX.replace("wheel_integrity", "plain"))
        self.compatrix("run", matrix, code=1, COMPATRIX_PLUGIN_PATH=str(plugins))
        statuses = {check: {r["status"] for (_, c), r in self.results().items() if c == check} for check in ("plain", "torch_abi")}
        self.assertEqual(statuses, {"plain": {"crash"}, "torch_abi": {"pass", "fail"}})
        for name, word in (("aborts_in_constructor", "SIGABRT"), ("throws", "thrown on purpose"), ("hangs", "no answer within 2 s")):
            shutil.rmtree(plugins)
            plugins.mkdir(mode=0o755)
            shutil.copy(pathlib.Path(FIXTURES) / f"plugins/{name}/{name}.so", plugins)
            run = self.compatrix("run", matrix, "--offline", code=1, COMPATRIX_PLUGIN_PATH=str(plugins))
            self.assertIn(word, run.stdout)

    def test_installed_environment(self):
        env = self.place / "env"
        subprocess.run([UV, "venv", "-q", "--python", PYTHON, env], env=self.environment(), check=True)
        subprocess.run([UV, "pip", "install", "-q", "--python", env / "bin/python", "torch==2.10.0+cu128", "kern==1.0+cu128",
                        "--override", "/dev/stdin"], input="torch==2.10.0+cu128", text=True, check=True,
                       env=self.environment(UV_INDEX=self.index.url("cu128")))
        run = self.compatrix("check", "kern", "--python", env / "bin/python", "--format", "json", code=1)
        results = {r["check"]: r for r in json.loads(run.stdout)["cells"][0]["results"]}
        self.assertEqual((results["torch_abi"]["status"], results["torch_abi"]["cause"]), ("fail", "torch-abi"))
        self.assertEqual(results["wheel_integrity"]["status"], "warn")
        run = self.compatrix("check", "nothing-of-the-kind", "--python", env / "bin/python", code=3)
        self.assertIn("nothing-of-the-kind is not installed here", run.stdout)
        run = self.compatrix("check", "kern", "--with", "torch==2.9.1", "--python", env / "bin/python", code=3)
        self.assertIn("has torch 2.10.0+cu128, the cell asks for torch==2.9.1", " ".join(run.stdout.split()))

    def installed_with(self, *steps):
        """An environment made by uv, one step after the other, and what torch_abi and wheel_integrity say of comm there."""
        env = self.place / "env"
        subprocess.run([UV, "venv", "-q", "--allow-existing", "--python", PYTHON, env], env=self.environment(), check=True)
        for step in steps:
            subprocess.run([UV, "pip", *step, "-q", "--python", env / "bin/python"], check=True, env=self.environment(UV_INDEX=self.index.url("cu128")))
        run = subprocess.run([PROGRAM, "check", "comm", "--python", env / "bin/python", "--format", "json"], cwd=self.place, env=self.environment(),
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        return {r["check"]: r for r in json.loads(run.stdout)["cells"][0]["results"]}

    def test_built_with_another_torch(self):
        answers = {}
        for package in ("operators", "functions"):
            for torch in ("2.8.0", "2.9.1", "2.10.0"):
                run = self.compatrix("check", package, "--with", f"torch=={torch}+cu128", "--checks", "torch_abi", "--index", self.index.url("cu128"),
                                     "--format", "json", code=1 if (package, torch) == ("operators", "2.8.0") else 0)
                answers[package, torch] = json.loads(run.stdout)["cells"][0]["results"][0]
        self.assertEqual({where: (r["status"], r.get("cause")) for where, r in answers.items()}, {
            ("operators", "2.8.0"): ("fail", "initialiser"), ("operators", "2.9.1"): ("pass", None), ("operators", "2.10.0"): ("warn", "layout-risk"),
            ("functions", "2.8.0"): ("warn", "layout-risk"), ("functions", "2.9.1"): ("pass", None), ("functions", "2.10.0"): ("warn", "layout-risk")})
        risk = next(f for f in answers["functions", "2.10.0"]["findings"] if f["kind"] == "layout-risk")
        self.assertEqual((risk["built_with"], risk["assertions"]), ("torch 2.9", ["ATen/core/ivalue.h:654", "ATen/core/ivalue.h:701"]))
        wide = next(f for f in answers["operators", "2.8.0"]["findings"] if f["kind"] == "metadata-too-wide")
        self.assertIn("says torch>=2.8, which admits torch 2.8.0", wide["message"])

    def test_library_of_the_system(self):
        run = self.compatrix("check", "numa-user", "--with", "torch==2.9.1+cu128", "--platform", "debian12", "--checks", "torch_abi", "--index",
                             self.index.url("cu128"), "--format", "json", code=1)
        answer = json.loads(run.stdout)["cells"][0]["results"][0]
        self.assertEqual(answer["cause"], "missing-library")
        self.assertEqual(answer["remedy"], ["install the system package that has libnuma.so.1 (Debian: libnuma1); no Python package brings it"])

    def test_system_that_is_too_old(self):
        run = self.compatrix("check", "new-glibc", "--with", "torch==2.9.1+cu128", "--platform", "ubuntu22.04", "--checks", "torch_abi", "--index",
                             self.index.url("cu128"), "--format", "json", code=1)
        answer = json.loads(run.stdout)["cells"][0]["results"][0]
        self.assertEqual(answer["cause"], "platform")
        self.assertEqual(answer["remedy"], ["take a wheel that is built for an older system, or a system with GLIBC_2.36; of the platforms that are known: "
                                            "debian12, ubuntu24.04"])

    def test_two_owners_of_one_library(self):
        results = self.installed_with(["install", "torch==2.9.1+cu128", "comm"], ["install", "nvidia-nccl-cu12"])
        answer = results["torch_abi"]
        self.assertEqual((answer["status"], answer["cause"]), ("fail", "nccl"), answer)
        lacking = next(f for f in answer["findings"] if f["kind"] == "undefined-symbol")
        self.assertEqual((lacking["symbol"], lacking["release"], lacking["owner"]), ("ncclCommResume", "2.29.7", "nvidia-nccl-cu12 2.29.3"))
        self.assertIn("uninstall nvidia-nccl-cu12 2.29.3 and nvidia-nccl-cu13 2.29.7, then install nvidia-nccl-cu13 2.29.7", answer["remedy"][0])
        owners = next(f for f in results["wheel_integrity"]["findings"] if f["kind"] == "two-owners")
        self.assertEqual((owners["file"], owners["bytes_of"]), ("nvidia/nccl/lib/libnccl.so.2", "nvidia-nccl-cu12 2.29.3"))
        # Uninstalling the intruder takes the file of both away; nothing has to be "installed" that isn't.
        results = self.installed_with(["uninstall", "nvidia-nccl-cu12"])
        answer = results["torch_abi"]
        self.assertEqual((answer["status"], answer["cause"]), ("fail", "corrupt-wheel"), answer)
        self.assertIn("listed in RECORD of nvidia-nccl-cu13 2.29.7 and missing on disk", answer["findings"][0]["message"])
        self.assertEqual(answer["remedy"], ["install nvidia-nccl-cu13 2.29.7 again: parts of it are gone from disk"])
        self.assertEqual((results["wheel_integrity"]["status"], results["wheel_integrity"]["cause"]), ("fail", "corrupt-wheel"))
        # Both at once from a lock: nothing is written yet, and chance would decide.
        run = self.compatrix("check", "comm", "--with", "torch==2.9.1+cu128", "--with", "nvidia-nccl-cu12", "--checks", "wheel_integrity", "--index",
                             self.index.url("cu128"), "--format", "json")
        result = json.loads(run.stdout)["cells"][0]["results"][0]
        self.assertIn("left to chance", next(f for f in result["findings"] if f["kind"] == "two-owners")["message"])

    def test_minor_release_of_a_cuda_library(self):
        run = self.compatrix("check", "linker", "--with", "torch==2.9.1+cu128", "--checks", "torch_abi", "--index", self.index.url("cu128"),
                             "--format", "json", code=1)
        answer = json.loads(run.stdout)["cells"][0]["results"][0]
        self.assertEqual(answer["cause"], "cuda-runtime")
        lacking = next(f for f in answer["findings"] if f["kind"] == "undefined-symbol")
        self.assertEqual((lacking["release"], lacking["owner"]), ("12.4", "nvidia-nvjitlink-cu12 12.1.105"))
        self.assertEqual(answer["remedy"], ["bring nvidia-nvjitlink-cu12 12.1.105 (libnvJitLink.so.12) to 12.4 or later"])

    def test_second_major_of_cuda(self):
        run = self.compatrix("check", "kern==1.0+cu128", "--with", "torch==2.9.1+cu130", "--with", "made-cuda-twelve", "--checks", "torch_abi", "--format", "json",
                             UV_INDEX=self.index.url("cu128") + " " + self.index.url("cu130"), UV_INDEX_STRATEGY="unsafe-best-match")
        answer = json.loads(run.stdout)["cells"][0]["results"][0]
        self.assertEqual((answer["status"], answer["cause"]), ("warn", "cuda-runtime"), answer)
        mixed = next(f for f in answer["findings"] if f["kind"] == "two-cuda-majors")
        self.assertEqual(mixed["libraries"], "libcudart.so.12")

    def test_wrong_arguments_and_files(self):
        (self.place / "text.yaml").write_text("Dear reader,\n")
        for arguments, word in ((["rnu"], "did you mean 'run'?"), (["run"], "which matrix?"), (["run", "none.yaml"], "there is no such file"),
                                (["run", "text.yaml"], "a matrix was expected"), (["run", "x.yaml", "--ofline"], "did you mean '--offline'?"),
                                (["check"], "what is to be checked?"), (["matrix", "show"], "for instance")):
            run = self.compatrix(*arguments, code=2)
            self.assertIn(word, run.stderr)
        self.assertIn("no plugin has a check of this name", self.compatrix("check", "a", "--checks", "torch_api", code=3).stderr)
        (self.place / "text.so").write_text("no library at all, but long enough to be one\n")
        self.assertIn("invalid ELF header", self.compatrix("explain", "text.so", code=1).stderr)
        self.assertIn("compatrix run", self.compatrix("run", "--help").stdout)

    def test_matrix_list_and_plugins(self):
        listed = self.compatrix("matrix", "list", self.matrix(self.CUDA_MATRIX)).stdout
        self.assertEqual(listed.splitlines()[0], "kernels=kern==1.0,torch=2.9.1+cu128,index=cu128  torch==2.9.1+cu128  kern==1.0+cu128")
        self.assertEqual(len(listed.splitlines()), 3)
        plugins = self.compatrix("plugins").stdout
        self.assertIn("check torch_abi", plugins)
        self.assertIn("C++ ABI cxx11", plugins)

    def test_interrupted_run_reports(self):
        self.compatrix("run", self.matrix(self.CUDA_MATRIX), code=1)
        plugins = self.place / "plugins"
        plugins.mkdir(mode=0o755)
        shutil.copy(pathlib.Path(FIXTURES) / "plugins/hangs/hangs.so", plugins)
        matrix = self.matrix(self.CUDA_MATRIX.replace("wheel_integrity", "plain"))
        run = subprocess.Popen([PROGRAM, "run", matrix, "-j", "1"], cwd=self.place, env=self.environment(COMPATRIX_PLUGIN_PATH=str(plugins)),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=20), 143)
        statuses = {r["status"] for r in self.results().values()}
        self.assertIn("error", statuses)
        self.assertEqual(len(self.results()), 6)
        killed = subprocess.Popen([PROGRAM, "run", matrix, "-j", "1"], cwd=self.place, env=self.environment(COMPATRIX_PLUGIN_PATH=str(plugins)),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        killed.kill()
        killed.wait()
        again = self.compatrix("report", "compatrix-report", code=130)
        self.assertIn("interrupted", again.stdout)
        self.assertEqual(len(self.results()), 6)


if __name__ == "__main__":
    if not UV:
        print("skipped: uv is not there; ./dev test provides it")
        sys.exit(77)
    if not PYTHON or "3.11" not in subprocess.run([PYTHON, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout:
        print("skipped: there is no CPython 3.11 on this machine")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
