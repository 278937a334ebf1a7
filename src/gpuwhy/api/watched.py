"""What follows a watched run: its output, its facts and the machine's become one Answer."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from gpuwhy.answer.answer import Answer
from gpuwhy.api.machine import Seen, observe, output_of
from gpuwhy.api.text import answer_of
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.log.message import Standing
from gpuwhy.log.read import read
from gpuwhy.look.look import Options
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.machine import Machine
from gpuwhy.machine.recording import RecordingMachine
from gpuwhy.run import judge
from gpuwhy.run.around import environ_of, folder_of, with_surroundings
from gpuwhy.run.child import Ended
from gpuwhy.run.observed import observed, python_of
from gpuwhy.run.ring import as_printed
from gpuwhy.run.target import python_of_command, script_folder
from gpuwhy.run.written import elsewhere, first_rank, of_first_rank


class Watched(msgspec.Struct, frozen=True):
    """A watched run: the answer on it, what was seen, what it printed, and how it was looked at."""

    answer: Answer
    seen: Seen
    output: str
    machine: RecordingMachine
    options: Options

    @property
    def facts(self) -> Facts:
        """All facts, the run's among them."""
        return self.seen.facts

    def recording(self, ended: Ended) -> bytes:
        """Everything for a bug report: the machine's answers, the run's facts, output, samples."""
        points = [{**one, "t": round(one["t"] - ended.began, 3)} for one in ended.samples.points]
        run = {"facts": self.facts.run, "output": self.output, "samples": points}
        return self.machine.dump(msgspec.to_builtins(self.options), run=msgspec.to_builtins(run))


def after_run(
    argv: Sequence[str],
    ended: Ended,
    python: str = "",
    note: Callable[[str], None] = lambda _: None,
) -> Watched:
    """Look at the machine as it is now, and explain how the program ended."""
    output = ended.ring.text().decode("utf-8", "replace")
    ending = read(output).ending
    run = observed(argv, ended, first_rank(output))
    if run.failed and ending.kind in ("none", "exit"):  # it wrote its end to a file
        output = "\n".join([output, *elsewhere(ended, output, folder_of(ended))])
    options = Options(
        python=python or python_of(ended) or python_of_command(argv),
        folder=".",
        script=script_folder(argv),
        crashed=run.crashed,
        doubted=judge.named_libraries(output) if run.failed else (),
    )
    machine = RecordingMachine(LiveMachine(environ_of(ended, argv)))

    def with_run(facts: Facts) -> Facts:
        around = with_surroundings(run, ended, machine, output, LiveMachine())
        return judge.own_kills(replace(facts, run=around))

    seen = observe(machine, options, with_run, note=note)
    before, after = of_first_rank(argv, output)
    text = "\n".join([*before, output, *after])
    return Watched(told(text, seen), seen, output, machine, options)


def told(output: str, seen: Seen) -> Answer:
    """What a watched program's output and the facts, its own among them, say together."""
    facts, run = seen.facts, seen.facts.run
    code, signal = value_or(run.exit, None), value_or(run.signal, "")
    messages = judge.observed_messages(facts, output)
    log = read(output, observed=messages, exit_code=code, signal=signal)
    decided = []
    for one in log.messages:  # what was observed decides; a crash by itself does not
        decides = one.observed and one.id != "signal.segv"
        decided.append(replace(one, standing=Standing.DECIDES) if decides else one)
    log = as_printed(replace(log, messages=tuple(decided)), output)
    answer = replace(answer_of(log, seen, command="run"), not_tried=())  # it is being watched
    if run.failed:
        return judge.after_failure(answer, facts, seen.report)
    return judge.after_success(answer, facts, seen.report)


def again(machine: Machine, options: Options) -> Answer:
    """The answer on a recorded run; of a recording without a run that on its machine."""
    seen = observe(machine, options, judge.own_kills)
    output = output_of(machine)
    return told(output, seen) if output or seen.facts.run.failed else seen.report
