"""The script as a YAML document, with a position for every error. Imported on demand.

ruamel only composes the document into nodes. It constructs no values, so 0.9999 stays a text until
we parse it as an exact number, and every node keeps its position in the file.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from easeci.errors import Excerpt, ScriptError
from easeci.script.entries import Entry
from easeci.script.keys import KEY_NAMES, KEYS
from easeci.script.problem import Problem, closest, locate, shortened
from easeci.script.syntax import Span

SECTION = "ml"
LONGEST_DOCUMENT = 200_000
DEEPEST_BRACKETS = 200
START_HINT = "`easeci init` writes one to start from."


def read_entries(text: str, source: str) -> dict[str, Entry]:
    """The keys of the ``ml:`` section with their texts, in the order of the document."""
    document = _Document(text.removeprefix("\ufeff"), source)
    return document.entries(document.section(document.compose()))


@dataclass(frozen=True)
class _Scalar:
    """The place of a value that is a scalar of the document."""

    document: _Document
    node: ScalarNode

    def error(self, problem: Problem, text: str) -> ScriptError:
        hint = problem.hint
        if self.node.style == '"' and "/" in text and "\\" not in text:
            hint = "Inside double quotes YAML reads a backslash as an escape: use single quotes."
        span = problem.span or Span(0, len(text))
        line, column = self.node.start_mark.line, self.node.start_mark.column
        raw = self.document.line(line)
        column += 1 if self.node.style in ("'", '"') else 0
        if raw[column : column + len(text)] != text:
            # Folded or escaped: the file does not contain this text literally.
            source = f"{self.document.source}, line {line + 1}, as YAML reads it"
            return locate(Problem(problem.message, span, hint), text, source)
        caret = column + span.start
        excerpt = Excerpt(
            self.document.source, line + 1, caret + 1, raw, caret, max(1, span.end - span.start)
        )
        return ScriptError(problem.message, hint=hint, excerpt=excerpt)


class _Document:
    """A YAML text that is parsed into entries."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.lines = text.splitlines()

    def line(self, number: int) -> str:
        return self.lines[number] if 0 <= number < len(self.lines) else ""

    def error_at(self, mark: Any, message: str, hint: str | None = None) -> ScriptError:
        if mark is None:
            return ScriptError(f"{self.source}: {message}", hint=hint)
        excerpt = Excerpt(
            self.source, mark.line + 1, mark.column + 1, self.line(mark.line), mark.column
        )
        return ScriptError(message, hint=hint, excerpt=excerpt)

    def compose(self) -> Node:
        if len(self.text) > LONGEST_DOCUMENT:
            raise ScriptError(f"{self.source} is longer than {LONGEST_DOCUMENT:,} characters")
        if _deepest_brackets(self.text) > DEEPEST_BRACKETS:
            # YAML's scanner takes time that grows with the square of the depth.
            raise ScriptError(f"{self.source} is nested too deeply")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # for example, about anchors that are used twice
                root = YAML(typ="safe", pure=True).compose(self.text)
        except MarkedYAMLError as error:
            hint = "Indent with spaces, not tabs." if "\\t" in str(error.problem) else None
            message = f"this is not YAML: {error.problem or error.context}"
            raise self.error_at(error.problem_mark or error.context_mark, message, hint) from None
        except ReaderError as error:
            raise ScriptError(
                f"{self.source} is not a text: it has a character that YAML does not allow "
                f"at position {error.position}"
            ) from None
        except RecursionError:
            raise ScriptError(f"{self.source} is nested too deeply") from None
        except (YAMLError, ValueError, TypeError, AttributeError, LookupError):
            # On texts that are not YAML, ruamel sometimes fails with an internal error.
            raise ScriptError(f"{self.source} is not YAML") from None
        if root is None:
            raise ScriptError(f"{self.source} is empty", hint=START_HINT)
        assert isinstance(root, Node)
        return root

    def section(self, root: Node) -> Node:
        """The ``ml:`` section, or the whole document if it has the keys at its top level."""
        if not isinstance(root, MappingNode):
            return root
        named = {key.value for key, _ in root.value if isinstance(key, ScalarNode)}
        sections = [
            (k, v) for k, v in root.value if isinstance(k, ScalarNode) and k.value == SECTION
        ]
        if len(sections) > 1:
            raise self.error_at(sections[1][0].start_mark, f"a second '{SECTION}:' section")
        if sections:
            section = sections[0][1]
            assert isinstance(section, Node)
            return section
        if "condition" not in named:
            raise self.error_at(
                root.start_mark, f"there is no '{SECTION}:' section in this file", START_HINT
            )
        return root

    def entries(self, section: Node) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for key, value in self._pairs(section):
            if not isinstance(key, ScalarNode):
                raise self.error_at(key.start_mark, "a key must be a single word")
            name = key.value
            if name not in KEY_NAMES:
                close = closest(name, KEY_NAMES)
                hint = f"Did you mean '{close}'? " if close else ""
                raise self.error_at(
                    key.start_mark,
                    f"unknown key '{shortened(name)}'",
                    f"{hint}Keys: {', '.join(KEY_NAMES)}.",
                )
            if name in found:
                raise self.error_at(key.start_mark, f"'{name}' is given twice")
            found[name] = self._entry(name, key, value)
        return found

    def _pairs(self, section: Node) -> list[tuple[Node, Node]]:
        """Key and value nodes of a plain mapping or of the paper's list of one-key maps."""
        maps = section.value if isinstance(section, SequenceNode) else [section]
        pairs: list[tuple[Node, Node]] = []
        for node in maps:
            if not isinstance(node, MappingNode):
                raise self.error_at(
                    node.start_mark,
                    "expected 'key: value' here",
                    "The section is a mapping, or a list of items such as - steps: 32",
                )
            pairs.extend(node.value)
        return pairs

    def _entry(self, name: str, key: ScalarNode, value: Node) -> Entry:
        spec = next(k for k in KEYS if k.name == name)
        if spec.is_mapping and isinstance(value, MappingNode):
            return self._mapping(name, value)
        nodes = value.value if spec.is_list and isinstance(value, SequenceNode) else [value]
        scalars: list[ScalarNode] = []
        for node in nodes:
            if not isinstance(node, ScalarNode):
                raise self.error_at(node.start_mark, f"'{name}' takes a single value")
            if not node.value.strip():
                raise self.error_at(key.start_mark, f"'{name}' has no value")
            scalars.append(node)
        return Entry(
            tuple(node.value.strip() for node in scalars),
            tuple(_Scalar(self, node) for node in scalars),
        )

    def _mapping(self, name: str, value: MappingNode) -> Entry:
        """One text for each entry, as if it were written "name: value"."""
        texts: list[str] = []
        for first, second in value.value:
            if not isinstance(first, ScalarNode) or not isinstance(second, ScalarNode):
                raise self.error_at(first.start_mark, f"'{name}' takes single names and values")
            texts.append(f"{first.value.strip()}: {second.value.strip()}")
        if not texts:
            raise self.error_at(value.start_mark, f"'{name}' has no value")
        return Entry(tuple(texts), tuple(_Scalar(self, first) for first, _ in value.value))


def _deepest_brackets(text: str) -> int:
    depths = accumulate({"[": 1, "{": 1, "]": -1, "}": -1}.get(c, 0) for c in text)
    return max(depths, default=0)
