"""The sandbox of `--import`: what it tells, and traps of packages that it has to survive."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.sandbox import Order, encoded
from tests.machine.test_process import gone

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock, /proc")


class World:
    """A home, a working folder and a package `evil`; what it did to them."""

    def __init__(self, top: Path) -> None:
        self.home, self.work, self.site, self.tmp = (top / name for name in ("home", "work", "site", "tmp"))
        for one in (self.home, self.work, self.site, self.tmp):
            one.mkdir()
        (self.home / ".bashrc").write_text("# mine\n")
        (self.work / "data.csv").write_text("mine")

    def lines(self, code: str = "", order: Order | None = None, **variables: str) -> list[Any]:
        (self.site / "evil.py").write_text(code)
        order = order or Order((("import", "evil"),), seconds=20)
        path = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.tmp)}
        environ = {**path, "PYTHONPATH": str(self.site), **variables}
        here = Path.cwd()
        os.chdir(self.work)
        try:
            answer = LiveMachine(environ).sandbox(sys.executable, encoded(order))
        finally:
            os.chdir(here)
        return list(answer.need())

    def untouched(self) -> bool:
        same = (self.home / ".bashrc").read_text() == "# mine\n"
        left = {*self.home.iterdir(), *self.work.iterdir()}
        mine = {self.home / ".bashrc", self.work / "data.csv"}
        return same and left == mine and (self.work / "data.csv").read_text() == "mine"


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    world = World(tmp_path)
    monkeypatch.setenv("TMPDIR", str(world.tmp))
    yield world
    assert list(world.tmp.iterdir()) == [], "nothing is left behind"


def said(lines: list[Any], key: str) -> Any:
    return next((line if key == "try" else line[key] for line in lines if key in line), None)


def test_what_is_told_of_a_good_import_and_of_a_bad_one(world):
    (world.site / "good.py").write_text("__version__ = '1.2'\nprint('noise')\n")
    tries = (("import", "json"), ("import", "good"), ("import", "evil"))
    lines = world.lines("import no_such_module_anywhere", Order(tries))
    rows = [line for line in lines if "try" in line]
    assert [row["ok"] for row in rows] == [True, True, False]
    assert (rows[1]["version"], rows[1]["file"]) == ("1.2", str(world.site / "good.py"))
    bad = rows[2]
    assert (bad["error"], bad["missing"]) == ("ModuleNotFoundError", "no_such_module_anywhere")
    assert bad["files"] == [str(world.site / "evil.py")]
    assert "Traceback" in bad["text"]
    assert said(lines, "said").strip() == "noise"
    assert said(lines, "ended") == {"code": 0, "left": []}
    assert set(said(lines, "isolation")) == {"writes", "network", "processes", "why"}
    order = Order((("import", "evil"), ("compute", "evil")))
    lines = world.lines("raise OSError(13, 'no', '/x/lib.so')", order)
    (only,) = [line for line in lines if "try" in line]  # of what cannot be imported nothing else is tried
    assert (only["errno"], only["source"]) == (13, "/x/lib.so")


def test_libraries_are_opened_and_programs_started(world):
    cut = str(world.site / "cut.so")
    Path(cut).write_bytes(b"\x7fELF")
    tries = (("import", "json"), ("open", "x", cut))
    tries += (("run", "x", "/bin/false"), ("run", "x", "/bin/ls"))
    rows = [line for line in world.lines("", Order(tries)) if "try" in line]
    assert [row["ok"] for row in rows] == [True, False, False, True]
    assert rows[1]["source"] == cut
    assert "ends with code 1" in rows[2]["words"]


def test_a_crash_names_the_try(world):
    lines = world.lines("import os; os.abort()")
    assert [line["begins"] for line in lines if "begins" in line] == [0]
    assert (said(lines, "try"), said(lines, "ended")["code"]) == (None, -6)
    answer = LiveMachine({"PATH": "/bin"}).sandbox("/no/such/python", encoded(Order((("import", "x"),))))
    assert said(list(answer.need()), "cannot") == "No such file or directory"


WRITES = """
import os, pathlib
failed = []
for act in (
    lambda: os.remove(os.path.join({work!r}, "data.csv")),
    lambda: open(os.path.join({work!r}, "new"), "w"),
    lambda: open(os.path.join({home!r}, ".bashrc"), "a").write("x"),
    lambda: open(os.path.join({home!r}, ".evilrc"), "w"),
    lambda: os.mkdir(os.path.join({home!r}, ".evil")),
    lambda: os.symlink("/", os.path.join({home!r}, "link")),
    lambda: os.rename(os.path.join({work!r}, "data.csv"), os.path.join({work!r}, "x")),
    lambda: os.truncate(os.path.join({work!r}, "data.csv"), 0),
    lambda: os.link(os.path.join({work!r}, "data.csv"), os.path.join({work!r}, "y")),
):
    try:
        act()
    except OSError as error:
        failed.append(error.errno)
open("here", "w").write("this may be")
open(os.path.expanduser("~/cache"), "w").write("this too")
open("/dev/null", "w").write("and this")
__version__ = str(len(failed))
"""


def test_it_writes_nothing_outside_its_folder(world):
    lines = world.lines(WRITES.format(work=str(world.work), home=str(world.home)))
    if said(lines, "isolation")["writes"] == "held":
        assert world.untouched()
        assert said(lines, "try")["version"] == "9"


def test_it_has_no_network(world):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        lines = world.lines(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)")
        if said(lines, "isolation")["network"] != "not available":
            assert not said(lines, "try")["ok"]
            with pytest.raises(TimeoutError):
                server.accept()


def test_its_parents_survive(world):
    code = "import os, signal\n"
    for pid in ("os.getppid()", str(os.getpid())):
        code += f"try: os.kill({pid}, signal.SIGKILL)\nexcept OSError: pass\n"
    if said(world.lines("pass"), "isolation")["processes"] == "held":
        assert said(world.lines(code), "ended")["code"] == 0


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (0, 1, 2, 3):
            os.close(number)
        time.sleep(600)
    os._exit(0)
os.wait()
with open({note!r}, "w") as file:
    file.write("x")
"""


def test_a_daemon_of_its_own_session_is_ended_and_a_folder_that_nobody_may_enter_removed(world):
    world.lines("import os\nos.makedirs('a/b')\nopen('a/b/c', 'w')\nos.chmod('a/b', 0)\nos.chmod('a', 0)")
    lines = world.lines(DAEMON.format(note="note"))
    assert said(lines, "ended")["left"] != []


def test_a_hang_ends_in_time_with_all_that_it_started(world):
    code = "import subprocess, time\nsubprocess.Popen(['sleep', '600'])\ntime.sleep(600)"
    for seconds in (3, 20, 60):  # a busy machine may not have come that far
        order = Order((("import", "evil"),), seconds=seconds)
        ended = said(world.lines(code, order), "ended")
        assert ended["late"] is True
        if "sleep" in ended["left"]:
            return
    raise AssertionError(ended)


def test_resident_memory_is_limited_and_address_space_is_not(world):
    order = Order((("import", "evil"),), seconds=20, memory=200 << 20)
    code = "x = bytearray(600 << 20)\nx[::4096] = b'1' * len(x[::4096])\nwhile True: pass"
    assert said(world.lines(code, order), "ended")["memory"] is True
    code = "import mmap\nx = mmap.mmap(-1, 40 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)"
    lines = world.lines(f"{code} if hasattr(mmap, 'MAP_PRIVATE') else 0", order)
    assert said(lines, "try")["ok"] or "memory" in said(lines, "try")["words"]


def test_the_user_s_own_limits_stay(world):
    import resource

    number = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    code = "import resource as r\n__version__ = str(r.getrlimit(r.RLIMIT_NOFILE)[0])"
    assert said(world.lines(code), "try")["version"] == str(number)
    core = "import resource as r\n__version__ = str(r.getrlimit(r.RLIMIT_CORE)[0])"
    assert said(world.lines(core), "try")["version"] == "0"


@pytest.mark.parametrize("stream", [1, 2, 3])
def test_a_flood_is_stopped(world, stream):
    lines = world.lines(f"import os\nwhile True: os.write({stream}, b'{{x' * 40000)")
    assert len(json.dumps(lines)) < 40 << 20
    assert said(lines, "try") is None


def test_forged_answers_are_only_lines(world):
    code = 'import os\nos.write(3, b\'{"try": 0, "ok": true}\\n[1]\\n\\xff{\\n{"ended": 7}\\n\')\n1/0'
    lines = world.lines(code)
    assert [line for line in lines if line.get("error") == "ZeroDivisionError"]


def test_home_and_caches_are_its_own_and_the_user_s_packages_are_found(world, monkeypatch):
    monkeypatch.setattr(sys, "executable", sys._base_executable)  # a venv has no user site
    base = world.home / ".local/lib/python{}.{}/site-packages".format(*sys.version_info)
    base.mkdir(parents=True)
    (base / "mine.py").write_text("")
    (world.home / ".keras").mkdir()
    names = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "KERAS_HOME", "https_proxy")
    code = f"import json, os, mine\nfound = [os.environ.get(n) for n in {names}]\n"
    lines = world.lines(f"{code}raise OSError(json.dumps([*found, os.getcwd()]))", https_proxy="x")
    home, tmp, cache, keras, proxy, here = json.loads(said(lines, "try")["words"])
    assert home == tmp == cache == here
    assert home.startswith(str(world.tmp))
    assert (keras, proxy) == (str(world.home / ".keras"), None)
    order = Order((("import", "evil"),), without=("user site",))
    assert said(world.lines("import mine", order), "try")["missing"] == "mine"
    order = Order((("import", "evil"),), unset=("BAD",), change={"OTHER": "3"})
    code = "import os; __version__ = repr([os.environ.get('BAD'), os.environ.get('OTHER')])"
    assert said(world.lines(code, order, BAD="1", OTHER="2"), "try")["version"] == "[None, '3']"


def test_start_files_are_left_out_and_run_one_by_one(world):
    (world.site / "more").mkdir()
    (world.site / "more" / "inside.py").write_text("")
    (world.site / "a.pth").write_text("more\nimport os; os.environ['SET'] = '1'\n")
    (world.site / "sitecustomize.py").write_text("raise SystemExit(9)")
    tries = (("import", "inside"),)
    assert said(world.lines("", Order(tries)), "ended")["code"] != 0
    order = Order(tries, without=("start files",), sites=(str(world.site),))
    lines = world.lines("", order)
    assert (said(lines, "try")["ok"], said(lines, "sets")) == (True, [])
    for file, sets in (("a.pth", ["SET"]), ("sitecustomize.py", None)):
        one = msgspec.structs.replace(order, start_file=str(world.site / file))
        assert said(world.lines("", one), "sets") == sets


def test_compiled_files_are_made_again_elsewhere(world):
    world.lines("x = 1")
    assert not (world.site / "__pycache__").exists()
    order = Order((("import", "evil"),), without=("compiled files",))
    made = said(world.lines("__version__ = __cached__", order), "try")["version"]
    assert made.startswith(str(world.tmp))


OURS = """
import os, sys
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.sandbox import Order, encoded
LiveMachine().sandbox(sys.executable, encoded(Order((("import", "evil"),))))
"""


@pytest.mark.parametrize("number", [9, 15])
def test_it_is_gone_when_we_are(world, number):
    fork = "import os, time\nif os.fork() == 0: os.setsid()\ntime.sleep(600)"
    (world.site / "evil.py").write_text(fork)
    given = {**os.environ, "PYTHONPATH": str(world.site)}
    with subprocess.Popen([sys.executable, "-c", OURS], env=given) as ours:
        until = time.monotonic() + 30
        while not (found := sleeping(str(world.site))):
            assert time.monotonic() < until
            time.sleep(0.05)
        os.kill(ours.pid, number)
    assert all(gone(pid) for pid in found)
    until = time.monotonic() + 10
    while list(world.tmp.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)


def sleeping(site: str) -> list[int]:
    """The importing children of a world."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            mine = b"importing.py" in words and site.encode() in (folder / "environ").read_bytes()
        except OSError:
            continue
        found += [int(folder.name)] if mine else []
    return found if len(found) > 1 else []
