"""Keeps one program and everything it starts: `python -I -S keeper.py SAYS`.

Reads one JSON line from standard input: {"argv", "executable", "environ", "folder", "limits":
{number: [soft, hard]}, "input"}. With SAYS 1 says JSON lines on standard output: {"pid"}, {"cpu":
seconds of all its processes} every second, and at last {"code", "signal", "peak", "left": names of
processes that outlived it}; all that the program prints goes to standard error then. With SAYS 0
says nothing, and ends as the program did.
When standard input ends, by our word or by our death, every process ends; so does everything that
the program leaves behind, whatever session it went to (we are its subreaper).

With {"isolate": {"seconds", "memory", "raise_limits"}} the program is isolated (isolation.py), it
writes lines of its own to descriptor 3, which are said too, and its folder is removed at the end;
{"late": true} or {"memory": true} says which limit it passed.
"""

import ctypes
import json
import os
import resource
import select
import shutil
import signal
import sys
import time
from contextlib import suppress

RESULTS = 3
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
OFTEN, OFTEN_ISOLATED = 1.0, 0.2  # seconds
SUBREAPER, DEATH_SIGNAL = 36, 1
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def say(out, value):
    """One JSON line; nobody may be listening any more."""
    with suppress(OSError):  # of -1 too
        os.write(out, (json.dumps(value) + "\n").encode())


def prctl(what, value):
    """prctl(2), on the one system that has it."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(what, int(value), 0, 0, 0)


def descendants():
    """Every process below this one: pid → (name, state, parent, seconds of CPU)."""
    seen = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit():
            continue
        with suppress(OSError, IndexError), open("/proc/%s/stat" % name, "rb") as file:
            text = file.read(4096).decode("utf-8", "replace")
            rest = text.rpartition(")")[2].split()
            cpu = sum(int(n) for n in rest[11:15]) / TICK
            called = text[text.find("(") + 1 : text.rfind(")")]
            seen[int(name)] = (called, rest[0], int(rest[1]), cpu)
    found, fresh = {}, {os.getpid()}
    while fresh:
        fresh = {pid for pid, one in seen.items() if one[2] in fresh and pid not in found}
        found.update({pid: seen[pid] for pid in fresh})
    return found


def resident():
    """What the processes below this one hold of memory, in bytes."""
    total = 0
    for pid in descendants():
        with suppress(OSError, IndexError, ValueError), open("/proc/%d/statm" % pid, "rb") as file:
            total += int(file.read().split()[1]) * PAGE
    return total


def end_all(first):
    """Kill until nothing is left; new ones may come meanwhile. The names of the living ones."""
    names, until = [], time.time() + 10
    with suppress(OSError):
        os.killpg(first, signal.SIGKILL)
    while time.time() < until:
        with suppress(OSError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        alive = {pid: one for pid, one in descendants().items() if one[1] not in "ZX"}
        if not alive:
            return names
        names = names or sorted(one[0] for one in alive.values())
        for pid in alive:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return names


def prepare(orders, out):
    """In the child: limits, place, streams and signals."""
    prctl(DEATH_SIGNAL, signal.SIGKILL)
    os.setsid()
    with suppress(OSError):  # if memory runs out, it is this program's turn and nobody else's
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    if "isolate" in orders:
        import isolation

        say(out, {"isolation": isolation.isolate(orders["folder"])})
        isolation.limit(orders["isolate"])
    for number, pair in orders["limits"].items():
        with suppress(OSError, ValueError):
            resource.setrlimit(int(number), tuple(pair))
    os.chdir(orders["folder"])
    os.dup2(os.open(orders["input"] or os.devnull, os.O_RDONLY), 0)
    if out >= 0:
        os.dup2(2, 1)
    if "isolate" in orders:
        os.dup2(out, RESULTS)
        os.set_inheritable(RESULTS, True)
    for number in ENDING + (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def become(orders, out, failed):
    """In the child: the program."""
    try:
        prepare(orders, out)
        os.execve(orders["executable"], orders["argv"], orders["environ"])
    except OSError as error:
        if error.errno == 8:  # a script without #!: as shells do
            words = ["/bin/sh", orders["executable"]] + orders["argv"][1:]
            os.execve("/bin/sh", words, orders["environ"])
        os.write(failed, (error.strerror or str(error)).encode())
    os._exit(127)


def wait(pid, out, woken, isolate):
    """Until the program ends, it passes a limit, or the orders end; how it ended, or None."""
    cpu, often = 0.0, OFTEN_ISOLATED if isolate else OFTEN
    until = time.time() + isolate["seconds"] if isolate else 0.0
    after = time.time() + often
    while True:
        ready = select.select([0, woken], [], [], max(0.0, after - time.time()))[0]
        if woken in ready:
            os.read(woken, 4096)
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            exited = os.WIFEXITED(status)
            code, number = (os.WEXITSTATUS(status), 0) if exited else (0, os.WTERMSIG(status))
            return {"code": code, "signal": number, "peak": usage.ru_maxrss << 10}
        if 0 in ready and not os.read(0, 4096):
            return None
        if time.time() < after:
            continue
        after = time.time() + often
        if not isolate:
            now = sum(one[3] for one in descendants().values())
            cpu = round(max(cpu, now), 2)  # with what has ended
            say(out, {"cpu": cpu})
        elif time.time() > until:
            return {"late": True}
        elif resident() > isolate["memory"]:
            return {"memory": True}


def remove(folder):
    """The folder with everything in it, rights or none."""

    def again(function, path, _):
        with suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            function(path)

    shutil.rmtree(folder, onerror=again)


def ordered():
    """The line of orders; what follows it is only the end of the stream."""
    text = b""
    while not text.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece:
            os._exit(0)
        text += piece
    return json.loads(text.decode())


def main(says):
    """Start it, keep it, end it, clean up."""
    prctl(SUBREAPER, 1)
    for number in ENDING + (signal.SIGPIPE,):
        signal.signal(number, signal.SIG_IGN)
    orders = ordered()
    isolate, out = orders.get("isolate"), os.dup(1) if says else -1
    broken, failed = os.pipe()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake)
    pid = os.fork()
    if pid == 0:
        become(orders, out, failed)
    os.close(failed)
    for number in (1, 2):  # only the program holds its outputs, so that their end is its end
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    said = os.read(broken, 4096).decode("utf-8", "replace")
    if said:
        say(out, {"cannot": said})
        os._exit(0 if says else 127)
    if not isolate:
        say(out, {"pid": pid})
    ended = wait(pid, out, woken, isolate)
    left = end_all(pid)
    if isolate:
        remove(orders["folder"])
    if ended:
        say(out, dict(ended, left=left))
    if ended and not says:
        os._exit(128 + ended["signal"] if ended["signal"] else ended["code"])
    os._exit(0)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main(int(sys.argv[1]))
