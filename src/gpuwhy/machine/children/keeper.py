"""Keeps one program and everything it starts: `python -I -S keeper.py ORDERS SAYS` (descriptors).

Reads one JSON line from ORDERS: {"argv", "executable", "environ", "folder", "limits": {number:
[soft, hard]}, "input"}. Says JSON lines on SAYS: {"pid"}, {"cpu": seconds of all its processes}
every second, and at last {"code", "signal", "peak", "left": names of processes that outlived it}.
When ORDERS is closed, by our word or by our death, every process ends; so does everything that the
program leaves behind, whatever session it went to (we are its subreaper).
"""

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")
OFTEN = 1.0
SUBREAPER, DEATH_SIGNAL = 36, 1


def say(out, value):
    """One JSON line; nobody may be listening any more."""
    try:
        os.write(out, (json.dumps(value) + "\n").encode())
    except OSError:
        pass


def stat(pid):
    """Name, state, parent and seconds of CPU of a process; None where it is gone."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            text = file.read(4096).decode("utf-8", "replace")
    except OSError:
        return None
    name = text[text.find("(") + 1 : text.rfind(")")]
    rest = text.rpartition(")")[2].split()
    return name, rest[0], int(rest[1]), sum(int(n) for n in rest[11:15]) / TICK


def descendants(root):
    """Every process below a process: pid → (name, state, cpu)."""
    seen = {int(name): stat(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    found, fresh = {}, {root}
    while fresh:
        fresh = {pid for pid, one in seen.items() if one and one[2] in fresh and pid not in found}
        found.update({pid: seen[pid] for pid in fresh})
    return {pid: (one[0], one[1], one[3]) for pid, one in found.items()}


def reap():
    """Take the ends of processes that were left to us."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except OSError:
        pass


def end_all():
    """Kill until nothing is left; new ones may come meanwhile. The names of the living ones."""
    names, until = [], time.time() + 10
    while time.time() < until:
        reap()
        alive = {pid: one for pid, one in descendants(os.getpid()).items() if one[1] not in "ZX"}
        if not alive:
            return names
        names = names or sorted(one[0] for one in alive.values())
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.01)
    return names


def become(orders, failed):
    """In the child: limits, place and signals, then the program."""
    try:
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        try:  # if memory runs out, it is this program's turn and nobody else's
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("1000")
        except OSError:
            pass
        for number, pair in orders["limits"].items():
            try:
                resource.setrlimit(int(number), tuple(pair))
            except (OSError, ValueError):
                pass
        os.chdir(orders["folder"])
        source = os.open(orders["input"] or os.devnull, os.O_RDONLY)
        os.dup2(source, 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execve(orders["executable"], orders["argv"], orders["environ"])
    except OSError as error:
        if error.errno == 8:  # a script without #!: as shells do
            os.execve(
                "/bin/sh", ["/bin/sh", orders["executable"]] + orders["argv"][1:], orders["environ"]
            )
        os.write(failed, (error.strerror or str(error)).encode())
    os._exit(127)


def first_line(source):
    """The orders; what follows them is only the end of the stream."""
    text = b""
    while not text.endswith(b"\n"):
        piece = os.read(source, 1 << 16)
        if not piece:
            os._exit(0)
        text += piece
    return json.loads(text.decode())


def spent(done):
    """Seconds of CPU of everything below us, with what has ended."""
    now = sum(one[2] for one in descendants(os.getpid()).values())
    return round(max(done, now), 2)


def wait(pid, source, out, woken):
    """Until the program ends or the orders do; (status, peak bytes) or None."""
    cpu, after = 0.0, time.time() + OFTEN
    while True:
        ready = select.select([source, woken], [], [], max(0.0, after - time.time()))[0]
        if woken in ready:
            os.read(woken, 4096)
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return status, usage.ru_maxrss << 10
        if source in ready and not os.read(source, 4096):
            return None
        if time.time() >= after:
            cpu, after = spent(cpu), time.time() + OFTEN
            say(out, {"cpu": cpu})


def main():
    """Start it, keep it, end it."""
    source, out = int(sys.argv[1]), int(sys.argv[2])
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    orders = first_line(source)
    broken, failed = os.pipe()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake)
    pid = os.fork()
    if pid == 0:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        become(orders, failed)
    os.close(failed)
    for number in (1, 2):  # only the program holds its outputs, so that their end is its end
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    said = os.read(broken, 4096).decode("utf-8", "replace")
    if said:
        say(out, {"cannot": said})
        os._exit(0)
    say(out, {"pid": pid})
    ended = wait(pid, source, out, woken)
    left = end_all()
    if ended:
        status, peak = ended
        code, number = (
            (os.WEXITSTATUS(status), 0) if os.WIFEXITED(status) else (0, os.WTERMSIG(status))
        )
        say(out, {"code": code, "signal": number, "peak": peak, "left": left})
    os._exit(0)


if __name__ == "__main__":
    main()
