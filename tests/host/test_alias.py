"""Alias: user names stay out, and every aliased path leads back to the real one."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuwhy.host.alias import Alias, printable

NAMES = st.text(string.ascii_lowercase + string.digits + "._-é", min_size=3, max_size=12).map(lambda n: f"q{n}")
PARTS = st.lists(st.text(string.ascii_letters + string.digits + "._-+ ~é\udcff", min_size=1, max_size=10), max_size=5)


@given(NAMES, PARTS)
@example("alice", ["alice", "alice"])
@example("alice", ["~", "x"])
@example("lib", ["lib"])
def test_paths_under_home_lead_back(name, parts):
    alias = Alias(f"/home/{name}", name)
    path = "/".join([f"/home/{name}", *parts])
    hidden = alias.hide(path)
    assert hidden.startswith("~")
    assert f"/home/{name}" not in hidden
    assert alias.path(hidden) == path


@given(NAMES, PARTS)
def test_other_paths_lead_back(name, parts):
    alias = Alias(f"/home/{name}", name)
    path = "/".join(["/data", name, *parts])
    assert alias.path(alias.hide(path)) == path


@given(NAMES, NAMES, PARTS)
def test_homes_of_others_are_hidden_and_lead_back(mine, other, parts):
    alias = Alias(f"/home/{mine}", mine)
    path = "/".join(["/home", other, *parts])
    hidden = alias.hide(path)
    assert hidden.startswith("~") if mine == other else hidden.split("/")[2] != other
    assert alias.path(hidden) == path


@given(NAMES, st.text(max_size=40), st.text(max_size=40))
def test_a_path_inside_any_text_is_hidden(name, before, after):
    alias = Alias(f"/home/{name}", name)
    text = f"{before} /home/{name}/venv:/scratch/{name}/x {after}"
    hidden = alias.hide(text)
    assert f"/home/{name}/" not in hidden
    if alias.user:
        assert f"/{name}/" not in hidden


@given(st.text())
def test_every_answer_is_real_unicode(text):
    Alias("/home/alice", "alice").hide(text).encode("utf-8")


@pytest.mark.parametrize(
    "text, hidden",
    [
        ("/home/alice", "~"),
        ("/home/alice/x", "~/x"),
        ("/home/alice2/x", "/home/user-" + "[0-9a-f]{4}" + "/x"),
        ("LD=/home/alice/a:/home/alice/b", "LD=~/a:~/b"),
        ("-L/home/alice/lib", r"-L/home/\$USER/lib"),
        ("/scratch/alice/run", r"/scratch/\$USER/run"),
        ("alice likes /opt/malice/alices", "alice likes /opt/malice/alices"),
        ("/gpfs/home/bob/x", "/gpfs/home/user-" + "[0-9a-f]{4}" + "/x"),
        ("/Users/bob/x", "/Users/user-" + "[0-9a-f]{4}" + "/x"),
        ("/home/ubuntu/x", "/home/ubuntu/x"),
        ("~/lib", r"\\~/lib"),
        ("a:~/lib", r"a:\\~/lib"),
        ("see ~5 minutes", "see ~5 minutes"),
        ("/home/alice/\udcff", r"~/\\udcff"),
    ],
)
def test_hide(text, hidden):
    assert re.fullmatch(hidden, Alias("/home/alice", "alice").hide(text))


def test_root_is_not_replaced_inside_words():
    alias = Alias("/root", "root")
    assert (
        alias.hide("/root/x /rootfs/x /proc/root/x root:root chroot") == "~/x /rootfs/x /proc/root/x root:root chroot"
    )
    assert alias.path("~/x") == "/root/x"


def test_a_literal_tilde_is_not_the_home():
    alias = Alias("/home/alice", "alice")
    assert alias.path(alias.hide("~/lib")) == "~/lib"
    assert alias.path(alias.hide("/tmp/~/lib")) == "/tmp/~/lib"


def test_without_home_or_user_nothing_breaks():
    for alias in (Alias(), Alias("", ""), Alias("/", ""), Alias("relative", "al")):
        assert alias.hide("/opt/x") == "/opt/x"
        assert alias.path("/opt/x") == "/opt/x"


def test_the_name_comes_from_the_home_folder_where_user_is_not_set():
    assert Alias("/home/alice", "").hide("/scratch/alice/x") == "/scratch/$USER/x"


def test_printable_keeps_good_text():
    assert printable("é✓") == "é✓"
    assert printable("\udc80") == "\\udc80"


def test_a_tilde_of_the_machines_own_comes_back_wherever_it_stands():
    alias = Alias("/home/ada", "ada")
    for path in ("/home/ada/ ~", "~/x", "/a b/ ~/c", "\\~/x", "/x/ \\~", "/x/~y", "/x/ ~y"):
        assert alias.path(alias.hide(path)) == path, path


WINDOWS = Alias("C:\\Users\\Jane Doe", "Jane Doe")


@pytest.mark.parametrize(
    "text, hidden",
    [
        ("C:\\Users\\Jane Doe\\env", "~\\env"),
        ("c:/users/jane doe/env", "~/env"),
        ("'C:\\\\Users\\\\Jane Doe\\\\x'", "'~\\\\x'"),
        ("C:\\Windows;C:\\Users\\Jane Doe\\bin", "C:\\Windows;~\\bin"),
        ("D:\\Jane Doe\\x", "D:\\$USER\\x"),
        ("C:\\Users\\Public\\x", "C:\\Users\\Public\\x"),
    ],
)
def test_a_windows_home_in_either_slash_and_any_case(text, hidden):
    assert WINDOWS.hide(text) == hidden


def test_another_windows_user_is_hidden_whole():
    said = WINDOWS.hide('File "C:\\Users\\Karl Otto\\x.py", line 1')
    assert "Karl" not in said
    assert "Otto" not in said
    assert said.endswith('\\x.py", line 1')


@pytest.mark.parametrize("path", ["C:/Users/Jane Doe/env/x", "D:/Jane Doe/x", "C:/Users/karl/x", "C:/Windows"])
def test_windows_paths_lead_back(path):
    assert WINDOWS.path(WINDOWS.hide(path)) == path
