"""`gpuwhy ask`: a question about versions, cards, variables, numbers or failures, answered from tables."""

from __future__ import annotations

import argparse

from gpuwhy.cli import UsageError, forms


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("ask", help="a question about versions, cards, variables or error numbers")
    parser.add_argument("words", nargs="+", metavar="WORD", help='"which CUDA does TensorFlow 2.10 need?"')
    parser.add_argument("-v", "--verbose", action="count", default=0, help="with sources")
    parser.add_argument("--json", action="store_true", help="the answer as JSON (gpuwhy.report/1)")
    forms.add_forms(parser)
    forms.add_ci(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Read the question, answer, print."""
    from gpuwhy.api.text import answer_of
    from gpuwhy.cli.output import put_answer
    from gpuwhy.log.read import read

    forms.ready(options)
    words = " ".join(options.words)
    if not words.strip():
        raise UsageError('ask what? gpuwhy ask "which CUDA does TensorFlow 2.10 need?"')
    answer = answer_of(read(words), command="ask")
    put_answer(options, answer)
    return answer.exit_code
