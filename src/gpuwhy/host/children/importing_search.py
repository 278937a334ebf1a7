"""Where importing.py looks for modules, and what it runs first: as Python at its start, or one file of that alone.

Standard library only, Python 3.5 and newer.
"""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))


def search(argv):
    """What is searched, the folders of --site alone where they are told; the variables that a file of --run changed."""
    here = os.path.realpath(os.getcwd())
    inside = [os.path.realpath(sys.prefix) + os.sep, os.path.realpath(sys.base_prefix) + os.sep]
    away = [HERE] if here.startswith(tuple(inside)) else [HERE, here]
    sys.path[:] = [one for one in sys.path if os.path.realpath(one or ".") not in away]
    sites = [argv[at + 1] for at, word in enumerate(argv) if word == "--site"]
    for site in sites:
        sys.path.append(site)
        sys.path.extend(listed(site))
    return steered(argv, sites[0] if sites else "")


def steered(argv, site):
    """The variables that the file of --run changed; those of --unset have their old value again."""
    before = dict(os.environ)
    if "--run" in argv:
        run(given(argv, "--run"), site)
    changed = [name for name in sorted({*before, *os.environ}) if before.get(name) != os.environ.get(name)]
    back = given(argv, "--unset")
    if back:
        os.environ.pop(back, None)
        os.environ.update({back: before[back]} if back in before else {})
    return changed


def listed(site):
    """The folders that plain lines of .pth files name."""
    out = []
    for name in sorted(os.listdir(site)):
        if name.endswith(".pth"):
            try:
                with open(os.path.join(site, name)) as file:
                    out += folders(file.read(), site)
            except (OSError, ValueError):
                continue
    return out


def folders(text, site):
    """The folders that plain lines of a .pth file name."""
    paths = [os.path.join(site, line.strip()) for line in text.splitlines() if line.strip()]
    return [path for path in paths if os.path.isdir(path)]


def run(path, site):
    """One file as Python runs it when it starts."""
    with open(path) as file:
        text = file.read()
    if path.endswith(".pth"):
        named = folders(text, site)
        sys.path[:] = [one for one in sys.path if one not in named]  # its own lines put them where they belong
        for line in text.splitlines():
            if line.startswith(("import ", "import\t")):
                exec(line, {"sitedir": site})
            else:
                sys.path.extend(folders(line, site))
    else:
        exec(compile(text, path, "exec"), {"__name__": "sitecustomize", "__file__": path})


def given(argv, option):
    """The word behind an option."""
    return argv[argv.index(option) + 1] if option in argv else ""
