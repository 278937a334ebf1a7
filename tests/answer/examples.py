"""Answers made by hand, one for each thing that gpuwhy can say, and one of another command."""

from pathlib import Path

from gpuwhy.answer.answer import Answer, CauseFound, Fix
from gpuwhy.answer.blocks import pair, pairs
from gpuwhy.answer.contract import read
from gpuwhy.answer.tree import Bar, Command, Document, Heading

GIB = 1 << 30


def answer(verdict="found", status="broken", headline="", causes=(), **more) -> Answer:
    empty = dict.fromkeys(("ruled_out", "undetermined", "crashed", "layers", "unseen"), ())
    given = {**empty, "facts": {}, "gpuwhy": "1.0.0", "took": 0.2, "made_on": "2026-11-18", **more}
    return Answer(status=status, headline=headline, causes=causes, verdict=verdict, **given)


def cause(name, title, confidence, *because, fixes=(), **more) -> CauseFound:
    given = {"subject": "", "explains": (), **more}
    return CauseFound(
        id=name, title=title, confidence=confidence, because=because, fixes=fixes, **given
    )


def fix(text, command="", **more) -> Fix:
    given = {"safe": True, "root": False, "reboot": False, "check": "", **more}
    return Fix(text=text, command=command, **given)


FOLDER = Path(__file__).parent / "reports"
ANSWERS = {file.stem: read(file.read_bytes()) for file in sorted(FOLDER.glob("*.json"))}
HEALTHY, BROKEN = ANSWERS["check-healthy"], ANSWERS["check-broken"]
SURE, UNDECIDED = ANSWERS["explain-sure"], ANSWERS["explain-undecided"]
UNRECOGNISED = ANSWERS["explain-unrecognised"]

FIT = Document(
    (
        Heading(("Llama-2-13B does not fit: 27.5 GiB are needed, the GPU has 24 GiB",), "bad"),
        Bar(
            (("weights", 26033541120), ("KV cache", 3 * GIB), ("activations", GIB // 4)),
            24 * GIB,
            "NVIDIA GeForce RTX 4090",
        ),
        pairs(pair("Do this", "load the weights in 8 bits: 14.9 GiB", Command("--load-in-8bit"))),
    ),
    title="Llama-2-13B",
    made_by="gpuwhy 1.0.0",
)

DOCUMENTS = {"fit": FIT}
