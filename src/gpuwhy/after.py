"""Wires what follows a watched run: its output, its facts and this machine's, put into one report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from gpuwhy import app
from gpuwhy.answer.answer import NOT_GPU, SURE, Answer, Fix
from gpuwhy.api import text as texts
from gpuwhy.api.machine import Seen
from gpuwhy.api.seen import seen, watched
from gpuwhy.log.message import Message, Standing
from gpuwhy.log.read import read
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Report
from gpuwhy.model.symptom import Symptom
from gpuwhy.reason.watched import (
    ENDS,
    HANG,
    by_process,
    gpu_builds,
    kernel_symptoms,
    last_symptom,
    named_libraries,
    stayed_away,
)
from gpuwhy.run.around import environ_of, folder_of, with_surroundings
from gpuwhy.run.child import Ended
from gpuwhy.run.observed import observed, python_of
from gpuwhy.run.ranks import error_file, error_text, first_rank, log_folder, rank_logs
from gpuwhy.run.ring import as_printed, merged
from gpuwhy.run.secrets import without_secrets
from gpuwhy.run.target import python_of_command, script_folder
from gpuwhy.run.written import elsewhere

ELSEWHERE = Fix(
    "Run it on a machine with an NVIDIA GPU and its driver, or let it use the CPU", "", True, False, False, ""
)
"""What is left to do where there is no GPU."""
ASKS = ("driver", "container", "wsl", "device")
"""Layers whose causes say that a program asks for a GPU."""


class Aftermath(NamedTuple):
    """One watched run: the diagnosis of the machine after it, all facts, the answer, and what it printed."""

    diagnosis: app.Run
    facts: Facts
    answer: Answer
    output: str

    @property
    def report(self) -> Report:
        """What `prove` weighs, until it reads answers."""
        from gpuwhy.logs import report_v0

        return report_v0(self.answer)

    @property
    def worth_telling(self) -> bool:
        """Whether it failed, or succeeded without the GPU that it was built for; what somebody ended only where
        a cause was found, or where it hung.
        """
        run = self.facts.run
        if not run.failed:
            return stayed_away(self.facts, _symptoms(self.answer))
        sent: tuple[str, ...] = value_or(run.sent, ())
        if not ENDS & set(sent):
            return True
        found = self.answer.first is not None and self.answer.first.id != NOT_GPU
        return found or value_or(run.silent, value_or(run.seconds, 0.0)) >= HANG

    def recording(self, ended: Ended) -> bytes:
        """Everything for a bug report: the machine's answers, the run's facts, its output and samples."""
        hide = self.diagnosis.host.hide
        output = without_secrets(hide(self.output))
        points = [{**point, "t": round(point["t"] - ended.began, 3)} for point in ended.samples.points]
        run = {"facts": msgspec.to_builtins(self.facts.run), "output": output, "samples": points}
        return self.diagnosis.recording(run=run)


def aftermath(
    argv: Sequence[str], ended: Ended, python: str = "", note: Callable[[str], None] = lambda _: None
) -> Aftermath:
    """Look at the machine as it is now, and explain how the program ended."""
    output = merged(ended.rings).decode("utf-8", "replace")
    python = python or python_of(ended) or python_of_command(argv)
    ran = observed(argv, ended, first_rank(output))
    output = _whole(output, ended) if ran.failed else output
    doubted = named_libraries(output) if ran.failed else ()
    options = app.Options(python=python, folder=".", script=script_folder(argv), crashed=ran.crashed, doubted=doubted)
    diagnosis = app.Run(app.live_host(environ_of(ended, argv), runs=True), options, note)
    run = with_surroundings(ran, ended, diagnosis.host, output, app.live_host())
    facts = msgspec.structs.replace(diagnosis.facts, run=run)
    logs = rank_logs(*folder) if (folder := log_folder(argv, output))[0] else ()
    return Aftermath(diagnosis, facts, told(output, facts, seen(diagnosis.report()), logs), output)


def again(run: app.Run) -> Answer:
    """The answer on a recorded run."""
    return told(run.output, run.facts, seen(run.report()))


def _whole(output: str, ended: Ended) -> str:
    """The output; where it tells no end, what the program wrote to files goes on with it."""
    if read(output).ending.kind not in ("none", "exit"):
        return output
    return "\n".join([output, *elsewhere(ended, output, folder_of(ended))])


def told(output: str, facts: Facts, machine: Seen, logs_of_rank: Sequence[str] = ()) -> Answer:
    """What a watched program's output and the facts say together; a rank's own log comes before its launcher's."""
    facts = by_process(facts)
    text = "\n".join([*logs_of_rank, output, *_of_first_rank(output)])
    code, signal, last = value_or(facts.run.exit, None), value_or(facts.run.signal, ""), last_symptom(facts.run)
    also = [_message(one) for one in (*kernel_symptoms(facts, output), *((last,) if last else ()))]
    log = read(text, observed=also, exit_code=code, signal=signal)
    log = as_printed(msgspec.structs.replace(log, messages=tuple(map(_decides, log.messages))), text)
    answer = texts.answer_of(log, watched(facts, log, machine), command="run")
    shown = {**answer.facts, "run": msgspec.to_builtins(facts.run)}
    answer = msgspec.structs.replace(answer, facts=shown)
    return _of_failure(answer, facts) if facts.run.failed else _of_success(answer, facts, machine)


def _decides(one: Message) -> Message:
    """What was observed of the process decides, whatever it printed after."""
    return msgspec.structs.replace(one, standing=Standing.DECIDES) if one.observed else one


def _message(one: Symptom) -> Message:
    return Message(one.signature, 0, one.text, "echo" if one.role == "echo" else "error", one.fields, observed=one.seen)


def _symptoms(answer: Answer) -> tuple[Symptom, ...]:
    return tuple(Symptom(one.id, one.line, one.text, fields=one.fields) for one in answer.symptoms)


def _of_failure(answer: Answer, facts: Facts) -> Answer:
    """A headline also where no cause was found, or where there is no GPU to ask for."""
    run, first = facts.run, answer.causes[0] if answer.causes else None
    if first is None and answer.verdict in ("unrecognised", "healthy"):
        tail = "nothing it printed says why"
        if value_or(run.signal, "") == "SIGKILL" and value_or(run.oom_kills, -1) == 0:
            tail = "the kernel killed nothing for memory meanwhile: somebody, or a job's limit, sent it"
        return _headed(answer, f"{run.how_it_ended}; {tail}", status="unknown", verdict="unrecognised")
    if first and first.id.split(".")[0] in ASKS and isinstance(gpu_present(facts), Absent):
        fact = first.because[0].text
        named = msgspec.structs.replace(first, confidence=max(first.confidence, SURE), fixes=(ELSEWHERE,))
        causes = (named, *answer.causes[1:])
        return _headed(answer, f"{fact}; this machine has no NVIDIA GPU", verdict="found", question=None, causes=causes)
    return answer


def _of_success(answer: Answer, facts: Facts, machine: Seen) -> Answer:
    """Why a program that succeeded did not use the GPU: by the machine, else by its output, else by itself."""
    if not stayed_away(facts, _symptoms(answer)):
        return answer
    names = ", ".join(f"{f.title} {f.version}" for f in gpu_builds(facts, _symptoms(answer)))
    program, place = value_or(facts.run.program, "The program"), value_or(facts.run.wanted_gpu, "")
    asked = f" ({place} asks for a GPU)" if place else ""
    if isinstance(gpu_present(facts), Absent):
        text = f"{program} succeeded on the CPU{asked}: this machine has no NVIDIA GPU"
        return _headed(answer, text, status="healthy", verdict="healthy", causes=(), question=None)
    did = f"{program} succeeded without the GPU{asked}" + (f", though {names} is a build for it" if names else "")
    for one in (machine.report, answer):
        if one.first and one.first.id.partition(".")[0] not in ("memory", "program", "distributed", "other"):
            reason = f"{did}: {one.first.because[0].text}"
            return _headed(answer, reason, status="degraded", verdict="found", causes=one.causes, question=None)
    why = "nothing here prevents it, so the program did not ask for it"
    return _headed(answer, f"{did}; {why}", status="healthy", verdict="healthy", causes=(), question=None)


def _headed(answer: Answer, headline: str, **changes: object) -> Answer:
    return msgspec.structs.replace(answer, headline=headline, **changes)


def _of_first_rank(output: str) -> list[str]:
    """What torchrun's first failing rank left in its error file."""
    path = error_file(output)
    said = app.live_host().read(path) if path else None
    return [error_text(said.value)] if isinstance(said, Known) else []
