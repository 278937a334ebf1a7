"""Document: whether a text is a file that somebody wrote rather than what a program printed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

LEAST = 10
"""Lines below which a text has no form of its own."""
CODED, WRITTEN = 0.6, 0.8
"""Which part of the lines is code; code, markup or sentences."""
LONG, PROSE = 40, 20
DENSE = 0.16
"""Which part of the words of prose are articles, prepositions and the like."""
STRAY = 0.01
"""Which part of a document may be examples of what a program prints."""
COMPLAINTS = 0.02
"""Sentences in the first person, for each line, above which a text is somebody's letter."""
SHARED, FEW = 0.15, 3
"""How many lines begin with the same name where a program prints it before each."""
FIRST, LAST = 2, 4
"""Lines at the beginning and at the end that tell what failed, if anything did."""
MOST = 1 << 15

_PRINTED = re.compile(
    r"\W{0,3}\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\W{0,3}\d\d:\d\d:\d\d"
    r"|\W{0,2}(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|\W{0,2}[EWIF]\d{4} \d\d:|\[ {0,8}\d+\.\d+\]|Traceback \(most recent"
    r"|\s{0,20}File \"[^\"\n]+\", line \d"
    r"|(?:[a-z_]\w{0,40}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit)(?:: \S|$)"
    r"|[^\s:(]{1,200}(?::\d+(?::\d+)?|\(\d+\)): (?:(?:fatal )?error|warning)"
    r"|(?:\(\S{1,40}\) ?)?[\w.-]{1,40}@[\w.-]{1,60}[: ~].{0,80}[$#] |\$ \w|>>> "
    r"|In \[\d+\]|[A-Z]:\\[^>\n]{0,200}>|PS [A-Z]:"
    r"|\W{0,2}(?:ERROR|WARNING|WARN|INFO|CRITICAL|FATAL|DEBUG)\b[\]: |]"
    r"|Segmentation fault|Killed$|Aborted|Epoch \d|Collecting |Requirement already"
    r"|[EWI] \S{1,200}\.cc:\d+\]"
    r"|terminate called|CMake (?:Error|Warning)|FAILED:|ninja:|make(?:\[\d+\])?:"
    r"|\s{0,20}[|+] .{0,40}(?:Traceback|File \")"
    r"|\s{0,8}\d+ \| |In file included|# ?\d+ +0x|thread '|panic:|\[\w{0,20} ?rank"
    r"|\[\d+/\d+\]|--- |\+[-=]+\+|\|  "
)
"""How a line begins that a program printed."""
_PRINTED_WITHIN = re.compile(
    r"\(core dumped\)|\d%\||\dit/s|: undefined reference|:\d+: \w*Warning: "
    r"|[\"'](?:level|severity|exception|stack_?trace|traceback|stderr|exit_?code)[\"']\s*:",
    re.IGNORECASE,
)
_MARGIN = " >|\"'"
_CODE = re.compile(
    r"\s*(?:#|//|/?\*|@\w|[})\]>]{1,20}[;,]?\s*$|[\"'].{0,400}[\"'][,:)\]}]{0,8}\s*$|- \S"
    r"|</?[a-zA-Z!?]|print\(|std::|__global__"
    r"|(?:c?p?def|async def|fn|func|function|static|const|let|var|public|private|struct|enum"
    r"|union|extern|typedef|inline|template|namespace|using|ctypedef|cimport|import|message"
    r"|service|option|package|syntax|interface|class|return|raise|yield|pass|break|continue"
    r"|assert|throw|goto)\b|from [\w.]+ c?import |default:"
    r"|(?:if|for|while|try|else|elif|except|finally|with|switch|case|catch|do|foreach|endif"
    r"|endforeach|endfunction|set|list|string|elseif|macro)\b.*[:{(;)]\s*$"
    r"|[\w\"'][\w.<>:*&,\"' \[\]]{0,200} ?[+|-]?=(?!=) ?\S|[\w.:<>]{1,200}\(.*[),][;{]?\s*$"
    r"|[\w.:<>]{1,200}\($|[\w\"'.\[\](){}*& -]{1,400},\s*$|[\"']?[\w.$/-]{1,200}[\"']?:(?: \S.*)?$"
    r"|\w{1,80}: [\w\[\].| ]{1,200}(?: = .*)?$)|.*[;{\\]\s*$"
)
_MARKUP = re.compile(
    r"\s*(?:#{1,6} |[*+-] |\d+[.)] |\.[.A-Z\\]|[=~^*\"-]{4,}$|\||<|:\w+:|!\[|\[|\[|```|>)"
)
_SMALL = re.compile(
    r"\b(?:the|an?|is|are|of|to|in|for|and|or|that|this|be|by|with|as|on|it|if|not|can|will|may"
    r"|from|which|your?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]{2,}")
_PERSON = re.compile(
    r"\b(?:I (?:am|have|get|got|try|tried|can|cannot|can't|want|think|need|use|run|see|did|do|was"
    r"|just|also)|I'm|I've|[Mm]y \w+)\b"
)
_OTHER_LANGUAGES = re.compile(
    r"\b(?:ich|mein\w{0,2}|mir|je|j'ai|mon|tengo|me (?:sale|da)|meu|minha|mám|můj|mój)\b"
    r"|我的|我在|我用|у меня|мо[йя]\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(\"{3}|'{3})[\s\S]*?(?:\1|\Z)|/\*[\s\S]*?(?:\*/|\Z)|<!--[\s\S]*?(?:-->|\Z)")
"""What a source says to its reader: examples of output stand there, too."""
_REMARK = ("#", "//", "*")
_NAMED = re.compile(r"(?P<name>[\w./#-]{2,60}?)(?:\[\d+\])?: |(?P<step>#)\d+ |(?P<by>\w+) INFO")
_FAILED = re.compile(
    r"fail|error|abort|killed|denied|not found|cannot|could not|unable|invalid|out of memory|exit",
    re.IGNORECASE,
)
_HEAD = re.compile(r"#{2,4} \S")
_LESSON = re.compile(
    r"\bin this (?:lesson|chapter|section|tutorial|guide|article|post|video|module|exercise)\b"
    r"|\b(?:exercise|lesson|chapter|step) \d|\bon purpose\b|\bfor example\b"
    r"|\bwe (?:will |now )?(?:learn|discuss|explain|look at)\b"
    r"|\b(?:you|we)(?:'ll| will) (?:learn|see)\b"
    r"|\bthe reader\b|\bstudents?\b|\bcommon (?:causes|mistakes|errors)\b",
    re.IGNORECASE,
)
ENTRIES, CHAPTERS = 2, 3
_EXAMPLE = re.compile(
    r"^ *(`{3,}|~{3,})[\s\S]*?(?:^ *\1|\Z)|<(?P<tag>pre|code|table)\b[\s\S]*?(?:</(?P=tag)>|\Z)"
    r"|^(?: {2,}|\t)[^\n]*\n",
    re.MULTILINE | re.IGNORECASE,
)
_CHAPTER = re.compile(
    r"^#{1,5} +\S[^\n]*|^\S[^\n]{2,100}\n(?:={3,}|-{3,}|~{3,}|\^{3,}|\*{3,}|\"{3,})$",
    re.MULTILINE,
)
_REPORTS = re.compile(
    r"bug|issue|problem|expected|actual|current|happen|behavio|reproduc|environment|version"
    r"|system|\blogs?\b|output|trace|describe",
    re.IGNORECASE,
)
"""Headings of somebody's report; of a manual's chapters one in five may sound like them."""
_CLOSES = re.compile(
    r"\s*(?:#|//|/?\*|\"{3}|'{3}|[})\]>]+|<|\.|[*-] "
    r"|(?:return|def|class|fn|func|function|struct|enum|template|static|void)\b)"
    r"|.*[;{},)>]\s*$"
)
_DIRECTIVE = re.compile(r"^\s{0,20}\.\. [\w-]{3,40}::", re.MULTILINE)
_NAME = re.compile(r"\w+(?:(?:\.|::)\w+)+")
_HEADED = re.compile(
    r"(?:CUDA|cuDNN|cuBLAS|NCCL|NVML|GPU|runtime|fatal|internal) error: \S", re.IGNORECASE
)


def is_document(text: str) -> bool:
    """Whether a text is a file that somebody wrote, and nothing in it was printed by a run."""
    text = text[:MOST]
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if len(lines) < LEAST or _named_each(lines) or tells_an_end(lines):
        return False
    bare = [line.rstrip() for line in _QUOTED.sub(_as_remark, text).splitlines() if line.strip()]
    if sum(map(is_printed, bare)) > STRAY * len(bare):
        return False
    coded = sum(bool(_CODE.match(line)) for line in bare)
    prose = _is_prose(text, bare) and not _complains(text, len(bare))
    return coded >= CODED * len(bare) or prose


def is_guide(text: str) -> bool:
    """Whether a text tells under headings what to do in several cases, in nobody's name."""
    lines = [line for line in text[:MOST].splitlines() if line.strip()]
    printed = any(map(is_printed, lines))
    if _is_manual(text) or (_teaches(text) and not printed):
        return True
    heads = [line for line in lines if _HEAD.match(line)]
    if len(heads) < ENTRIES or not _FAILED.search("".join(heads)):
        return False
    if _PERSON.search(text) or printed:
        return False
    return all(_HEAD.match(line) or "`" in line or len(_SMALL.findall(line)) > 1 for line in lines)


def _is_manual(text: str) -> bool:
    """Whether chapters of sentences stand under headings, and printed lines only in examples."""
    prose = _EXAMPLE.sub("", text[:MOST])
    heads = _CHAPTER.findall(prose)
    lines = [line for line in prose.splitlines() if line.strip()]
    few = len(heads) < CHAPTERS or len(lines) < PROSE
    if len(_DIRECTIVE.findall(text)) < ENTRIES and few:
        return False
    reports = sum(bool(_REPORTS.search(head)) for head in heads)
    if (reports > 1 and reports * 5 > len(heads)) or _complains(text, len(lines)):
        return False
    if sum(map(is_printed, lines)) > STRAY * len(lines):
        return False
    return len(_SMALL.findall(prose)) >= DENSE * len(_WORD.findall(prose))


def _teaches(text: str) -> bool:
    """Whether the words are those of sentences, and of a lesson."""
    marks = {found[0].lower() for found in _LESSON.finditer(text)}
    dense = len(_SMALL.findall(text)) >= DENSE * len(_WORD.findall(text))
    return len(marks) >= ENTRIES and dense


def somebody_asks(text: str) -> bool:
    """Whether somebody asks, or tells of what happened to them."""
    return (
        "?" in text or "？" in text or bool(_PERSON.search(text) or _OTHER_LANGUAGES.search(text))
    )


def _as_remark(found: re.Match[str]) -> str:
    return "\n".join("#" for _ in found[0].split("\n"))


def is_printed(line: str) -> bool:
    """Whether a line has the form of one that a program prints; a remark in a source has none."""
    if line.lstrip().startswith(_REMARK) and not line.startswith("#"):
        return False
    if _PRINTED.match(line) or _PRINTED.match(line.lstrip(_MARGIN)):
        return True
    return bool(_PRINTED_WITHIN.search(line))


def _named_each(lines: Sequence[str]) -> bool:
    """Whether one name stands before many lines: that of the program which prints them."""
    named = (one for one in map(_NAMED.match, lines) if one)
    found = Counter(one["name"] or one["step"] or one["by"] for one in named)
    return bool(found) and max(found.values()) >= max(FEW, SHARED * len(lines))


def tells_an_end(lines: Sequence[str]) -> bool:
    """Whether one of the first or last lines tells of a failure."""
    return any(map(_tells, (*lines[:FIRST], *lines[-LAST:])))


def _tells(line: str) -> bool:
    """Whether a line tells of a failure in other form than that of code, or of a sentence."""
    if _HEADED.match(line):
        return True
    if line.startswith("    ") or not _FAILED.search(line) or _CLOSES.match(line):
        return False
    return not _NAME.fullmatch(line) and len(_SMALL.findall(line)) < FEW


def _is_prose(text: str, lines: Sequence[str]) -> bool:
    """Whether nearly all lines are sentences and markup, or the words are those of sentences."""
    if len(lines) >= LONG and sum(map(_written, lines)) >= WRITTEN * len(lines):
        return True
    small = len(_SMALL.findall(text))
    return len(lines) >= PROSE and small >= DENSE * len(_WORD.findall(text))


def _written(line: str) -> bool:
    markup = line.startswith("  ") or bool(_CODE.match(line) or _MARKUP.match(line))
    return markup or len(_SMALL.findall(line)) > 1


def _complains(text: str, lines: int) -> bool:
    return len(_PERSON.findall(text)) > COMPLAINTS * lines
