"""How actions are typed at each place."""

import pytest

from gpuwhy.advise.place import Place
from gpuwhy.advise.remedy import Action, Install, Remedy, Remove, Restart, Run, Set, Unset
from gpuwhy.advise.say import can_be_typed, command, say

LINUX = Place(os="linux")
CMD = Place(os="windows", shell="cmd")
POWERSHELL = Place(os="windows", shell="powershell")
NOTEBOOK = Place(os="linux", shell="notebook")
UV = Place(os="linux", manager="uv")
FEDORA = Place(os="linux", distribution="fedora")
DRIVER = Install((), manager="driver")


@pytest.mark.parametrize(
    ("action", "place", "typed"),
    [
        (Set("A", "1"), LINUX, "export A=1"),
        (Set("A", "1"), CMD, "set A=1"),
        (Set("A", "1"), POWERSHELL, '$env:A = "1"'),
        (Set("A", "1"), NOTEBOOK, "%env A=1"),
        (Set("A", "1"), Place(shell="dockerfile"), "ENV A=1"),
        (Set("PATH", "/x", kind="path"), LINUX, "export PATH=/x:$PATH"),
        (Set("LD_LIBRARY_PATH", "/x", kind="path"), CMD, ""),
        (Unset(("A", "B")), LINUX, "unset A B"),
        (Unset(("A",)), CMD, "set A="),
        (Unset(("A",)), POWERSHELL, "Remove-Item Env:A"),
        (Install(("torch",), upgrade=True), LINUX, "pip install -U torch"),
        (Install(("torch",), reinstall=True), UV, "uv pip install --reinstall torch"),
        (Install(("a>=1,<2",)), LINUX, 'pip install "a>=1,<2"'),
        (Install(("torch",)), NOTEBOOK, "%pip install torch"),
        (Install(("torch",)), Place(manager="poetry"), "poetry add torch"),
        (Install(("cudnn",), manager="conda"), LINUX, "conda install -c conda-forge cudnn"),
        (Install(("make",), manager="system"), FEDORA, "sudo dnf install make"),
        (DRIVER, FEDORA, "sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda"),
        (DRIVER, Place(os="linux", wsl=True), ""),
        (DRIVER, CMD, ""),
        (Remove(("torch",)), LINUX, "pip uninstall -y torch"),
        (Remove(files=("/usr/lib/x.so",)), LINUX, "sudo rm -rf /usr/lib/x.so"),
        (Restart("process", "42"), LINUX, "kill 42"),
        (Restart("process", "42"), CMD, "taskkill /F /PID 42"),
        (Restart("machine"), CMD, "shutdown /r /t 0"),
        (Restart("container", "web"), Place(engine="podman"), "podman restart web"),
        (Run({"linux": "a", "windows": "b"}), CMD, "b"),
        (Run({"linux": "a"}), CMD, ""),
    ],
)
def test_an_action_is_typed_as_its_place_has_it(action: Action, place: Place, typed: str) -> None:
    assert command(action, place) == typed


def test_a_command_of_another_system_cannot_be_typed() -> None:
    assert not can_be_typed(Remedy((Run({"linux": "sudo modprobe nvidia"}),)), CMD)


def test_what_is_done_on_the_host_says_so() -> None:
    remedy = Remedy((Run("nvidia-smi", where="host"),), text="Load the module")
    assert say(remedy, Place(os="linux", container=True)).text == "On the host: load the module"


def test_who_has_no_root_asks_for_it() -> None:
    remedy = Remedy((DRIVER,), text="Install the driver", root=True)
    assert say(remedy, Place(os="linux", root=False)).text.startswith("Ask the administrator")
