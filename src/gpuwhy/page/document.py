"""The whole file: head, policy, style, script. Nothing in it is fetched, and no other script can run."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from gpuwhy.page.element import Child, Element, el, escaped


@cache
def asset(name: str) -> str:
    """A file that lies beside this one."""
    return files("gpuwhy.page").joinpath(name).read_text(encoding="utf-8")


@cache
def digest(name: str) -> str:
    """The hash by which the policy admits it."""
    import base64
    import hashlib

    return base64.b64encode(hashlib.sha256(asset(name).encode()).digest()).decode()


def policy() -> str:
    """What the file may do: show itself with this style, run this script, and nothing else."""
    return (
        f"default-src 'none'; style-src 'sha256-{digest('style.css')}'; script-src 'sha256-{digest('script.js')}';"
        " base-uri 'none'; form-action 'none'"
    )


def document(title: str, *body: Child) -> str:
    """A file that opens from disk."""
    main = el("div", *body, class_="gpuwhy")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escaped(policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">\n'
        f"<title>{escaped(title)}</title>\n<style>{asset('style.css')}</style></head>\n"
        f"<body>{main}\n<script>{asset('script.js')}</script></body></html>\n"
    )


def fragment(*body: Child) -> str:
    """A part of another page, a notebook's output: the same style, which holds for nothing else; no script."""
    whole: Element = el("div", *body, class_="gpuwhy gpuwhy-part")
    return f"<style>{asset('style.css')}</style>{whole}"
