"""Ray's answers: what the process that speaks to a cluster prints, as answers and silent nodes."""

from __future__ import annotations

import msgspec

from gpuwhy.answer.text import plain
from gpuwhy.fleet.answer import Silent
from gpuwhy.fleet.line import clean_name
from gpuwhy.fleet.read import Heard, take


class _Said(msgspec.Struct, frozen=True):
    nodes: dict[str, str] | None = None
    label: str = ""
    line: str = ""
    why: str = ""


class Cluster:
    """The nodes of a cluster and what has come from them."""

    def __init__(self) -> None:
        self.nodes: dict[str, str] = {}  # label → why it gave no answer, "" while nobody knows
        self.heard = Heard()
        self.why = ""  # the last words of a process that could not begin

    def take(self, data: bytes | None, received: float) -> None:
        """One line of that process."""
        try:
            said = msgspec.json.decode(data or b"", type=_Said)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            self._words(data or b"")
            return
        if said.nodes is not None:
            self.nodes = {clean_name(label): plain(why)[:300] for label, why in said.nodes.items()}
        elif said.line:
            self._answer(clean_name(said.label), said.line, received)
        else:
            self.nodes[clean_name(said.label)] = plain(said.why)[:300]

    def _answer(self, label: str, line: str, received: float) -> None:
        before = len(self.heard.answers)
        take(self.heard, line.encode("utf-8", "replace"), label, received)
        if len(self.heard.answers) == before:
            self.nodes[label] = "what it said is no answer"
            return
        self.heard.answers[-1].label = label

    def _words(self, data: bytes) -> None:
        text = plain(data[:400].decode("utf-8", "replace")).strip()
        if text.startswith(
            "gpuwhy: "
        ):  # Ray's own words on an address that nobody answers are many
            self.why = text.removeprefix("gpuwhy: ")

    def silent(self, seconds: float) -> list[Silent]:
        """Every node without an answer, with what is known of why."""
        answered = {one.label for one in self.heard.answers}
        late = f"no answer within {seconds:g} s"
        return [
            Silent(label, why or late) for label, why in self.nodes.items() if label not in answered
        ]
