"""Real frameworks: every GPU library that glibc loads at import is the file that gpuwhy's process has.

GPUWHY_LAB=/folder of virtual environments (and of unpacked wheels, for LD_LIBRARY_PATH); GPUWHY_STANDIN=/folder with a
libcuda.so.1 that answers cuInit, so that frameworks go on to open their CUDA libraries.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine
from gpuwhy.loader import linux
from gpuwhy.loader.frameworks import run
from gpuwhy.loader.linux import concerns_gpu, world_of
from gpuwhy.loader.process import Process
from gpuwhy.look.look import Options, look
from gpuwhy.loader.symbols import unmet_symbols

LAB = Path(os.environ.get("GPUWHY_LAB", "/nonexistent"))
STANDIN = os.environ.get("GPUWHY_STANDIN", "")
PARTS = """
import ctypes
for name in ("libcudnn.so.9", "libcudnn.so.8"):
    try:
        cudnn = ctypes.CDLL(name, mode=4)
    except OSError:
        continue
    for call in ("OpsVersionCheck", "CnnVersionCheck", "AdvVersionCheck", "GraphVersionCheck"):
        getattr(cudnn, "cudnn" + call, int)()
"""
SCRIPTS = {
    "torch": "import torch; torch.backends.cudnn.version()\n" + PARTS,
    "tensorflow": "import tensorflow as tf; tf.config.experimental.list_physical_devices('GPU')\n",
    "jax": "import jax; jax.devices()\n",
    "onnxruntime": "import onnxruntime as o; from onnxruntime.capi import _pybind_state as s\n"
    "try: o.InferenceSession({model!r}, providers=['CUDAExecutionProvider'])\nexcept Exception as e: print(e)\n",
}
OLD_TENSORFLOW = (
    "import tensorflow as tf; from tensorflow.python.client import device_lib as d; d.list_local_devices()\n"
)
PACKAGES = {"torch": "torch", "tensorflow": "tensorflow", "jax": "jax_plugins", "onnxruntime": "onnxruntime"}


def _model() -> bytes:
    """The smallest ONNX model: y = Identity(x)."""

    def field(number: int, body: bytes) -> bytes:
        return bytes([number << 3 | 2, len(body)]) + body

    shape = field(1, b"\x08\x01" + field(2, field(1, b"\x08\x01")))  # float tensor of one element
    node = field(1, b"x") + field(2, b"y") + field(4, b"Identity")
    graph = field(1, node) + field(2, b"g") + field(11, field(1, b"x") + field(2, shape))
    graph += field(12, field(1, b"y") + field(2, shape))
    return b"\x08\x08" + field(7, graph) + field(8, field(1, b"") + b"\x10\x0d")


def _worlds() -> list:
    """(environment, framework, LD_LIBRARY_PATH) with names."""
    out = []
    for config in sorted(LAB.glob("*/pyvenv.cfg")):
        for name, folder in PACKAGES.items():
            if next(config.parent.glob(f"lib/python*/site-packages/{folder}/"), None):
                own = ":".join(map(str, config.parent.glob("lib/python*/site-packages/nvidia/*/lib")))
                paths = [*_paths(), ("own", own)]
                out += [pytest.param(config.parent, name, v, id=f"{config.parent.name}-{name}-{k}") for k, v in paths]
    return out


def _paths() -> list[tuple[str, str]]:
    wheels = {f.parts[-4]: str(f) for f in sorted(LAB.glob("*/nvidia/*/lib")) if "site-packages" not in f.parts}
    system = {"system": "/usr/local/cuda/lib64"} if Path("/usr/local/cuda/lib64").is_dir() else {}
    spelt = {f"{name}-spelt": f":{path}//:/nowhere::$ORIGIN/../lib;." for name, path in list(wheels.items())[:1]}
    return [("plain", ""), *wheels.items(), *system.items(), *spelt.items()]


def _script(venv: Path, name: str) -> str:
    old = name == "tensorflow" and next(venv.glob("lib/python*/site-packages/tensorflow*-1.*.dist-info"), None)
    return OLD_TENSORFLOW if old else SCRIPTS[name].replace("{model!r}", repr(_model()))


def _loaded_by_glibc(venv: Path, name: str, environ: dict[str, str], log: Path) -> set[str]:
    subprocess.run(
        [str(venv / "bin/python"), "-c", _script(venv, name)],
        env={**environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)},
        cwd="/",
        capture_output=True,
        timeout=300,
    )
    text = "".join(part.read_text("utf-8", "replace") for part in log.parent.glob(f"{log.name}.*"))
    return {os.path.realpath(path) for path in re.findall(r"calling init: (\S+)", text) if _judged(path)}


def _judged(path: str) -> bool:
    """GPU libraries; TensorFlow's extensions for Lite are Python's to load, not the framework's."""
    return concerns_gpu(path) and "/lite/python/" not in path


def _for_want_of_a_symbol(process: Process) -> set[str]:
    """The files that glibc may have closed again because they, or what they need, lack a symbol."""
    refused = {one.library for one in unmet_symbols(process, linux)}
    for _ in process.loaded:
        for one in process.loaded:
            needs = {found.path for name in one.asker.elf.needed if (found := process.get(name))}
            if needs & refused:
                refused.add(one.path)
    return {os.path.realpath(path) for path in refused}


@pytest.mark.real
@pytest.mark.parametrize("venv, name, variable", _worlds())
def test_the_files_are_those_that_glibc_loads(venv, name, variable, tmp_path):
    path = ":".join(filter(None, (STANDIN, variable))) if STANDIN else variable
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **({"LD_LIBRARY_PATH": path} if path else {})}
    said = _loaded_by_glibc(venv, name, environ, tmp_path / "ld")
    host = RecordingMachine(LiveMachine(environ))
    facts = look(host, Options(python=str(venv)))
    framework = next(one for one in facts.frameworks.installed.need() if one.name == name)
    process = run(world_of(host, facts).need(), facts, framework)
    process.dlopen("libcuda.so.1", None)  # the driver, which every framework opens first
    kept = [one for one in process.loaded if not process.closed(one)]
    mine = {os.path.realpath(one.path) for one in kept if _judged(one.path)}
    names = {os.path.basename(one) for one in said}
    assert said - mine == set(), "files that only glibc loaded"
    others = {one for one in mine - said if os.path.basename(one) in names}
    assert others - _for_want_of_a_symbol(process) == set(), "other files of the same names"
    print(f"{len(said)} files agree; {len(mine - said)} more were not opened in this run")
