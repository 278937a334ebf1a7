"""What a watched program had around it: limits, folder, variables, places, libraries that are put first."""

import resource
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from gpuwhy.facts.fact import Absent, Known, Source, Unknown
from gpuwhy.facts.run import Run
from gpuwhy.facts.system import KernelLine
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.machine import Standing
from gpuwhy.machine.recording import RecordedMachine, RecordingMachine, read_recording
from gpuwhy.run.around import named, put_first, with_surroundings
from gpuwhy.run.child import Ended
from gpuwhy.run.ring import Ring
from gpuwhy.run.sampler import Samples


def ended(*said):
    samples = Samples()
    for one in said:
        samples.take(one)
    return Ended(1, 0, 1.0, 100.0, 0.0, Ring(), samples, 0, (), ())


def around(output="", *said):
    host = LiveMachine({"HOME": "/home/alice", "TMPDIR": "/tmp"})
    return with_surroundings(Run(), ended(*said), host, output)


def test_variables_that_it_had_otherwise():
    seen = {"seen": 7, "folder": "/data", "environ": {"TMPDIR": "/full", "HOME": "/x", "AWS_SECRET": "no"}}
    run = around("", seen)
    soft = next(one.soft for one in run.limits.need() if one.name == "NOFILE")
    assert soft == resource.getrlimit(resource.RLIMIT_NOFILE)[0], "nobody looked: its limits are ours"
    assert run.variables.need() == {"TMPDIR": "/full"}
    assert run.folder.need() == "/data"


def test_places_named_in_the_output_are_looked_at(tmp_path):
    (tmp_path / "out").mkdir()
    run = around(f"OSError: [Errno 28] No space left on device: '{tmp_path}/out/model.pt'")
    place = next(one for one in run.places.need() if one.role == "named in the output")
    assert (place.exists, place.nearest, place.writable) == (False, f"{tmp_path}/out", True)


@pytest.mark.parametrize(
    "text, paths",
    [
        ("OSError: [Errno 30] Read-only file system: '/mnt/x/triton'", ["/mnt/x/triton"]),
        ("    torch.save(m, 'model.pt')\nOSError: [Errno 28] No space left on device", []),
        ("    open('run/log.txt', 'w')\nOSError: [Errno 28] No space left on device", ["run/log.txt"]),
        ("Loading /data/weights.pt\nKeyError: 'x'", []),
    ],
)
def test_which_paths_an_output_names(text, paths):
    assert list(named(text)) == paths


def test_processes_only_where_the_kernel_counts_them_alike():
    class Contained(LiveMachine):
        def ask(self, question, *args):
            if question == "link":
                return Known("pid:[4026532999]", Source("file", "x"))
            return super().ask(question, *args)

    run = with_surroundings(Run(), ended({"end": 1.0, "pids": [41, 42]}), Contained({"HOME": "/home/alice"}), "")
    assert isinstance(run.pids, Unknown)


def test_a_neighbours_line_is_not_ours():
    run = Run(pids=Known((41, 42), Source("call", "sampler")))
    line = KernelLine(1.0, "Xid 31", 31, "")
    ours, others = replace(line, pid=42), replace(line, pid=43)
    assert run.concerns(line)
    assert run.concerns(ours)
    assert not run.concerns(others)
    assert Run().concerns(others)


def test_places_replay(tmp_path):
    live = RecordingMachine(LiveMachine({"HOME": "/home/alice"}))
    with_surroundings(Run(), ended(), live, f"cannot create '{tmp_path}/a'")
    replay = RecordedMachine(read_recording(live.dump({"python": "x"}), "test"))
    assert isinstance(replay.standing(f"{tmp_path}/a").need(), Standing)


HERE = Source("file", "x")


class Machine:
    """A folder with a library, and an extension that needs one of its name."""

    def list(self, path):
        return Known((SimpleNamespace(name="libffi.so.8"), SimpleNamespace(name="notes.txt")), HERE)

    def elf(self, path):
        return Known(SimpleNamespace(needed=("libffi.so.8", "libc.so.6")), HERE)


LINE = "ImportError: /usr/lib/python3.12/lib-dynload/_ctypes.so: undefined symbol: ffi_call, version LIBFFI_BASE_8.0"


@pytest.mark.parametrize(
    "variables", [{"LD_PRELOAD": "/x/libffi.so.8"}, {"LD_LIBRARY_PATH": "/x"}, {"LD_AUDIT": "/x/libffi.so.8"}]
)
def test_the_object_that_needs_it_is_told(variables):
    (one,) = put_first(variables, Machine(), LINE).value
    assert (one.path, one.needed_by) == ("/x/libffi.so.8", "/usr/lib/python3.12/lib-dynload/_ctypes.so")
    assert one.variable in variables


def test_what_nothing_needs_is_told_only_where_it_is_in_every_program():
    assert put_first({"LD_LIBRARY_PATH": "/x"}, Machine(), "KeyError: 'a'").value == ()
    assert [one.needed_by for one in put_first({"LD_PRELOAD": "/x/a.so"}, Machine(), "").value] == [""]
    assert isinstance(put_first({}, Machine(), LINE), Absent)
