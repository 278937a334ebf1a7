"""`--import`: frameworks imported by the environment's own Python, isolated as far as it goes.

On Linux it writes only into a temporary folder, has no network and cannot signal others, where the
kernel allows these; the answer says what held. Time and resident memory are limited everywhere;
the user's own limits stay, for they are evidence. What hostile code reads is not limited.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from gpuwhy.facts.fact import Fact, Known, Source, Unknown
from gpuwhy.machine.live import read_line, shortened
from gpuwhy.machine.machine import Lines
from gpuwhy.machine.process import CHILDREN, End, Limits, collect, keeper

SECONDS = 60.0
"""For all tries of one framework; the largest takes ten on a quiet machine."""
MEMORY = 8 << 30
_KEPT = 16_000  # characters of what was printed
_GRACE = 15.0
_RESULTS = 3
_CACHES = (
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
    *("MPLCONFIGDIR", "NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH"),
    *("TORCHINDUCTOR_CACHE_DIR", "TORCH_HOME", "HF_HOME", "PYTHONHISTFILE", "HOME"),
    *("TMPDIR", "TEMP", "TMP"),
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY")


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is tried in one process, and what is left out: sent as JSON, so that it is recorded."""

    tries: tuple[tuple[str, ...], ...]  # (kind, module, target …); the first one imports
    seconds: float = SECONDS
    memory: int = MEMORY
    unset: tuple[str, ...] = ()  # variables that are left out
    change: dict[str, str] = {}  # variables that have another value
    without: tuple[Literal["user site", "start files", "compiled files"], ...] = ()
    sites: tuple[str, ...] = ()  # without start files: the folders of packages
    start_file: str = ""  # without start files: the one that is run all the same
    raise_limits: bool = False


def encoded(order: Order) -> str:
    """The order as a question's argument."""
    return msgspec.json.encode(order).decode()


def tried(python: str, order: str, environ: Mapping[str, str]) -> Fact[Lines]:
    """The lines of the tries: what held, each try, what was printed, how it ended."""
    wanted = msgspec.json.decode(order, type=Order)
    folder = tempfile.mkdtemp(prefix="gpuwhy-import-")
    try:
        end = _run(python, wanted, environ, folder)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        return Unknown(f"{python}: cannot be started: {why}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    said = [read_line(line) for line in end.out.splitlines() if line.startswith("{")]
    ended: dict[str, Any] = {"code": end.code, "why": end.why or "the launcher was ended"}
    if said and "left" in said[-1]:
        kept = said.pop()
        code = -kept.pop("signal", 0) or kept.pop("code", None)
        ended = {"code": code, **{k: v for k, v in kept.items() if k in ("late", "memory", "left")}}
    if end.err.strip():
        said.append({"said": shortened(end.err, _KEPT)})
    said.append({"ended": ended})
    return Known(tuple(said), Source("call", python, "imported, isolated"))


def _run(python: str, order: Order, environ: Mapping[str, str], folder: str) -> End:
    flags = [] if "compiled files" in order.without else ["-B"]
    flags += ["-s"] * ("user site" in order.without) + ["-S"] * ("start files" in order.without)
    argv = [python, *flags, f"{CHILDREN}/importing.py"]
    given = _environment(order, environ, folder)
    limits = Limits(order.seconds + _GRACE, keeps_errors=True)
    if os.name == "nt":
        return collect([*argv, "1", encoded(order)], limits, given)
    orders: dict[str, Any] = {"argv": [*argv, str(_RESULTS), encoded(order)], "executable": python}
    orders |= {"environ": given, "folder": folder, "limits": {}, "input": ""}
    orders["isolate"] = {"seconds": order.seconds, "memory": order.memory}
    orders["isolate"]["raise_limits"] = order.raise_limits
    steers = ("LD_", "PYTHON", "DYLD_")  # meant for the other Python, not for ours
    ours = {name: value for name, value in environ.items() if not name.startswith(steers)}
    return collect(keeper(), limits, ours, msgspec.json.encode(orders) + b"\n")


def _environment(order: Order, environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """The user's variables; home, caches and temporary files in our folder, no GPU, no proxy."""
    home = environ.get("HOME") or os.path.expanduser("~")
    out = {name: value for name, value in environ.items() if name.upper() not in _PROXIES}
    out.setdefault("PYTHONUSERBASE", f"{home}/.local")
    if "KERAS_HOME" not in out and os.path.isdir(f"{home}/.keras"):
        out["KERAS_HOME"] = f"{home}/.keras"
    out |= dict.fromkeys(_CACHES, folder)
    out["CUDA_VISIBLE_DEVICES"] = ""
    if "compiled files" in order.without:
        out["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"
        out.pop("PYTHONDONTWRITEBYTECODE", None)
    path = out.get("PYTHONPATH")
    if path:  # relative folders are meant from the user's working folder
        parts = path.split(os.pathsep)
        out["PYTHONPATH"] = os.pathsep.join(os.path.abspath(one) for one in parts)
    out |= order.change
    return {name: value for name, value in out.items() if name not in order.unset}
