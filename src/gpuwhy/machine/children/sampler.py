"""Samples GPU and host memory of a process and its descendants: `sampler.py PID [PYNVML's FOLDER]`.

Prints JSON lines: {"start": …} once; {"t": seconds, "gpus": [[index, total, used, own, others, busy
%]], "rss": …} per sample; {"seen": pid, …} when a process shows which Python, frameworks or GPU it
uses; {"signal": n} for every signal it gets (all are blocked, so that its parent learns which ones
went to everybody); {"end": …} after SIGRTMIN. It takes at most half a hundredth of one core.
"""

import json
import os
import re
import signal
import sys
import threading
import time

SHARE = 0.002  # of a core, for each of the two kinds of look
BIG = 40 << 20  # a process that holds less has no framework in it
PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_PIDS = 2000
LIBRARIES = re.compile(
    r"/[^\n]*/(?:(?P<torch>libtorch_(?:cuda|cpu|hip))"
    r"|(?P<tensorflow>libtensorflow_(?:framework|cc)|_pywrap_tensorflow_internal)"
    r"|(?P<jax>xla_extension|xla_cuda_plugin|pjrt_c_api_gpu_plugin)"
    r"|(?P<onnxruntime>libonnxruntime|onnxruntime_pybind11_state)"
    r"|(?P<cupy>libcupy|(?<=/cupy/_core/)core\.cpython))\b[^/\n]*\.so"
)
"""The libraries that tell which framework is in a process."""
PREFIX = re.compile(r"(/.*?)/lib(?:64)?/python\d[^/]*/(?:site|dist)-packages/")
DEVICE = re.compile(r"/dev/(?:nvidia\d+|nvidia-uvm|dxg)$")
WRITTEN = re.compile(r"/(?!dev/|proc/|memfd:).*(?<! \(deleted\))$")
LOG = re.compile(r"\.(?:log|out|err|txt|stderr|stdout)$")


def say(value):
    """Print one JSON object, at once; end where nobody listens."""
    try:
        os.write(1, (json.dumps(value) + "\n").encode())
    except OSError:
        os._exit(0)


def read(path, most=1 << 16):
    """The bytes of a file as text; "" where it cannot be read."""
    try:
        with open(path, "rb") as file:  # buffered: the kernel gives such files a page at a time
            return file.read(most).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


# ---------------------------------------------------------------- one process


def descriptors(pid):
    """Pairs of number and path of what a process has open."""
    folder = "/proc/%d/fd" % pid
    try:
        for name in os.listdir(folder):
            yield int(name), os.readlink(folder + "/" + name)
    except (OSError, ValueError):
        return


def mapped(pid):
    """The frameworks in a process, and the environment they were loaded from."""
    found, prefix = set(), ""
    for match in LIBRARIES.finditer(read("/proc/%d/maps" % pid, 1 << 24)):
        found.add(match.lastgroup)
        inside = PREFIX.match(match.group())
        prefix = inside.group(1) if inside else prefix
    return {"libraries": sorted(found), "prefix": prefix} if found else {}


def surroundings(pid):
    """The working folder, the variables and the log files of a process; the Python that it was
    started as. Of the variables our parent keeps only those that steer the GPU stack.
    """
    try:
        folder = os.readlink("/proc/%d/cwd" % pid)
    except OSError:
        return {}
    pairs = (pair.partition("=") for pair in read("/proc/%d/environ" % pid, 1 << 20).split("\0"))
    environ = {name: value for name, _, value in pairs if name}
    rows = [row for row in sorted(descriptors(pid))[:200] if WRITTEN.match(row[1])]
    logs = [list(row) for row in rows if row[0] in (1, 2) or LOG.search(row[1])][:8]
    seen = {"folder": folder, "environ": environ, "writes": logs}
    first = read("/proc/%d/cmdline" % pid, 4096).split("\0")[0]
    if os.path.basename(first).startswith("python"):
        places = [folder] if "/" in first else filter(None, environ.get("PATH", "").split(":"))
        paths = (os.path.join(place, first) for place in places)
        seen["python"] = next((one for one in paths if "/" in first or os.access(one, os.X_OK)), "")
    return seen


# ---------------------------------------------------------------- host


def group():
    """The files of our memory control group: its limit, use, events and statistics; inside a
    container the root's; None where there is no limit to read.
    """
    root, path = "/sys/fs/cgroup", "/"
    tails = ("memory.max", "memory.current", "memory.events", "memory.stat")
    for line in read("/proc/self/cgroup").splitlines():
        place, names, tail = (line.split(":", 2) + ["", ""])[:3]
        if "memory" in names.split(","):
            root, path = "/sys/fs/cgroup/memory", tail
            tails = ("limit_in_bytes", "usage_in_bytes", "oom_control", "stat")
            tails = tuple("memory." + one for one in tails)
            break
        path = tail if place == "0" else path
    for folder in (root + path.rstrip("/"), root):
        if os.path.exists(folder + "/" + tails[0]):
            return [folder + "/" + tail for tail in tails]
    return None


def kills(files):
    """How often the kernel has killed for memory: on the machine, and in our group; None where it
    does not say.
    """
    texts = {"machine": read("/proc/vmstat"), "group": read(files[2]) if files else ""}
    found = {key: re.search(r"(?m)^oom_kill (\d+)", text) for key, text in texts.items()}
    return {key: int(one.group(1)) if one else None for key, one in found.items()}


def held(files):
    """The group's limit, and its use without the file cache."""
    limit, used = (read(one).strip() for one in files[:2]) if files else ("", "")
    if not limit.isdigit() or not used.isdigit() or int(limit) >= 1 << 60:  # "max" is none
        return {}
    cached = re.findall(r"(?m)^(?:total_)?((?:in)?active_file) (\d+)", read(files[3]))
    return {"limit": int(limit), "held": max(0, int(used) - sum(map(int, dict(cached).values())))}


def available():
    """Bytes of RAM that a program could still get."""
    found = re.search(r"(?m)^MemAvailable:\s+(\d+) kB", read("/proc/meminfo"))
    return int(found.group(1)) << 10 if found else None


# ---------------------------------------------------------------- the tree


class Tree:
    """The descendants of a process; one whose parent has ended stays in it."""

    def __init__(self, root):
        self.pids, self.ever = {root}, {root}
        self._next = 0.0

    def update(self, now):
        """Look for new and ended processes: at all of them as often as the share allows, else at
        the children that the kernel lists for those that are known, one short file for each.
        """
        found = {pid for pid in self.pids if os.path.exists("/proc/%d" % pid)}
        if now < self._next:
            for pid in list(found)[:50]:
                listed = read("/proc/%d/task/%d/children" % (pid, pid), 4096).split()
                found |= {int(one) for one in listed} - {os.getpid()}
        else:
            spent, parents = time.process_time(), {}
            for name in filter(str.isdigit, os.listdir("/proc")):
                tail = read("/proc/%s/stat" % name, 4096).rpartition(")")[2].split()
                if len(tail) > 1 and int(name) != os.getpid():
                    parents[int(name)] = int(tail[1])
            fresh = found
            while fresh:
                fresh = {one for one, parent in parents.items() if parent in fresh} - found
                found = found | fresh
            self._next = now + (time.process_time() - spent) / SHARE
        self.pids = found
        if len(self.ever) < MOST_PIDS:
            self.ever |= found

    def resident(self):
        """Bytes by process, and of all together, with what they share counted once."""
        each, private, shared = {}, 0, 0
        for pid in self.pids:
            fields = [int(one) * PAGE for one in read("/proc/%d/statm" % pid, 256).split()]
            if len(fields) > 2:
                each[pid] = fields[1]
                private += fields[1] - fields[2]
                shared = max(shared, fields[2])
        return each, private + shared


class Process:
    """One big process: when its maps are read next, and what was seen of it."""

    def __init__(self, now):
        self.born = self.next = now
        self.said = {}

    def look(self, pid, now, on_gpu, nodes):
        """Say what is new: which frameworks are mapped, which Python it is, whether it opened one
        of the GPU's nodes.
        """
        seen = dict(self.said)
        touched = seen.get("touched", False) or on_gpu
        opened = nodes and not touched and any(DEVICE.match(one) for _, one in descriptors(pid))
        seen["touched"] = touched or opened
        if now >= self.next:
            self.next = now + min(20.0, max(0.3, (now - self.born) * 0.6))
            seen.update(mapped(pid))
            seen.update(surroundings(pid))
        if seen != self.said:
            self.said = seen
            say(dict(seen, seen=pid))


# ---------------------------------------------------------------- GPUs


class Gpus:
    """NVML, where it starts: memory by process, and how busy each GPU is."""

    def __init__(self):
        self.error = ""
        self.handles = []
        self.at_start = {}

    def begin(self, folder, done):
        """Start NVML, which takes its time: processes are looked at meanwhile."""
        try:
            sys.path += [folder] if folder else []  # an empty one would be the working folder
            import pynvml

            self.nvml = pynvml
            pynvml.nvmlInit()
            count = pynvml.nvmlDeviceGetCount()
            self.handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        except Exception as error:  # no binding, no driver, no GPU
            self.error = "%s: %s" % (type(error).__name__, error)
        done()

    def sample(self, pids):
        """A row for each GPU, and the processes of ours that are on one."""
        rows, ours = [], set()
        for index, handle in enumerate(self.handles):
            try:
                memory = self.nvml.nvmlDeviceGetMemoryInfo(handle)
                running = self.nvml.nvmlDeviceGetComputeRunningProcesses(handle)
            except Exception:  # this GPU is lost, divided into instances, or not permitted
                continue
            try:
                busy = int(self.nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
            except Exception:
                busy = -1  # the driver does not say
            mine = [one for one in running if one.pid in pids]
            ours |= {one.pid for one in mine}
            own = sum(int(one.usedGpuMemory or 0) for one in mine)  # 0: the driver does not say
            total, used = int(memory.total), int(memory.total) - int(memory.free)
            self.at_start.setdefault(index, used)
            rows.append([index, total, used, own, max(0, used - own), busy])
        return rows, ours

    def estimated(self, rows):
        """Where the driver names processes by other numbers (containers, WSL): what came since the
        start is ours.
        """
        before = self.at_start
        return [
            [index, total, used, max(0, used - before[index]), min(used, before[index]), busy]
            for index, total, used, _, _, busy in rows
        ]


# ---------------------------------------------------------------- the loop


class Sampler:
    """Samples until it is told to end."""

    def __init__(self, root, folder):
        self.begin = time.monotonic()
        self.tree, self.gpus = Tree(root), Gpus()
        self.files = group()
        start = {"start": self.begin, "kills": kills(self.files)}
        say(start)
        self.nodes = any(DEVICE.match("/dev/" + name) for name in os.listdir("/dev"))
        self.processes = {}
        self.touched = False

        def begun():
            say(dict(start, nvml=self.gpus.error))

        threading.Thread(target=self.gpus.begin, args=(folder, begun), daemon=True).start()

    def sample(self):
        """One look at everything; the seconds until the next."""
        now = time.monotonic()
        self.tree.update(now)
        spent = time.process_time()
        rows, ours = self.gpus.sample(self.tree.pids)
        each, rss = self.tree.resident()
        cost = time.process_time() - spent
        for pid, size in each.items():
            if size >= BIG or pid in ours:
                one = self.processes.setdefault(pid, Process(now))
                one.look(pid, now, pid in ours, self.nodes)
                self.touched = self.touched or one.said["touched"]
        guessed = self.touched and not any(row[3] for row in rows)
        point = {"t": now, "gpus": self.gpus.estimated(rows) if guessed else rows, "rss": rss}
        point.update(held(self.files), available=available())
        say(dict(point, guessed=True) if guessed else point)
        age = now - self.begin  # most programs fail early; the looks get rarer by themselves
        often = 0.1 if age < 3 else 0.2 if age < 60 else 0.5 if age < 600 else 1.0
        return max(often, cost / SHARE)

    def run(self):
        """Sample and sleep; a signal wakes us."""
        wake = time.monotonic() + self.sample()
        while True:
            got = signal.sigtimedwait(signal.valid_signals(), max(0.0, wake - time.monotonic()))
            if got is None:
                wake = time.monotonic() + self.sample()
            elif got.si_signo == signal.SIGRTMIN:
                pids, killed = sorted(self.tree.ever), kills(self.files)
                say({"end": time.monotonic(), "kills": killed, "pids": pids})
                return
            else:
                say({"signal": int(got.si_signo)})


if __name__ == "__main__":
    os.nice(5)
    Sampler(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "").run()
    os._exit(0)
