"""Whether modules can be imported by another Python as its user starts it; if one cannot, what is behind that.

Run by our own Python: `imports.py PYTHON MODULES SECONDS USES COUNT SITE… FILE…`, modules by lines, COUNT sites, USES
"uses" for small uses too. Each line of importing.py is passed on, with what was printed meanwhile; what fails beside
others is tried by itself before. The first that fails is tried again with one thing changed at a time (without
variables, compiled files, what Python runs when it starts, the user's own packages or home folder; with limits as high
as they may be); {"blame": KIND, "what": NAME, "module": …} names the change with which it goes well, "part" the folder
of a list or the variable that a file sets. Standard library only.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "importing.py")
KEPT = 8000  # characters of what was printed
BUDGET = 90  # seconds for all modules that may be left out
USES = 60  # seconds for small uses of what was imported
PLAIN = 30  # seconds for what has nothing to do with a GPU
MOST_ALONE = 4  # failures that are tried again by themselves
MARK = "\x1e"
MOST_PARTS = 6
BASE = frozenset(
    "PATH HOME USER LOGNAME SHELL TERM LANG PWD OLDPWD SHLVL _ HOSTNAME MAIL LS_COLORS SYSTEMROOT TEMP TMP".split()  # noqa: SIM905
)
"""Variables that stay: no framework fails by them, or nothing starts without them."""
SUSPECTS = (
    "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONPATH", "PYTHONWARNINGS", "PYTHONOPTIMIZE", "GLIBC_TUNABLES",
)  # fmt: skip
"""Those that are tried one by one before the others are halved."""
FOLDERS = ("LD_LIBRARY_PATH", "PYTHONPATH", "LD_PRELOAD")
LIMITS = ("AS", "DATA", "NOFILE", "NPROC", "STACK", "FSIZE", "MEMLOCK")
FILE = re.compile(r'^\s*File "([^"]+)", line \d+', re.MULTILINE)


class Tries:
    """Imports of one Python, until their time is up."""

    def __init__(self, python, seconds, uses=False):
        self.python, self.seconds, self.uses = python, seconds, ["--uses"] if uses else []
        self.until = time.monotonic() + 3 * seconds
        self.compiled = ""  # a folder of our own that modules are compiled into, once it is known that theirs are good

    def lines(self, modules, environ, flags=(), more=(), limits=False):
        """What one process said, and how it ended where it did not end well."""
        if self.compiled:
            environ = dict(environ, PYTHONPYCACHEPREFIX=self.compiled)
        argv = [
            self.python,
            *([] if self.compiled else ["-B"]),
            *flags,
            SCRIPT,
            "\n".join(modules),
            str(int(self.seconds)),
            "--budget",
            str(BUDGET),
            *self.uses,
            *more,
        ]
        limit = self.seconds + USES + (BUDGET + PLAIN + 20 if any(one.startswith("?") for one in modules) else 0)
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environ,
                timeout=limit,
                preexec_fn=raise_limits if limits else None,
            )
        except subprocess.TimeoutExpired as late:
            out, err = text(late.stdout), text(late.stderr)
            return [
                *marked(told(out), err),
                {"module": unsaid(modules, out), "ok": False, "how": "late", "text": err[-KEPT:]},
            ]
        except OSError as error:
            words = "Python cannot be started: %s" % error.strerror
            return [{"module": modules[0], "ok": False, "how": "unstarted", "why": words}]
        return finished(modules, done.returncode, text(done.stdout), text(done.stderr))

    def goes_well(self, module, environ, flags=(), more=(), limits=False):
        """Whether a module is imported so, in the time that is left."""
        if time.monotonic() > self.until:
            return False
        said = self.lines([module], environ, flags, more, limits)
        return any(line.get("module") == module and line.get("ok") for line in said)


def text(data):
    """Bytes as text, whatever they are."""
    return (data or b"").decode("utf-8", "replace")


def told(out):
    """The lines of JSON."""
    found = []
    for line in out.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def unsaid(modules, out):
    """The first module of which nothing was told."""
    known = {line.get("module") for line in told(out)}
    return next((one for one in meant(modules) if one not in known), modules[0])


def marked(lines, err):
    """The lines, each with what was printed while its module was tried."""
    said = {}
    for part in err.split("\n" + MARK)[1:]:
        name, _, words = part.partition("\n")
        said[name] = said.get(name, "") + words
    for line in lines:
        words = said.get(line.get("module"), "").strip()
        if words:
            line["said"] = words[-KEPT:]
    return lines


def finished(modules, code, out, err):
    """The lines of a process that ended, with what it printed where a module failed."""
    said = marked(told(out), err)
    for line in said:
        if line.get("ok") is False:
            line.setdefault("files", list(reversed(FILE.findall(line.get("said", ""))))[:24])
    err = err.split(MARK)[-1] if err.count(MARK) else err
    if code == 0:
        return [*said, *silent(modules, said)]
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exit|Exception|Interrupt)\b", line)]
    how = {
        "module": unsaid(modules, out),
        "ok": False,
        "said": err[-KEPT:],
        "files": list(reversed(FILE.findall(err)))[:24],
    }
    if code < 0:
        return [*said, dict(how, how="crashed", signal=-code)]
    return [*said, dict(how, how="unstarted", code=code, why=(raised or lines or ["no word"])[-1][:300])]


def silent(modules, said):
    """Modules of which nothing was told although the process ended well: they ended it themselves."""
    known = {line.get("module") for line in said}
    failed = any(line.get("ok") is False for line in said if line.get("module") == modules[0])
    lost = [] if failed else [one for one in meant(modules) if one not in known]
    first = lost[:1] if modules[0] in lost else lost
    return [{"module": one, "ok": False, "why": "it ends the process without a word", "files": []} for one in first]


def meant(modules):
    """The modules that are imported whatever comes, without their signs."""
    return [bare(one) for one in modules if not one.startswith(("??~", "!"))]


def bare(module):
    """Without the sign of those that may be left out."""
    return module.lstrip("?~")


def alone(tries, line, environ):
    """How a module goes by itself, where it failed in a process that others had used before."""
    module = line.get("module", "")
    again = [one for one in tries.lines([module], environ) if one.get("module") == module]
    return again[0] if again else line


def raise_limits():
    """Every limit as high as it may be."""
    import resource

    for name in LIMITS:
        which = getattr(resource, "RLIMIT_" + name, None)
        if which is not None:
            hard = resource.getrlimit(which)[1]
            resource.setrlimit(which, (hard, hard))


def limited():
    """The limits that are below what they may be."""
    try:
        import resource
    except ImportError:
        return []
    pairs = [(name, getattr(resource, "RLIMIT_" + name, None)) for name in LIMITS]
    return [name for name, which in pairs if which is not None and len(set(resource.getrlimit(which))) > 1]


def without(environ, names):
    """The variables but some."""
    return {name: value for name, value in environ.items() if name not in names}


def variable(tries, module, environ):
    """The variable without which the import goes well, and which of its parts; {} where none is."""
    names = suspected(tries, module, environ)
    if not names:
        return {}
    for name in [one for one in SUSPECTS if one in names]:
        if tries.goes_well(module, without(environ, [name])):
            return {"blame": "variable", "what": name, "part": part(tries, module, environ, name)}
    found = halved(tries, module, environ, [one for one in names if one not in SUSPECTS])
    return {"blame": "variable", "what": found} if found else {"blame": "variables", "what": ""}


def suspected(tries, module, environ):
    """Variables without all of which it goes well; those by which alone packages may be found stay where they must."""
    names = [name for name in environ if name not in BASE]
    for some in (names, [name for name in names if name not in FOLDERS]):
        if some and tries.goes_well(module, without(environ, some)):
            return some
    return []


def halved(tries, module, environ, names):
    """The one of some variables without which it goes well; "" where it takes several."""
    while len(names) > 1:
        half = names[: len(names) // 2]
        names = half if tries.goes_well(module, without(environ, half)) else names[len(half) :]
    return names[0] if names and tries.goes_well(module, without(environ, names)) else ""


def part(tries, module, environ, name):
    """The one folder or library of a list without which the import goes well; "" where the whole has to go."""
    parts = [one for one in re.split("[: ]" if name == "LD_PRELOAD" else ":", environ[name]) if one]
    if name not in FOLDERS or not 1 < len(parts) <= MOST_PARTS:
        return ""
    for one in parts:
        left = ":".join(other for other in parts if other != one)
        if tries.goes_well(module, dict(environ, **{name: left})):
            return one
    return ""


def started(tries, module, environ, sites, files):
    """The file that Python runs when it starts, and with which alone the import fails."""
    plain = [word for site in sites for word in ("--site", site)]
    if not files or not sites or not tries.goes_well(module, environ, ["-S"], plain):
        return {}
    for path in files:
        told = tries.lines([module], environ, ["-S"], [*plain, "--run", path])
        if not any(line.get("module") == module and line.get("ok") for line in told):
            part = set_by(tries, module, environ, [*plain, "--run", path], told)
            return {"blame": "file", "what": path, "part": part}
    return {"blame": "files", "what": ""}


def set_by(tries, module, environ, more, told):
    """The variable that such a file sets, and without which the import goes well; "" where it is none of them."""
    names = [name for line in told for name in line.get("sets") or ()][:MOST_PARTS]
    return next((one for one in names if tries.goes_well(module, environ, ["-S"], [*more, "--unset", one])), "")


def compiled(tries, module, environ, empty):
    """Whether it goes well where Python compiles every module anew; what is compiled then serves the other tries."""
    if tries.compiled:
        return {}
    tries.compiled = empty
    environ = without(environ, ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"))
    return {"blame": "compiled", "what": ""} if tries.goes_well(module, environ) else {}


def borrowed(tries, module, environ):
    """Whether it goes well without the user's own packages."""
    well = tries.goes_well(module, environ, ["-s"])
    return {"blame": "user site", "what": ""} if well else {}


def home(tries, module, environ, empty):
    """Whether it goes well with an empty home folder."""
    well = tries.goes_well(module, dict(environ, HOME=empty, PYTHONNOUSERSITE="1"))
    return {"blame": "home", "what": environ.get("HOME", "")} if well else {}


def limit(tries, module, environ):
    """The limits under which it fails."""
    low = limited()
    well = low and tries.goes_well(module, environ, limits=True)
    return {"blame": "limit", "what": " ".join(low)} if well else {}


def blame(tries, module, environ, sites, files):
    """The first change with which the import goes well."""
    with tempfile.TemporaryDirectory(prefix="gpuwhy-") as folder:
        empty, clean = os.path.join(folder, "compiled"), os.path.join(folder, "home")
        os.mkdir(clean)
        return (
            limit(tries, module, environ)
            or compiled(tries, module, environ, empty)
            or variable(tries, module, environ)
            or started(tries, module, environ, sites, files)
            or borrowed(tries, module, environ)
            or home(tries, module, environ, clean)
        )


def uncompiled(sites):
    """Whether no package has compiled modules, which may be spoilt: then ours serve all tries, and none is written."""
    folders = [folder for site in sites for folder in [site, *packages(site)]]
    return bool(folders) and not any(map(has_compiled, folders))


def has_compiled(folder):
    """Whether Python has left compiled modules in a folder."""
    return os.path.isdir(os.path.join(folder, "__pycache__"))


def packages(site):
    """The folders of packages, and those in a folder that several packages share (google, nvidia)."""
    for folder in children(site):
        yield folder
        if not os.path.exists(os.path.join(folder, "__init__.py")):
            for one in children(folder):
                yield one


def children(folder):
    """The folders in a folder that can be packages."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [
        os.path.join(folder, name)
        for name in names
        if name.isidentifier() and os.path.isdir(os.path.join(folder, name))
    ]


def main(python, modules, seconds, uses, count, *paths):
    """Import, and if that fails, look for what is behind it."""
    with tempfile.TemporaryDirectory(prefix="gpuwhy-") as folder:
        tries = Tries(python, float(seconds), uses == "uses")
        if uncompiled(paths[: int(count)]):
            tries.compiled = folder
        go(tries, modules, paths[: int(count)], paths[int(count) :])


def asked():
    """The variables of the user's shell; those that steer the loader come under other names (see host/live.py)."""
    return {name[6:] if name.startswith("ASKED_LD_") else name: value for name, value in os.environ.items()}


def is_late(line, names):
    """Whether others had used the process before it was tried: a package on top of a framework, or a small use."""
    module = line.get("module", "")
    return module.startswith("use:") or any(within(module, one) for one in names if one.startswith("?"))


def within(module, name):
    """Whether a module is the one that a name asks for, or a part of it."""
    return (module.partition(":")[0] + ".").startswith(bare(name).partition(":")[0] + ".")


def is_plain(line, names):
    """Whether a module, or a use of one, has nothing to do with a GPU."""
    words = line.get("module", "").split(":")
    module = words[1] if words[0] == "use" else line.get("module", "")
    return any(within(module, one) for one in names if one.startswith("??"))


def suspect(failed):
    """The failure that is worth more tries: of what is plain, faults come first, and what wants a display never."""
    found = [line for line in failed if not (line.get("outside") and (line.get("plain") or line.get("aside")))]
    found.sort(key=lambda line: bool(line.get("plain")) and not line.get("fault"))
    return found[0].get("module", "") if found else ""


def go(tries, modules, sites, files):
    """The same, once it is known where compiled modules are."""
    environ = asked()
    failed, names = [], modules.split("\n")
    for line in tries.lines(names, environ):
        plain, apart = is_plain(line, names), names[0] == "sys"
        if line.get("ok") is False and is_late(line, names) and len(failed) < MOST_ALONE:
            line = alone(tries, line, environ)
        line.update({"plain": True} if plain else {"aside": True} if apart else {})
        print(json.dumps(line), flush=True)
        if line.get("ok") is False and line.get("how") != "late" and line.get("kind") != "EmptyFolder":
            failed.append(line)
    worst = suspect(failed)
    if worst:
        if worst not in names:
            tries.until = min(tries.until, time.monotonic() + BUDGET)
        found = blame(tries, worst, environ, sites, files)
        print(json.dumps(dict(found, module=worst, tried=True)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
