"""The gate: a release without dnf, and a variable that cmd sets without quotes."""

import pytest

from gpuwhy.model import on
from gpuwhy.shell.place import Place, place_of
from gpuwhy.shell.render import rendered
from gpuwhy.symptoms.reader import read_text

BARE = on.cmd("set KMP_DUPLICATE_LIB_OK=TRUE")


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("cmd", "set KMP_DUPLICATE_LIB_OK=TRUE"),
        ("powershell", '$env:KMP_DUPLICATE_LIB_OK = "TRUE"    # in PowerShell'),
    ],
)
def test_each_shell_sets_a_variable_in_its_own_words(prompt, said):
    assert rendered(BARE, Place("windows", prompt=prompt)) == said


def test_lines_of_cmd_that_belong_together_stay():
    steps = on.cmd("set DISTUTILS_USE_SDK=1\npip install .")
    assert rendered(steps, Place("windows", prompt="cmd")) == str(steps)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("CentOS Linux release 7.9.2009 (Core)\n", "yum"),
        ("3.10.0-1160.el7.x86_64\n", "yum"),
        ("Red Hat Enterprise Linux Server 7.6\n", "yum"),
        ("Red Hat Enterprise Linux release 8.7\n", "dnf"),
        ("Rocky Linux 9.3\n", "dnf"),
    ],
)
def test_release_seven_has_no_dnf(text, tool):
    command = rendered(on.host("sudo apt install nvidia-container-toolkit"), place_of(None, read_text(text)))
    assert command == f"sudo {tool} install nvidia-container-toolkit"


def test_the_driver_of_release_seven_is_one_command():
    command = rendered(
        on.driver("sudo ubuntu-drivers install"), place_of(None, read_text("CentOS Linux release 7.9\n"))
    )
    assert command == "sudo yum install nvidia-driver-latest-dkms"
