"""Wires what follows a watched run: its output, its facts and this machine's, put into one report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from gpuwhy import app, logs
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Report
from gpuwhy.reason.watched import (
    by_process,
    kernel_symptoms,
    last_symptom,
    named_libraries,
    stayed_away,
    told_of_failure,
    told_of_silence,
    worth_telling,
)
from gpuwhy.run.around import environ_of, folder_of, with_surroundings
from gpuwhy.run.child import Ended
from gpuwhy.run.observed import observed, python_of
from gpuwhy.run.ranks import error_file, error_text, first_rank, log_folder, rank_logs
from gpuwhy.run.ring import as_printed, merged
from gpuwhy.run.secrets import without_secrets
from gpuwhy.run.target import python_of_command, script_folder
from gpuwhy.run.written import elsewhere
from gpuwhy.settling import settled


class Aftermath(NamedTuple):
    """One watched run: the diagnosis of the machine after it, all facts, the report, and what it printed."""

    diagnosis: app.Run
    facts: Facts
    report: Report
    output: str

    @property
    def worth_telling(self) -> bool:
        """Whether it failed, or succeeded without the GPU that it was built for."""
        return worth_telling(self.facts, self.report)

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
    seen = observed(argv, ended, first_rank(output))
    output = _whole(output, ended) if seen.failed else output
    doubted = named_libraries(output) if seen.failed else ()
    options = app.Options(python=python, folder=".", script=script_folder(argv), crashed=seen.crashed, doubted=doubted)
    diagnosis = app.Run(app.live_host(environ_of(ended, argv), runs=True), options, note)
    run = with_surroundings(seen, ended, diagnosis.host, output, app.live_host())
    facts = msgspec.structs.replace(diagnosis.facts, run=run)
    report = told(output, facts, rank_logs(*folder) if (folder := log_folder(argv, output))[0] else ())
    if stayed_away(facts, report.symptoms):
        silence = told_of_silence(diagnosis.report(), report, facts)
        report = msgspec.structs.replace(silence, symptoms=report.symptoms)
    return Aftermath(diagnosis, facts, settled(report, facts), output)


def _whole(output: str, ended: Ended) -> str:
    """The output; where it tells no end, what the program wrote to files goes on with it."""
    if logs.read_text(output).ending.kind not in ("none", "exit"):
        return output
    return "\n".join([output, *elsewhere(ended, output, folder_of(ended))])


def told(output: str, facts: Facts, logs_of_rank: Sequence[str] = ()) -> Report:
    """What a watched program's output and the facts say together; a rank's own log comes before its launcher's."""
    started, facts = time.monotonic(), by_process(facts)
    text = "\n".join([*logs_of_rank, output, *_of_first_rank(output)])
    code, signal, last = value_or(facts.run.exit, None), value_or(facts.run.signal, ""), last_symptom(facts.run)
    seen = (*kernel_symptoms(facts, output), *((last,) if last else ()))
    read = logs.read((text.encode("utf-8", "replace"),), exit_code=code, signal=signal, seen=seen)
    return told_of_failure(logs.report_on(as_printed(read, text), facts, started=started, where="output"), facts)


def _of_first_rank(output: str) -> list[str]:
    """What torchrun's first failing rank left in its error file."""
    path = error_file(output)
    said = app.live_host().read(path) if path else None
    return [error_text(said.value)] if isinstance(said, Known) else []
