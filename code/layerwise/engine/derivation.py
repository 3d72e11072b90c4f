"""Statistics as tables `{key: rule}`: how a document is made from the numbers it rests on.

A rule gives a number, a label, a list or an object of them; or a table of further rules, where the
keys are known only when it looks at the numbers. In a table it is a function of an `Entry` (or, in
a document over several files, of the `Evidence`). Where rules share more than that, a section
gives them: a function of the entry that returns `{key: rule}`, rules without arguments that close
over it. A section reads nothing itself, its rules do when they run. Both serve published numbers,
measured ones and those of a reader's own model.

What a statistic rests on is what its rule reads. So a rule reads every number that can change its
result, also where the first of them decides: `count`, `any_of` and `all_of` do.
"""

import copy
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import getitem
from typing import Any, Literal

import numpy as np

from layerwise.engine.evidence import Broken, Entry, Evidence, Recording
from layerwise.engine.published import Cell, NotMeasured, Published, leaves, pointer, split_pointer
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject
from layerwise.statistics.bootstrap import Draws

Function = Callable[..., Any]
EVERY = "*"
# Numbers; constants that the methods typed, and no number; names of entries alone; nothing read.
RestsOn = Literal["numbers", "settings", "names", "nothing"]


@dataclass(frozen=True)
class Rule:
    """A function with the words that say what it gives; its name is its table's key.

    A table may hold the function itself where its docstring has these words.
    """

    function: Callable[..., Any]
    says: str

    def __call__(self, *entries: Any, **options: Any) -> Any:
        return self.function(*entries, **options)


Rules = Mapping[str, Function]  # by key; a `Rule` is such a function too
Section = Callable[[Any], Rules]  # of an entry; its rules take no argument


def words_of(rule: Any) -> str:
    """Return the words of a rule: those it carries, else the first paragraph of its docstring.

    A bound rule has the words of the rule that was bound. The verb of a docstring is left out, so
    that the words say what the number is. Empty where there are none.
    """
    if isinstance(rule, partial):
        return words_of(rule.func)
    says = rule.says if hasattr(rule, "says") else inspect.getdoc(rule) or ""
    sentence = " ".join(says.partition("\n\n")[0].split())
    return sentence.removeprefix("Return ").removeprefix("Say ").removesuffix(".")


def module_of(rule: Any) -> str:
    """Return the name of the module that a rule is written in."""
    if isinstance(rule, partial):
        return module_of(rule.func)
    return module_of(rule.function) if isinstance(rule, Rule) else str(rule.__module__)


def bind_each(rule: Function, groups: Mapping[str, Any]) -> dict[str, Function]:
    """Return a table of rules by group: the rule, or a section, bound to each of them."""
    return {name: partial(rule, group) for name, group in groups.items()}


def count(
    entries: Iterable[Any],
    number: Callable[[Any], Any] | None = None,
    *,
    named: Callable[[Any], Any] | None = None,
) -> int:
    """Count entries, so that the count rests on a number of each.

    The length of a list says how long the published one is, not how much of it was measured.

    Arguments:
        number: reads it; entries that are numbers themselves need none.
        named: the name of an entry; those of one name count once.
    """
    if isinstance(entries, Entry):
        entries = entries[:]  # as a list: an object would give its names, and no number
    n, names = 0, set()
    for entry in entries:
        n += 1
        if number is not None:
            number(entry)
        if named is not None:
            names.add(named(entry))
    return n if named is None else len(names)


def any_of(flags: Iterable[Any]) -> bool:
    """Return whether some are true, with all of them read: `any` stops at the first."""
    return any(list(flags))


def all_of(flags: Iterable[Any]) -> bool:
    """Return whether all are true, with all of them read: `all` stops at the first false one."""
    return all(list(flags))


NOWHERE: Mapping[str, Cell] = {}  # the places of a document that no file of the papers has


@dataclass(frozen=True)
class Document:
    """The rules of one document.

    Attributes:
        reads: a published file, or a function of the evidence that gives an entry (or a view of
            several, then with `places`); None where the rules read several files and are given
            the evidence itself.
        rules: sections or tables by the place they are about: "" is the whole, "results/*" every
            entry of `results`, which they are given (an underscore begins the name of what is
            said about the other entries, and `*` leaves it out). Keys are those of the document,
            "a/b" for what is nested.
        places: where the papers' files have the document, {key: cell} or a function of the
            evidence that gives it, `NOWHERE` if none has it; by default all of it is at the place
            that the rules read.
        derived_only: whether the document holds what its rules give and nothing else; otherwise it
            starts as what is published at its places, before statistics take theirs.
    """

    reads: str | Callable[[Evidence], Any] | None
    rules: Mapping[str, Section | Rules]
    places: Mapping[str, Cell] | Callable[[Evidence], Mapping[str, Cell]] | None = None
    derived_only: bool = False

    def source(self, evidence: Evidence) -> Any:
        """Return what the rules read."""
        if self.reads is None:
            return evidence
        if not isinstance(self.reads, str):
            return self.reads(evidence)
        file, _, key = self.reads.partition("#")
        return reduce(getitem, split_pointer(key), evidence[file])

    def cells(self, evidence: Evidence) -> Mapping[str, Cell]:
        """Return the cells where the papers' files have the document, by its keys."""
        if self.places is None:
            return {} if self.reads is None else {"": self.source(evidence).cell}
        return self.places(evidence) if callable(self.places) else self.places

    def thunks(self, evidence: Evidence) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Yield JSON Pointer and rule, bound to its entry, of every statistic."""
        source = self.source(evidence)
        for place, rules in self.rules.items():
            for key, entry in _places(source, place.split("/") if place else []):
                for name, rule in _bound(rules, entry).items():
                    yield key + pointer(*name.split("/")), rule


def _bound(rules: Section | Rules, entry: Any) -> Rules:
    """Return rules without arguments: those of a section, or of a table, for an entry."""
    if callable(rules):
        return rules(entry)
    return {name: partial(rule, entry) for name, rule in rules.items()}


# the documents of one analysis; which there are can depend on what was measured
Analysis = Mapping[str, Document] | Callable[[Evidence], Mapping[str, Document]]


@dataclass(frozen=True)
class Evaluated:
    """A statistic: what its rule gave, and what it read for it."""

    key: str
    value: Any
    inputs: list[str]
    rests_on: RestsOn


@dataclass
class Derivation:
    """The documents of one analysis.

    Attributes:
        documents: {name: document}, with the keys of the published files.
        derived: {"document:/pointer": [published file and key, ...]}, what was recomputed; of a
            list or an object as a whole.
        given: {"document:/pointer": "file#/pointer"}: what is shown from there on.
        undefined: {"document:/pointer": reason}: all that it needs is there, and gives no value.
        missing: {"document:/pointer": "file#/pointer"}: what was not measured and is needed.
    """

    documents: dict[str, Any] = field(default_factory=dict)
    derived: dict[str, list[str]] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def whole(self) -> dict[str, JsonObject]:
        """Return the documents, where a gap would have no page to be explained on.

        Raises:
            LayerwiseError: with the reason, if a statistic was measured and is without a value.
        """
        for reason in self.undefined.values():
            raise LayerwiseError(reason)
        return self.documents


def derive(table: Analysis, evidence: Evidence) -> Derivation:
    """Return every statistic of one analysis.

    A count of names alone is none. Over measured numbers a statistic stays out that needs one
    which was not measured; a constant of the method (no number was read) is there where anything
    else of its document is. One that the numbers do not have (a test of an empty group, say) is
    undefined, and what was published in its place is not shown.
    """
    derivation = Derivation()
    for name, document in documents_of(table, evidence).items():
        derivation.documents[name] = _shown(document, evidence, name, derivation.given)
        statistics = list(_evaluate(document, evidence, name, derivation))
        # What read no number (a setting, a constant of the method) says nothing by itself: it is
        # shown beside numbers, and alone it would pass an empty document off as a measured one.
        is_measured = any(statistic.rests_on == "numbers" for statistic in statistics)
        for statistic in statistics:
            is_constant = statistic.rests_on in ("settings", "nothing")
            has_others = is_measured or not evidence.measured
            if statistic.rests_on == "numbers" or (is_constant and has_others):
                _set(derivation.documents[name], statistic.key, statistic.value)
                derivation.derived[f"{name}:{statistic.key}"] = statistic.inputs
        for place in derivation.undefined:
            owner, _, key = place.partition(":")
            if owner == name and not evidence.measured:
                _blank(derivation.documents[name], key)
    return derivation


@dataclass(frozen=True)
class Origin:
    """The source of a number: a rule bound to its entry, and the way from its value to the number.

    Attributes:
        rule: the rule, whose words say what is computed.
        compute: gives the number.
    """

    rule: Callable[..., Any]
    compute: Callable[[], Any]


def rule_at(document: Document, evidence: Evidence, key: str) -> Origin | None:
    """Return what gives the value at a JSON Pointer; None for what no rule derives."""
    rules = {
        start: compute
        for start, compute in document.thunks(evidence)
        if f"{key}/".startswith(f"{start}/")
    }
    if not rules:
        return None
    start = max(rules, key=len)  # a table of rules may have a rule of its own beside it
    rule = compute = rules[start]
    for name in split_pointer(key[len(start) :]):
        value = compute()
        below = value[int(name)] if isinstance(value, list) else value[name]
        if callable(below):  # a rule of a table; without words of its own it has the table's
            rule, compute = below if words_of(below) else rule, below
        else:
            compute = partial(_part, compute, pointer(name))
    return Origin(rule, compute)


def documents_of(table: Analysis, evidence: Evidence) -> Mapping[str, Document]:
    """Return the documents of a table, over these numbers."""
    return table(evidence) if callable(table) else table


def _evaluate(
    document: Document, evidence: Evidence, name: str, derivation: Derivation
) -> Iterator[Evaluated]:
    """Yield every statistic of a document that has a value; note why the others have none."""
    # The list grows in front while it is worked off: a rule that gives a table of further rules is
    # replaced by these, each a statistic with a record of its own. What the outer rule read only to
    # find their keys is none of their inputs.
    pending = list(document.thunks(evidence))
    while pending:
        key, compute = pending.pop(0)
        try:
            with evidence.recording() as read:
                value = compute()
        except NotMeasured as error:
            # nobody's fault: it stays out, and `missing` names the first cell that it lacked
            if error.cell is not None:
                derivation.missing[f"{name}:{key}"] = "#".join(error.cell)
            continue
        except LayerwiseError as error:
            # Printed files are pinned, so a part that is not there is an error of ours; a measured
            # source may lack it.
            if isinstance(error, Broken) and not evidence.measured:
                raise
            derivation.undefined[f"{name}:{key}"] = str(error)
            continue
        except TypeError as error:  # text for a number
            if wrong := _not_a_number(evidence, read.cells):
                raise wrong from error
            raise
        except (ArithmeticError, ValueError) as error:
            by_zero = isinstance(error, ZeroDivisionError)  # each Python has words of its own
            why = "division by zero" if by_zero else error
            derivation.undefined[f"{name}:{key}"] = f"it cannot be computed ({why})"
            continue
        if isinstance(value, Mapping) and value and all(map(callable, value.values())):
            pending[:0] = [(key + pointer(part), rule) for part, rule in value.items()]
            continue
        yield Evaluated(key, plain(value), read.inputs, _rests_on(read, evidence))


def _rests_on(read: Recording, evidence: Evidence) -> RestsOn:
    """Return the kind of what a rule read, which decides where its statistic may stand."""
    if read.cells:
        return "settings" if read.cells <= evidence.cells.kept else "numbers"
    return "names" if read.names else "nothing"


def _not_a_number(evidence: Evidence, cells: Collection[Cell]) -> LayerwiseError | None:
    """Return the error of cells that hold no number; None where all hold one."""
    wrong = [cell for cell in sorted(cells) if not isinstance(evidence.cells[cell], int | float)]
    if not wrong:
        return None
    values = "; ".join(f"{key!r} of {file}: {evidence.cells[file, key]!r}" for file, key in wrong)
    return LayerwiseError(
        f"published/: a number must stand where a rule computes, found {values:.300}; restore it, "
        "or measure it again"
    )


def _places(entry: Any, path: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield key and entry of every place that a path with `*` names."""
    if not path:
        yield "", entry
        return
    first, *further = path
    if first != EVERY:
        names: Collection[str | int] = [first]
    elif entry.is_object:
        names = [name for name in entry if not name.startswith("_")]
    else:
        names = range(len(entry))
    for name in names:
        for key, below in _places(entry[name], further):
            yield pointer(name) + key, below


def _shown(document: Document, evidence: Evidence, name: str, given: dict[str, str]) -> Any:
    """Return what is published at a document's places, and note in `given` where that is."""
    shown: Any = {}
    if document.derived_only:
        return shown
    for key, (file, cell) in document.cells(evidence).items():
        given[f"{name}:{key}"] = f"{file}#{cell}"
        part = copy.deepcopy(evidence.part(file, cell))
        if key:
            _set(shown, key, part)
        else:
            shown = part
    return shown


def _set(document: Any, key: str, value: Any) -> None:
    *path, last = split_pointer(key)
    node = document
    for name in path:
        node = node[int(name)] if isinstance(node, list) else node.setdefault(name, {})
    node[int(last) if isinstance(node, list) else last] = value


def _blank(document: Any, key: str) -> None:
    """Nothing in place of what was published there."""
    *path, last = split_pointer(key)
    node = document
    for name in path:
        node = node[int(name)] if isinstance(node, list) else node.get(name, {})
    if isinstance(node, list):
        node[int(last)] = None
    elif last in node:
        node[last] = None


def evidence_of(cells: Published, draws: Draws, analyses: Mapping[str, Analysis]) -> Evidence:
    """Return the evidence of one source; a number that nobody measured is derived by its rule."""
    evidence = Evidence(cells, draws)
    if evidence.measured:
        rules: dict[Cell, Callable[[], Any]] = {}
        for table in analyses.values():
            for document in documents_of(table, evidence).values():
                rules |= derived_cells(document, evidence)
        evidence.rules = rules
    return evidence


def derived_cells(document: Document, evidence: Evidence) -> dict[Cell, Callable[[], Any]]:
    """Return the published cells that a document's rules give, each with its rule."""
    rules: dict[Cell, Callable[[], Any]] = {}
    for key, (file, start) in document.cells(evidence).items():
        for statistic, compute in document.thunks(evidence):
            if f"{statistic}/".startswith(f"{key}/"):
                # A rule may give an object of several cells; each gets the whole rule and the way
                # from its value to the cell. Nothing is computed before a cell is read.
                at = start + statistic[len(key) :]
                for below, _ in leaves("", evidence.part(file, at)):
                    rules[file, at + below] = partial(_part, compute, below)
    return rules


def _part(compute: Callable[[], Any], key: str) -> Any:
    value = compute()
    for name in split_pointer(key):
        value = value[int(name)] if isinstance(value, list) else value[name]
        if callable(value):
            value = value()
    return plain(value)


def plain(value: Any) -> Any:
    """Return a number of NumPy as Python's own."""
    return value.item() if isinstance(value, np.generic) else value
