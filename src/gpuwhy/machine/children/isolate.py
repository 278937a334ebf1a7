"""Runs one program isolated, as far as this kernel allows, and ends everything that it starts.

Reads one JSON line from standard input: {"argv", "environ", "folder", "write", "seconds", "memory",
"raise_limits"}. When that stream ends, by our word or by our death, everything is ended. Lines on
standard output: {"isolation": …} before the program starts, those that the program writes to
descriptor 3, and at last {"ended": …}. `folder` is where it may write, and is removed.
"""

import ctypes
import errno
import fcntl
import glob
import json
import os
import resource
import select
import shutil
import signal
import struct
import sys
import time

RESULTS = 3
OFTEN, MEMORY_OFTEN = 0.02, 10  # seconds; every tenth time
DEATH_SIGNAL, SUBREAPER, NO_NEW_PRIVS = 1, 36, 38
NEW_USER, NEW_NET = 0x10000000, 0x40000000
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
WRITE_FILE, REFER, TRUNCATE = 1 << 1, 1 << 13, 1 << 14
REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
TCP, SIGNALS_AND_ABSTRACT = 3, 3
SIGNALS_FROM, NET_FROM, TRUNCATE_FROM, REFER_FROM = 6, 4, 3, 2  # Landlock's versions
DEVICES = (
    *("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "nvidia*", "dxg", "dri"),
    "kfd",
)
"""Devices that may be written to; /dev/shm too, where semaphores are made."""
FILE_SIZE = 256 << 20
LIMITS = ("AS", "DATA", "NOFILE", "NPROC", "STACK", "FSIZE", "MEMLOCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
NO_COMMAND = 127


def say(out, value):
    """One JSON line; nobody may be listening any more."""
    try:
        os.write(out, (json.dumps(value) + "\n").encode())
    except OSError:
        pass


# ---------------------------------------------------------------- isolation, in the child


class Kernel:
    """What the C library offers, and why something was refused."""

    def __init__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.why = []

    def call(self, name, *args):
        """A system call by its wrapper; False and a reason where it fails."""
        function = getattr(self.libc, name, None)
        if function is None:
            self.why.append("%s: not on this system" % name)
            return False
        if function(*args) >= 0:
            return True
        self.why.append("%s: %s" % (name, os.strerror(ctypes.get_errno())))
        return False

    def landlock(self, number, *args):
        """One of Landlock's calls, which have no wrappers; its answer, or -1."""
        words = [ctypes.c_long(one) if isinstance(one, int) else one for one in args]
        answer = self.libc.syscall(ctypes.c_long(number), *words)
        if answer < 0:
            self.why.append("Landlock: %s" % os.strerror(ctypes.get_errno()))
        return answer


def without_network(kernel):
    """A network of its own with nothing but itself in it."""
    user, group = os.geteuid(), os.getegid()
    if not kernel.call("unshare", NEW_NET if user == 0 else NEW_USER | NEW_NET):
        return False
    try:
        if user != 0:
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", "%d %d 1" % (user, user)),
                ("gid_map", "%d %d 1" % (group, group)),
            ):
                with open("/proc/self/" + name, "w") as file:
                    file.write(text)
        plug = kernel.libc.socket(2, 2, 0)
        fcntl.ioctl(plug, 0x8914, struct.pack("16sH22x", b"lo", 0x41))  # lo is up
        os.close(plug)
    except OSError as error:
        kernel.why.append("network: %s" % error.strerror)
    return True


def only_writes_below(kernel, folder, network_is_off):
    """Landlock: writes, signals and, without a network of its own, TCP; what of them held."""
    version = kernel.landlock(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return {}
    files = WRITE_FILE | REMOVE_AND_MAKE
    files |= REFER if version >= REFER_FROM else 0
    files |= TRUNCATE if version >= TRUNCATE_FROM else 0
    net = TCP if version >= NET_FROM and not network_is_off else 0
    scope = SIGNALS_AND_ABSTRACT if version >= SIGNALS_FROM else 0
    size = 24 if version >= SIGNALS_FROM else 16 if version >= NET_FROM else 8
    rules = kernel.landlock(CREATE_RULESET, struct.pack("QQQ", files, net, scope), size, 0)
    if rules < 0:
        return {}
    one_file = WRITE_FILE | (files & TRUNCATE)
    devices = [path for name in DEVICES for path in glob.glob("/dev/" + name)]
    allowed = [(folder, files), ("/dev/shm", files)]
    for path, rights in allowed + [(path, one_file) for path in devices]:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        kernel.landlock(ADD_RULE, rules, 1, struct.pack("=Qi", rights, place), 0)
        os.close(place)
    if not kernel.call("prctl", NO_NEW_PRIVS, 1, 0, 0, 0):
        return {}
    if kernel.landlock(RESTRICT_SELF, rules, 0) < 0:
        return {}
    os.close(rules)
    return {"writes": True, "tcp": bool(net), "signals": bool(scope)}


def limit(orders):
    """No core files, no huge files; the user's own limits stay, for they are evidence."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if orders["raise_limits"]:
        for name in LIMITS:
            which = getattr(resource, "RLIMIT_" + name, None)
            if which is not None:
                hard = resource.getrlimit(which)[1]
                resource.setrlimit(which, (hard, hard))
    for which, most in (
        (resource.RLIMIT_FSIZE, FILE_SIZE),
        (resource.RLIMIT_CPU, int(orders["seconds"]) * (os.cpu_count() or 1) + 5),
    ):
        soft, hard = resource.getrlimit(which)
        if soft == resource.RLIM_INFINITY or soft > most:
            resource.setrlimit(which, (most, hard))


def become(orders, out):
    """In the child: isolate, tell what held, and become the program."""
    kernel = Kernel()
    linux = sys.platform.startswith("linux")
    try:
        if linux:
            kernel.libc.prctl(DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
        os.setsid()
        try:  # if memory runs out, it is this program's turn
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("1000")
        except OSError:
            pass
        alone = linux and without_network(kernel)
        held = only_writes_below(kernel, orders["folder"], alone) if linux else {}
        network = "held" if alone else "partly" if held.get("tcp") else "not available"
        told = {
            "writes": "held" if held.get("writes") else "not available",
            "network": network,
            "processes": "held" if held.get("signals") else "partly",
            "why": kernel.why,
        }
        say(out, {"isolation": told})
        limit(orders)
        os.chdir(orders["folder"])
        null = os.open(os.devnull, os.O_RDONLY)
        for source, place in ((null, 0), (2, 1), (out, RESULTS)):
            os.dup2(source, place)
        os.set_inheritable(RESULTS, True)
        for number in (
            signal.SIGPIPE,
            signal.SIGXFSZ,
            signal.SIGTERM,
            signal.SIGINT,
            signal.SIGHUP,
        ):
            signal.signal(number, signal.SIG_DFL)
        os.execve(orders["argv"][0], orders["argv"], orders["environ"])
    except OSError as error:
        say(
            RESULTS if error.errno != errno.EBADF else out, {"cannot": error.strerror or str(error)}
        )
    os._exit(NO_COMMAND)


# ---------------------------------------------------------------- keeping, in the parent


def descendants():
    """Every process below this one that has not ended: number → name."""
    if not os.path.isdir("/proc"):
        return {}
    parents, names = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    head, _, tail = file.read(4096).decode("utf-8", "replace").rpartition(")")
            except OSError:
                continue
            state, parent = tail.split()[:2]
            parents[int(name)] = int(parent)
            if state not in "ZX":
                names[int(name)] = head.partition("(")[2]
    found, fresh = set(), {os.getpid()}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh and pid not in found}
        found |= fresh
    return {pid: names[pid] for pid in found if pid in names}


def resident(pids):
    """What some processes hold of memory, in bytes."""
    total = 0
    for pid in pids:
        try:
            with open("/proc/%d/statm" % pid, "rb") as file:
                total += int(file.read().split()[1]) * PAGE
        except (OSError, IndexError, ValueError):
            pass
    return total


def end_all(first):
    """Kill until nothing is left; the names of those that were alive."""
    names, until = sorted(descendants().values()), time.time() + 10
    try:
        os.killpg(first, signal.SIGKILL)
    except OSError:
        pass
    while time.time() < until:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except OSError:
            pass
        alive = descendants()
        if not alive:
            return names
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.01)
    return names


def keep(pid, orders, stopped):
    """Until the program ends, or its time, its memory or our orders do."""
    until, turn = time.time() + orders["seconds"], 0
    while True:
        turn += 1
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
            return {"code": code}
        if time.time() > until:
            return {"code": None, "late": True}
        if turn % MEMORY_OFTEN == 0 and resident(descendants()) > orders["memory"]:
            return {"code": None, "memory": True}
        if stopped or (select.select([0], [], [], OFTEN)[0] and not os.read(0, 4096)):
            return {"code": None, "stopped": True}


def first_line():
    """The orders; what follows them is only the end of the stream."""
    text = b""
    while not text.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece:
            os._exit(0)
        text += piece
    return json.loads(text.decode())


def removed(folder):
    """The folder with everything in it, rights or none."""

    def again(function, path, _):
        try:
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            function(path)
        except OSError:
            pass

    shutil.rmtree(folder, onerror=again)


def main():
    """Start it, keep it, end it, clean up."""
    stopped = []
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    orders = first_line()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    out = os.dup(1)
    pid = os.fork()
    if pid == 0:
        become(orders, out)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):  # only the program holds its outputs, so that their end is its end
        os.dup2(null, number)
    ended = keep(pid, orders, stopped)
    ended["left"] = end_all(pid)
    removed(orders["folder"])
    say(out, {"ended": ended})
    os._exit(0)


if __name__ == "__main__":
    main()
