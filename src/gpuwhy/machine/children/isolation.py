"""Isolates the process that calls it, as far as this kernel allows; a part of keeper.py."""

import ctypes
import fcntl
import glob
import os
import resource
import struct
import sys

NO_NEW_PRIVS = 38
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
    maps = (
        ("setgroups", "deny"),
        ("uid_map", "%d %d 1" % (user, user)),
        ("gid_map", "%d %d 1" % (group, group)),
    )
    try:
        for name, text in maps if user != 0 else ():
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
    alone = kernel.call("prctl", NO_NEW_PRIVS, 1, 0, 0, 0)
    if not alone or kernel.landlock(RESTRICT_SELF, rules, 0) < 0:
        return {}
    os.close(rules)
    return {"tcp": bool(net), "signals": bool(scope)}


def isolate(folder):
    """Writes below one folder only, no network, no signals to others; what of it held."""
    kernel, alone, held = Kernel(), False, {}
    if sys.platform.startswith("linux"):
        alone = without_network(kernel)
        held = only_writes_below(kernel, folder, alone)
    return {
        "writes": "held" if held else "not available",
        "network": "held" if alone else "partly" if held.get("tcp") else "not available",
        "processes": "held" if held.get("signals") else "partly",
        "why": kernel.why,
    }


def limit(orders):
    """No core files, no huge files; the user's own limits stay, for they are evidence."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    for name in LIMITS if orders["raise_limits"] else ():
        which = getattr(resource, "RLIMIT_" + name)
        resource.setrlimit(which, (resource.getrlimit(which)[1],) * 2)
    processor = int(orders["seconds"]) * (os.cpu_count() or 1) + 5
    for which, most in ((resource.RLIMIT_FSIZE, FILE_SIZE), (resource.RLIMIT_CPU, processor)):
        soft, hard = resource.getrlimit(which)
        if soft == resource.RLIM_INFINITY or soft > most:
            resource.setrlimit(which, (most, hard))
