"""Answers a typed question, a program's own line, or a program's source, from tables and rows."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from string import Formatter

from msgspec.structs import replace

from gpuwhy.ask import status, versions
from gpuwhy.ask.question import Entry, Outcome, Point, Question, Reply, Typed, expression, known
from gpuwhy.ask.stated import Stated, stated
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message, Standing

LONGEST, SHORT, FEW = 2000, 500, 3
"""Characters of a question: what is longer is a text. Characters and lines of one without a
question mark."""
VERSIONS = ("requires", "runs_on", "fits")
"""The intents that the tables of releases answer."""
BARE = ("release", "brings", "newest")
"""What is answered of a release where nothing beside it is stated."""
VAGUE = frozenset(("title", "generic", "here", "said", "told"))
"""Families of messages that say only that something fails."""
ASKED_FOR = {
    "requires": "the framework and its release, a card, or a CUDA version",
    "runs_on": "the framework's release and the card",
    "fits": "the framework's release, and the CUDA and cuDNN versions",
}


def question(log: Log, text: str) -> Question:
    """What a text asks: its intents, best first, and what it is about."""
    words = _words(text)
    data = known()
    intents = [one.id for one in data.intents if one.asked(words)]
    about = tuple(name for name, one in data.words.items() if expression(one).search(words))
    return Question(tuple(intents), about, words)


def is_question(log: Log) -> bool:
    """Whether a person asks, in a line or two."""
    words = _words(log.excerpt)
    if log.genre == "question":
        return True
    asks = words.endswith("?") or bool(known().expression("asks").match(words))
    return asks and len(words) <= SHORT and log.lines <= FEW


def is_source(log: Log) -> bool:
    """Whether it is a program's source: it begins as one does, and most of its lines are code."""
    lines = [line for line in log.excerpt.split("\n") if line.strip()]
    begins = len(lines) >= FEW and known().expression("begins").match(lines[0])
    code = sum(bool(known().expression("code").match(line)) for line in lines) if begins else 0
    return log.genre == "source" or bool(begins and code >= 0.7 * len(lines))


def is_short(log: Log) -> bool:
    """Whether it is a line or two in which no program says what failed: a title, a few words."""
    short = log.lines <= FEW and len(log.excerpt) <= SHORT
    return short and not any(one.role == "harmless" or is_loud(one) for one in log.messages)


def ask(log: Log, text: str) -> Reply | None:
    """The answer to a typed question; None where no row and no table has it."""
    if len(text) > LONGEST:
        return None
    text = _spelled(text)
    asked, said = question(log, text), stated(log.case, text)
    intents, entries = asked.intents, known().entries
    rows = (entries["claims"], (*entries["notes"], *entries["relations"]))
    for group in rows:
        if (entry := _best(group, asked, said)) and (reply := _filled(entry, said)):
            return reply
    if said.capability and not said.framework and not said.cuda and "requires" not in intents:
        kind, names = versions.of_package(said, asked.words)
        package = [one for one in entries["versions"] if one.id == kind]
        if package and (reply := _filled(package[0], said, versions.names(said) | names)):
            return reply
    if reply := _of_versions(said, intents):
        return reply
    if reply := status.decoded(text, "decode" in intents):
        return reply
    topic = _best(entries["topics"], asked, said)
    if topic and (reply := _filled(topic, said)):
        return reply
    return status.decoded(text, True) or (
        _of_versions(said, ["fits"], alone=True) if "why" not in intents else None
    )


def _spelled(text: str) -> str:
    """Slips of the finger in the words that matter, corrected: "pytroch", "cudn", "nto"."""
    right = known().stated["spelled"].split()

    def corrected(found: re.Match[str]) -> str:
        word = found[0].lower()
        near = get_close_matches(word, right, 1, 0.8) if word not in right else []
        close = near and near[0][0] == word[0] and abs(len(near[0]) - len(word)) < 2
        return near[0] if close else found[0]

    return re.sub(r"\bnto\b", "not", re.sub(r"[A-Za-z]{4,}", corrected, text))


def _of_versions(said: Stated, intents: Sequence[str], alone: bool = False) -> Reply | None:
    """The answer of the tables of releases, by the first intent that is theirs."""
    intent = next((one for one in intents if one in VERSIONS), None)
    kind = versions.verdict(said, intent == "requires") if intent else ""
    if kind in BARE and intent != "requires" and not alone:
        return None
    entry = next((one for one in known().entries["versions"] if one.id == kind), None)
    return _filled(entry, said, versions.names(said, newest=True)) if entry else None


def unanswered(log: Log, text: str) -> Reply:
    """What is missing for an answer, or that this is no question that the tables answer."""
    intents = question(log, text).intents
    missing = next((ASKED_FOR[one] for one in intents if one in ASKED_FOR), "")
    if missing and not {"why", "how_see"}.intersection(intents) and log.mentions_gpu:
        head = f"The question does not say enough: name {missing}"
    else:
        head = "This is no question that gpuwhy can answer"
    return Reply(
        "unanswered",
        head,
        "unanswered",
        points=(
            Point("Versions", command='gpuwhy ask "which CUDA does TensorFlow 2.10 need?"'),
            Point("A failure", command="python train.py 2>&1 | gpuwhy explain"),
            Point("This machine", command="gpuwhy check"),
        ),
    )


def of_messages(log: Log) -> Reply | None:
    """What is known of a program's own lines, where they decide."""
    loud = [one for one in log.messages if is_loud(one)]
    for entry in known().all:
        hit = next((one for one in log.messages if entry.on and _is_of(one, entry.on)), None)
        if hit is None or (entry.alone and any(not _is_of(one, entry.on) for one in loud)):
            continue
        said = stated(log.case, hit.text)
        names = _names_of(log, hit, versions.names(said, entry.release))
        if _holds(entry.when, names) and (reply := _filled(entry, said, names)):
            reply = replace(reply, cause=entry.cause, line=hit.line, quoted=hit.text)
            return replace(reply, verdict="found") if entry.cause else reply
    return None


def _names_of(log: Log, hit: Message, given: dict[str, str]) -> dict[str, str]:
    """What a sentence may name of a message: its fields, its status by name, how the text ends."""
    none = any(one.id == "own.no_gpu" for one in log.messages)
    return {
        **given,
        **{name: value for name, value in hit.fields.items() if value},
        **status.named(hit),
        "what_title": {"cuda": "CUDA", "cudnn": "cuDNN"}.get(hit.get("what").lower(), "It"),
        **({"cudnn_dotted": dotted} if (dotted := status.dotted(hit.get("cudnn"))) else {}),
        **({"gpus": f"{count} GPU{'s' * (count != '1')}"} if (count := hit.get("count")) else {}),
        "ending": log.ending.type or ("line_index_error" if "IndexError" in hit.text else ""),
        "stack": "known" if log.ending.stack else "",
        "watched": "yes" if hit.observed else "",
        "gpu_seen": "0" if none else "",
    }


def of_source(log: Log, text: str) -> tuple[Reply, ...]:
    """Claims that are false, and placeholders, in a program's source: the line of each."""
    found: list[Reply] = []
    lines = text.split("\n")
    for entry in known().all:
        patterns = [expression(one) for one in entry.in_source]
        for number, line in enumerate(lines, 1):
            if any(one.search(line) for one in patterns):
                reply = _filled(entry, stated(log.case, ""))
                found += [replace(reply, line=number, quoted=line.strip())] if reply else []
                break
    return tuple(sorted(found, key=lambda one: one.line))


def _words(text: str) -> str:
    """A question in one line, with plain apostrophes."""
    return " ".join(text.split()).replace("’", "'").lower()


def is_loud(one: Message) -> bool:
    """An error that says what failed, though the program may have gone on after it."""
    told = one.standing not in (Standing.QUOTED, Standing.HARMLESS)
    return one.role == "error" and one.family not in VAGUE and told


def _is_of(message: Message, ids: Iterable[str]) -> bool:
    """Whether it is one of these messages, or of a family: "cudnn."."""
    own = message.id
    return any(own.startswith(one) if one.endswith(".") else own == one for one in ids)


def _best(entries: Iterable[Entry], asked: Question, said: Stated) -> Entry | None:
    """The entry that is about most of what the question is about; of equals the first."""
    fits = [(_fit(entry, asked, said), entry) for entry in entries]
    most, best = max(fits, key=lambda one: one[0])
    return best if most else None


def _fit(entry: Entry, asked: Question, said: Stated) -> float:
    """How much of a question an entry is about; 0 where it is not."""
    plain = {name: getattr(said, name) for name in ("framework", "os", "version", "gpu", "cuda")}
    if entry.when and not _holds(entry.when, {**versions.names(said, entry.release), **plain}):
        return 0
    if any(expression(one).search(asked.words) for one in entry.says):
        return 10
    about = set(asked.about)
    if not entry.about or about.intersection(entry.without):
        return 0
    if not all(about.intersection(one.split("|")) for one in entry.about):
        return 0
    if entry.intents and not set(entry.intents).intersection(asked.intents):
        return 0
    return len(entry.about) + 0.5 * bool(entry.intents) + 0.25 * len(entry.when)


def _holds(when: Mapping[str, str | list[str]], names: Mapping[str, str]) -> bool:
    """Whether every name has its value: "x", one of a list, "~expression", "*" stated, "" not."""

    def fits(value: str, wanted: str | list[str]) -> bool:
        if isinstance(wanted, list):
            return any(fits(value, one) for one in wanted)
        if wanted.startswith("~"):
            return bool(expression(wanted[1:]).search(value))
        return bool(value) if wanted == "*" else value.lower() == wanted.lower()

    return all(fits(names.get(name, ""), wanted) for name, wanted in when.items())


def _filled(entry: Entry, said: Stated, names: Mapping[str, str] | None = None) -> Reply | None:
    """The entry with its names filled in, for the system that is stated."""
    given = dict(names if names is not None else versions.names(said, entry.release))
    system = "windows" if said.os == "windows" else "linux"
    searched = {"windows": "PATH", "": "PATH (Windows) or LD_LIBRARY_PATH (Linux)"}
    given["test"] = known().test("see", said.framework)
    given["built_test"] = known().test("built", said.framework)
    given["search_path"] = searched.get(said.os, "LD_LIBRARY_PATH")
    given["framework_or_program"] = given.get("framework", "The program")

    def fill(template: Typed) -> str | None:
        """The text for the system; None where a name of it has no value."""
        text = template if isinstance(template, str) else template.get(system, "")
        known_all = all(name in given for _, name, _, _ in Formatter().parse(text) if name)
        return text.format(**given) if known_all else None

    headline = next((text for one in entry.headlines if (text := fill(one)) is not None), None)
    if headline is None:
        return None
    points, rows = [], []
    for point in entry.points:
        text, command = fill(point.text), fill(point.command)
        if point.os in ("", said.os or point.os) and text is not None and command is not None:
            points.append(Point(point.label, text, command))
    for row in entry.rows:
        sees, text, command = fill(row.sees), fill(row.text), fill(row.command)
        if row.os in ("", said.os or row.os) and None not in (sees, text, command):
            rows.append(Outcome(sees or "", text or "", command or "", row.means))
    return Reply(
        entry.id,
        headline,
        entry.verdict,
        "",
        tuple(points),
        fill(entry.run) or "",
        tuple(rows),
        entry.source,
        fill(entry.fact) or "",
        os=said.os,
    )
