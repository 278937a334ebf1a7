"""Modules: import names that a file in the wrong place can stand in for."""

import msgspec

from gpuwhy.knowledge.tables import load


class Table(msgspec.Struct, frozen=True):
    """modules.json."""

    frameworks: frozenset[str]  # without these no GPU work begins
    families: dict[str, str]  # useless in part: the framework whose code imports their parts
    stack: frozenset[str]  # what the frameworks and the packages on them import
    inner: frozenset[str]  # installed beside a framework, of which it is made
    namespaces: dict[str, tuple[str, ...]]  # shared by distributions: parts that count (none: all)
    imported_as: dict[str, str]  # distributions whose module has another name
    standard: frozenset[str]  # of Python's library, what frameworks had loaded after their import
    foundation: frozenset[str]  # distributions with libraries that frameworks or programs import


_TABLE = load("modules.json", Table)
FRAMEWORK_MODULES = _TABLE.frameworks
FAMILIES = _TABLE.families
STACK_MODULES = _TABLE.stack
INNER_MODULES = _TABLE.inner
NAMESPACES = _TABLE.namespaces
IMPORTED_AS = _TABLE.imported_as
STANDARD_MODULES = _TABLE.standard
FOUNDATION = _TABLE.foundation
