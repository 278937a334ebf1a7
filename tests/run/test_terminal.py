"""On a terminal the program is on a terminal: size, prompts, Ctrl-C, Ctrl-Z and fg, and the order of its output."""

import fcntl
import os
import signal
import struct
import sys
import termios

from .programs import GPUWHY, Terminal, python


def resize(terminal: Terminal, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def test_a_terminal_stays_a_terminal_and_pipes_stay_pipes_beside_it():
    code = "import os, sys\nsys.stderr.write(repr([os.isatty(n) for n in (0, 1, 2)]))"
    line = " ".join([*GPUWHY, "--", sys.executable, "-c", f"'{code}'", "| cat"])
    assert Terminal("sh", "-c", line).end()[1] == b"[True, False, True]"
    code = "import os, sys\nprint([os.isatty(n) for n in (0, 1, 2)], os.get_terminal_size(1).columns)"
    terminal = Terminal("sh", "-c", 'stty cols 93; exec "$@"', "sh", *GPUWHY, "--", *python(code))
    status, seen = terminal.end()
    assert (status, seen) == (0, b"[True, True, True] 93\r\n")


def test_size_changes_are_passed_on():
    code = """if True:
        import os, signal
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
        print('ready', flush=True)
        columns = 0
        while columns != 57:
            signal.sigwait({signal.SIGWINCH})
            columns = os.get_terminal_size(1).columns
            print('size', columns, flush=True)
    """
    terminal = Terminal(*GPUWHY, "--", *python(code))
    terminal.until(b"ready")
    resize(terminal, 30, 111)
    terminal.until(b"size 111")
    resize(terminal, 30, 57)
    terminal.until(b"size 57")
    assert terminal.end()[0] == 0


def test_a_prompt_is_answered_and_a_password_is_not_echoed():
    code = "import getpass\nprint('you are', input('name? ').upper(), len(getpass.getpass('secret: ')))"
    terminal = Terminal(*GPUWHY, "--", *python(code))
    terminal.until(b"name? ")
    terminal.type(b"ada\n")
    terminal.until(b"secret: ")
    terminal.type(b"hunter2\n")
    _, seen = terminal.end()
    assert b"hunter2" not in seen
    assert b"you are ADA 7\r\n" in seen


def test_order_of_both_streams_on_one_terminal():
    code = "import os\nfor n in range(3000):\n    os.write(1 + n % 2, b'%d\\n' % n)"
    terminal = Terminal(*GPUWHY, "--", *python(code))
    assert terminal.end()[1] == b"".join(b"%d\r\n" % n for n in range(3000))


COUNTS = """
import signal, sys, time
got = []
signal.signal(signal.SIGINT, lambda *a: got.append(1))
print('ready', flush=True)
end = time.monotonic() + 20
while not got and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.3)
print('interrupts', len(got))
"""


def test_ctrl_c_reaches_the_program_once():
    terminal = Terminal(*GPUWHY, "--", *python(COUNTS))
    terminal.until(b"ready")
    terminal.type(b"\x03")
    status, seen = terminal.end()
    assert b"interrupts 1\r\n" in seen
    assert status == 0


def test_a_hanging_program_ended_by_ctrl_c():
    terminal = Terminal(*GPUWHY, "--", *python("import time\nprint('ready', flush=True)\ntime.sleep(60)"))
    terminal.until(b"ready")
    terminal.type(b"\x03")
    status, seen = terminal.end()
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGINT
    assert b"KeyboardInterrupt" in seen
    assert b"gpuwhy" not in seen, "who ended it knows why"


def test_terminal_settings_are_as_before():
    line = 'a=$(stty -g); "$@" 2>/dev/null; test "$a" = "$(stty -g)" && echo same'
    terminal = Terminal("sh", "-c", line, "sh", *GPUWHY, "--", *python("import sys; sys.exit(1)"))
    assert terminal.end()[1].endswith(b"same\r\n")


def test_ctrl_z_stops_and_fg_goes_on(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("print('ready', flush=True)\nprint('said', input().upper())\n")
    terminal = Terminal("bash", "--norc", "--noprofile", "-i")
    terminal.type(" ".join(["PS1='$ ';", *GPUWHY, "--", sys.executable, str(program)]).encode() + b"\n")
    terminal.until(b"ready\r\n")
    terminal.type(b"\x1a")
    terminal.until(b"Stopped")
    terminal.type(b"jobs -s | wc -l | sed 's/^/stopped jobs: /'\n")
    terminal.until(b"stopped jobs: 1")
    terminal.type(b"fg\n")
    terminal.until(b"program.py")
    terminal.type(b"hello\n")
    terminal.until(b"said HELLO")
    terminal.type(b"echo code=$?; exit\n")
    terminal.until(b"code=0")
    terminal.end()
