"""What only Windows has, seen from any system: its registry, and what its `os` lacks."""

import sys
import types
from contextlib import contextmanager

import pytest

from gpuwhy.facts.fact import Absent, Unknown
from gpuwhy.machine import live, windows
from gpuwhy.machine.live import LiveMachine

VALUES = {"Path": "C:\\Users\\jane\\x", "Count": 3, "Many": ["a", "b"], "Raw": b"\x01"}
KEYS = {"SOFTWARE\\NVIDIA": (VALUES, ["Global"])}


@pytest.fixture
def winreg(monkeypatch):
    module = types.ModuleType("winreg")

    @contextmanager
    def open_key(hive, name, reserved, access):
        if name == "SECRET":
            raise PermissionError(5, "Access is denied")
        if name not in KEYS:
            raise FileNotFoundError(2, "not there")
        yield name

    module.HKEY_LOCAL_MACHINE, module.HKEY_CURRENT_USER = "HKLM", "HKCU"
    module.KEY_READ = module.KEY_WOW64_64KEY = 0
    module.OpenKey = open_key
    module.QueryInfoKey = lambda name: (len(KEYS[name][1]), len(KEYS[name][0]), 0)
    module.EnumValue = lambda name, number: (*list(KEYS[name][0].items())[number], 1)
    module.EnumKey = lambda name, number: KEYS[name][1][number]
    monkeypatch.setitem(sys.modules, "winreg", module)


def test_a_key_with_its_values_as_text(winreg):
    found = windows.registry("HKLM/SOFTWARE/NVIDIA").need()
    assert found.values == {"Path": "C:\\Users\\jane\\x", "Count": "3", "Many": "a\nb"}
    assert found.keys == ("Global",)


def test_keys_that_do_not_answer(winreg):
    assert isinstance(windows.registry("HKLM/SOFTWARE/Nothing"), Absent)
    assert isinstance(windows.registry("HKCR/x"), Unknown)
    denied = windows.registry("HKLM/SECRET")
    assert isinstance(denied, Unknown)
    assert "denied" in denied.reason


def test_variables_are_found_in_any_case(monkeypatch):
    monkeypatch.setattr(live, "WINDOWS", True)
    given = {"Path": "C:\\Windows;D:\\bin", "USERPROFILE": "C:\\Users\\jane"}
    seen = LiveMachine({**given, "SystemRoot": "C:\\Windows"}).environ().need()
    assert seen == {"PATH": "C:\\Windows;D:\\bin", "SYSTEMROOT": "C:\\Windows"}
