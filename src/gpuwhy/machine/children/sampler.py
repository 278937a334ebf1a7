"""Samples GPU and host memory of a process and its descendants: `python -I -S sampler.py PID
[FOLDER of pynvml]`.

Prints JSON lines: {"start": …} once; {"t": seconds, "gpus": [[index, total, used, own, others, busy
%]], "rss": …} per
sample; {"seen": pid, …} when a process shows which Python, frameworks or GPU it uses; {"signal": n}
for every signal it
gets (all are blocked, so that its parent learns which ones went to everybody); {"end": …} after
SIGRTMIN. It takes at
most half a hundredth of one core, and it dies with its parent.
"""

import ctypes
import json
import os
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # isolated mode leaves it out

from sampled import DEVICE, limits, mapped, opened, python, read, surroundings  # noqa: E402

SHARE = 0.002  # of a core, for each of the two kinds of look
BIG = 40 << 20  # a process that holds less has no framework in it
PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_PIDS = 2000


def say(value):
    """Print one JSON object, at once; end where nobody listens."""
    try:
        os.write(1, (json.dumps(value) + "\n").encode())
    except OSError:
        os._exit(0)


def die_with_parent(parent):
    """Let the kernel end us when our parent does."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def number(text):
    """An integer from a file of one number; None for "max" and nothing."""
    text = text.strip()
    return int(text) if text.isdigit() else None


# ---------------------------------------------------------------- host


def group():
    """Our memory control group: (file of the limit, of the use, of its events, of its
    statistics)."""
    for line in read("/proc/self/cgroup").splitlines():
        _, names, path = (line.split(":", 2) + ["", ""])[:3]
        if "memory" in names.split(","):
            tails = (
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "memory.oom_control",
                "memory.stat",
            )
            return existing("/sys/fs/cgroup/memory", path, tails)
    tails = ("memory.max", "memory.current", "memory.events", "memory.stat")
    line = next(
        (one for one in read("/proc/self/cgroup").splitlines() if one.startswith("0::")), "0::/"
    )
    return existing("/sys/fs/cgroup", line[3:], tails)


def existing(root, path, tails):
    """The group's own folder, or inside a container the root's."""
    for folder in (root + path.rstrip("/"), root):
        if os.path.exists(folder + "/" + tails[0]):
            return [folder + "/" + tail for tail in tails]
    return None


def kills(files):
    """How often the kernel has killed for memory: on the machine, and in our group; None where it
    does not say."""
    wide = re.search(r"^oom_kill (\d+)", read("/proc/vmstat", 1 << 16), re.MULTILINE)
    own = re.search(r"^oom_kill (\d+)", read(files[2]) if files else "", re.MULTILINE)
    return {
        "machine": int(wide.group(1)) if wide else None,
        "group": int(own.group(1)) if own else None,
    }


def held(files):
    """The group's limit, and its use without the file cache."""
    if not files:
        return {}
    limit, used = number(read(files[0])), number(read(files[1]))
    if limit is None or used is None or limit >= 1 << 60:
        return {}
    stat = dict(re.findall(r"^(?:total_)?((?:in)?active_file) (\d+)", read(files[3]), re.MULTILINE))
    return {"limit": limit, "held": max(0, used - sum(int(v) for v in stat.values()))}


def available():
    """Bytes of RAM that a program could still get."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", read("/proc/meminfo"), re.MULTILINE)
    return int(found.group(1)) << 10 if found else None


# ---------------------------------------------------------------- the tree


class Tree:
    """The descendants of a process; one whose parent has ended stays in it."""

    def __init__(self, root):
        self.root = root
        self.pids = {root}
        self.ever = {root}
        self._next = 0.0

    def update(self, now):
        """Look for new and ended processes, as often as the share allows."""
        if now < self._next:
            self.pids = {pid for pid in self.pids if os.path.exists("/proc/%d" % pid)}
            self._young()
            return
        spent = time.process_time()
        parents = self._parents()
        found = {pid for pid in self.pids if pid in parents}
        fresh = found
        while fresh:
            fresh = {pid for pid, parent in parents.items() if parent in fresh and pid not in found}
            fresh.discard(os.getpid())
            found |= fresh
        self.pids = found
        if len(self.ever) < MOST_PIDS:
            self.ever |= found
        self._next = now + (time.process_time() - spent) / SHARE

    def _young(self):
        """Take in what the known processes have started since, where the kernel lists it: one short
        file for each."""
        for pid in list(self.pids)[:50]:
            fresh = {
                int(one) for one in read("/proc/%d/task/%d/children" % (pid, pid), 4096).split()
            } - {os.getpid()}
            self.pids |= fresh
            if len(self.ever) < MOST_PIDS:
                self.ever |= fresh

    def _parents(self):
        out = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                tail = read("/proc/%s/stat" % name, 4096).rpartition(")")[2].split()
                if len(tail) > 1:
                    out[int(name)] = int(tail[1])
        return out

    def resident(self):
        """Bytes by process, and of all together, with what they share counted once."""
        each, private, shared = {}, 0, 0
        for pid in self.pids:
            fields = read("/proc/%d/statm" % pid, 256).split()
            if len(fields) > 2:
                each[pid] = int(fields[1]) * PAGE
                private += (int(fields[1]) - int(fields[2])) * PAGE
                shared = max(shared, int(fields[2]) * PAGE)
        return each, private + shared


# ---------------------------------------------------------------- what a process may use


class Limits:
    """The tightest resource limits among the processes: a shell or a wrapper may set them for its
    own children."""

    def __init__(self):
        self.looked = set()
        self.tightest = {}

    def look(self, pids):
        """Say what is tighter in processes that were not looked at yet."""
        before = dict(self.tightest)
        for pid in list(pids - self.looked)[:50]:
            for name, soft, hard in limits(pid):
                known = self.tightest.get(name, [-1, -1])[0]
                if known < 0 or 0 <= soft < known:
                    self.tightest[name] = [soft, hard]
            self.looked.add(pid)
        if self.tightest != before:
            say({"limits": self.tightest})

    def again(self, pid):
        """Look at a process once more: a program may be started by a shell that sets limits
        first."""
        self.looked.discard(pid)


# ---------------------------------------------------------------- what a process uses


class Process:
    """One big process: when its maps are read next, and what was seen of it."""

    def __init__(self, now):
        self.born = now
        self.next = now
        self.said = {}

    def look(self, pid, now, on_gpu, nodes):
        """Say what is new: which frameworks are mapped, which Python it is, whether it opened a
        GPU."""
        seen = dict(self.said)
        seen["touched"] = seen.get("touched", False) or on_gpu or (nodes and opened(pid))
        if now >= self.next:
            self.next = now + min(20.0, max(0.3, (now - self.born) * 0.6))
            seen.update(mapped(pid))
            seen.update(python(pid))
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
            sys.path.append(folder)
            import pynvml

            self.nvml = pynvml
            pynvml.nvmlInit()
            self.handles = [
                pynvml.nvmlDeviceGetHandleByIndex(n) for n in range(pynvml.nvmlDeviceGetCount())
            ]
        except Exception as error:  # no binding, no driver, no GPU
            self.error = "%s: %s" % (type(error).__name__, error)
        done()

    def sample(self, pids):
        """A row for each GPU, and the processes of ours that are on one."""
        rows, ours = [], set()
        for index, handle in enumerate(self.handles):
            try:
                memory = self.nvml.nvmlDeviceGetMemoryInfo(handle)
                own, mine = self.own(handle, pids)
            except Exception:  # this GPU is lost, divided into instances, or not permitted
                continue
            ours |= mine
            total, used = int(memory.total), int(memory.total) - int(memory.free)
            self.at_start.setdefault(index, used)
            rows.append([index, total, used, own, max(0, used - own), self.busy(handle)])
        return rows, ours

    def own(self, handle, pids):
        """Bytes that our processes hold on a GPU (0 where the driver does not say), and which
        processes they are."""
        own, mine = 0, set()
        for process in self.nvml.nvmlDeviceGetComputeRunningProcesses(handle):
            if process.pid in pids:
                mine.add(process.pid)
                own += int(process.usedGpuMemory or 0)
        return own, mine

    def busy(self, handle):
        """Per cent of the last interval in which a kernel ran; -1 where the driver does not say."""
        try:
            return int(self.nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        except Exception:
            return -1

    def estimated(self, rows):
        """Where the driver names processes by other numbers (containers, WSL): what came since the
        start is ours."""
        return [
            [
                index,
                total,
                used,
                max(0, used - self.at_start[index]),
                min(used, self.at_start[index]),
                busy,
            ]
            for index, total, used, _, _, busy in rows
        ]


# ---------------------------------------------------------------- the loop


class Sampler:
    """Samples until it is told to end."""

    def __init__(self, root, folder):
        self.begin = time.monotonic()
        self.tree = Tree(root)
        self.files = group()
        killed = kills(self.files)
        say({"start": self.begin, "kills": killed, **held(self.files)})
        self.nodes = any(DEVICE.match("/dev/" + name) for name in os.listdir("/dev"))
        self.gpus = Gpus()
        self.limits = Limits()
        self.processes = {}
        self.touched = False

        def begun():
            say(
                {
                    "start": self.begin,
                    "kills": killed,
                    "nvml": self.gpus.error,
                    "gpus": len(self.gpus.handles),
                }
            )

        threading.Thread(target=self.gpus.begin, args=(folder, begun), daemon=True).start()

    def sample(self):
        """One look at everything; the seconds until the next."""
        now = time.monotonic()
        self.tree.update(now)
        spent = time.process_time()
        rows, ours = self.gpus.sample(self.tree.pids)
        each, rss = self.tree.resident()
        self.limits.look(self.tree.pids)
        cost = time.process_time() - spent
        for pid, size in each.items():
            if size >= BIG or pid in ours:
                if pid not in self.processes:
                    self.limits.again(pid)
                one = self.processes.setdefault(pid, Process(now))
                one.look(pid, now, pid in ours, self.nodes and not one.said.get("touched"))
                self.touched = self.touched or one.said.get("touched", False)
        guessed = self.touched and not any(row[3] for row in rows)
        if guessed:
            rows = self.gpus.estimated(rows)
        point = {
            "t": now,
            "gpus": rows,
            "rss": rss,
            "processes": len(each),
            "available": available(),
        }
        point.update(held(self.files))
        say(dict(point, guessed=True) if guessed else point)
        return max(
            self.interval(now - self.begin), cost / SHARE
        )  # the looks get rarer by themselves

    @staticmethod
    def interval(age):
        """Often at first, where most programs fail; less often later."""
        return 0.1 if age < 3 else 0.2 if age < 60 else 0.5 if age < 600 else 1.0

    def run(self):
        """Sample and sleep; a signal wakes us."""
        pause = self.sample()
        wake = time.monotonic() + pause
        while True:
            got = signal.sigtimedwait(signal.valid_signals(), max(0.0, wake - time.monotonic()))
            if got is None:
                wake = time.monotonic() + self.sample()
            elif got.si_signo == signal.SIGRTMIN:
                say(
                    {
                        "end": time.monotonic(),
                        "kills": kills(self.files),
                        "pids": sorted(self.tree.ever),
                    }
                )
                return
            else:
                say({"signal": int(got.si_signo)})


def main(root, folder):
    """Start quietly."""
    die_with_parent(os.getppid())
    os.nice(5)
    Sampler(root, folder).run()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
