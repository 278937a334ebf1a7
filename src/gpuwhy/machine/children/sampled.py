"""What /proc tells of one process: its limits, libraries, folder, variables and Python; a part of
sampler.py."""

import os
import re

LIBRARIES = re.compile(
    r"/[^\n]*?/(?:lib(?P<a>torch_cuda|torch_cpu|torch_hip|tensorflow_framework|"
    r"tensorflow_cc|cudart|cuda|onnxruntime)\b"
    r"|(?P<b>_pywrap_tensorflow_internal|xla_extension|xla_cuda_plugin|"
    r"pjrt_c_api_gpu_plugin|onnxruntime_pybind11_state"
    r"|libcupy|core\.cpython[^/\n]*)\b)[^/\n]*\.so[^/\n]*"
)
NAMES = {
    "torch_cuda": "torch",
    "torch_cpu": "torch",
    "torch_hip": "torch",
    "tensorflow_framework": "tensorflow",
    "tensorflow_cc": "tensorflow",
    "_pywrap_tensorflow_internal": "tensorflow",
    "xla_extension": "jax",
    "xla_cuda_plugin": "jax",
    "pjrt_c_api_gpu_plugin": "jax",
    "onnxruntime_pybind11_state": "onnxruntime",
    "onnxruntime": "onnxruntime",
    "libcupy": "cupy",
    "cuda": "libcuda",
    "cudart": "libcudart",
}
PREFIX = re.compile(r"(/.*?)/lib(?:64)?/python\d[^/]*/(?:site|dist)-packages/")
DEVICE = re.compile(r"/dev/(?:nvidia\d+|nvidia-uvm|dxg)$")
LIMITS = {
    "Max open files": "NOFILE",
    "Max processes": "NPROC",
    "Max address space": "AS",
    "Max file size": "FSIZE",
    "Max locked memory": "MEMLOCK",
    "Max cpu time": "CPU",
    "Max stack size": "STACK",
    "Max data size": "DATA",
}


def read(path, most=1 << 16):
    """The bytes of a file as text; "" where it cannot be read."""
    try:
        with open(path, "rb") as file:  # buffered: the kernel gives such files a page at a time
            return file.read(most).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def limits(pid):
    """Rows of name, soft and hard limit; -1 where there is none."""
    for line in read("/proc/%d/limits" % pid, 8192).splitlines():
        name = LIMITS.get(line[:26].strip())
        fields = line[26:].split()
        if name and len(fields) > 1:
            yield name, limit(fields[0]), limit(fields[1])


def limit(text):
    """A number, or -1 for "unlimited"."""
    return int(text) if text.isdigit() else -1


def opened(pid):
    """Whether a process has a GPU's node open."""
    folder = "/proc/%d/fd" % pid
    try:
        return any(DEVICE.match(os.readlink(folder + "/" + name)) for name in os.listdir(folder))
    except OSError:
        return False


def mapped(pid):
    """The frameworks and CUDA libraries in a process, and the environment they were loaded from."""
    text = read("/proc/%d/maps" % pid, 1 << 24)
    found, prefix = set(), ""
    for match in LIBRARIES.finditer(text):
        name = NAMES.get(match.group("a") or match.group("b") or "")
        if name is None and "/cupy/" in match.group():
            name = "cupy"
        if name:
            found.add(name)
            inside = PREFIX.match(match.group())
            prefix = inside.group(1) if inside and not name.startswith("lib") else prefix
    return {"libraries": sorted(found), "prefix": prefix} if found else {}


def surroundings(pid):
    """The working folder and the variables of a process; our parent keeps only those that steer the
    GPU stack."""
    try:
        folder = os.readlink("/proc/%d/cwd" % pid)
    except OSError:
        return {}
    pairs = (pair.partition("=") for pair in read("/proc/%d/environ" % pid, 1 << 20).split("\0"))
    variables = {name: value for name, _, value in pairs if name}
    return {"folder": folder, "environ": variables, "writes": writes(pid), "nodes": otherwise(pid)}


NODE = re.compile(r"nvidia(?:\d+|ctl|-uvm)$")


def otherwise(pid):
    """GPU nodes that a process in a mount namespace of its own sees otherwise than we: path, and
    what is there."""
    try:
        if os.readlink("/proc/%d/ns/mnt" % pid) == os.readlink("/proc/self/ns/mnt"):
            return {}
        names = sorted(name for name in os.listdir("/dev") if NODE.match(name))[:32]
        pairs = [
            ("/dev/" + name, number("/dev/" + name), number("/proc/%d/root/dev/%s" % (pid, name)))
            for name in names
        ]
    except OSError:
        return {}
    return {path: theirs for path, ours, theirs in pairs if theirs != ours}


def number(path):
    """The device behind a node, "missing" where there is nothing."""
    try:
        found = os.stat(path).st_rdev
    except FileNotFoundError:
        return "missing"
    return "%d:%d" % (os.major(found), os.minor(found))


WRITTEN = re.compile(r"/(?!dev/|proc/|memfd:).*(?<! \(deleted\))$")
LOG = re.compile(r"\.(?:log|out|err|txt|stderr|stdout)$")


def writes(pid):
    """Rows of descriptor and path: files that its output or error goes to, and open ones that are
    named like logs."""
    folder, out = "/proc/%d/fd" % pid, []
    try:
        for name in os.listdir(folder)[:200]:
            path = os.readlink(folder + "/" + name)
            if WRITTEN.match(path) and (name in ("1", "2") or LOG.search(path)):
                out.append([int(name), path])
    except (OSError, ValueError):
        pass
    return sorted(out)[:8]


def python(pid):
    """The Python of a process: the executable it was started as, and the environment variables that
    choose one."""
    first = read("/proc/%d/cmdline" % pid, 4096).split("\0")[0]
    if not os.path.basename(first).startswith("python"):
        return {}
    wanted = ("VIRTUAL_ENV", "CONDA_PREFIX", "PATH")
    pairs = (pair.partition("=") for pair in read("/proc/%d/environ" % pid, 1 << 20).split("\0"))
    variables = {name: value for name, _, value in pairs if name in wanted}
    try:
        folder = os.readlink("/proc/%d/cwd" % pid)
    except OSError:
        folder = ""
    if "/" in first:
        return {"python": os.path.join(folder, first)}
    places = (os.path.join(place, first) for place in variables.get("PATH", "").split(":") if place)
    return {"python": next((path for path in places if os.access(path, os.X_OK)), "")}
