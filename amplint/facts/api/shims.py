"""Which places of a module choose between old and new torch, and which of them only old torch reaches.

Knows nothing of rules: a shim is code that somebody wrote on purpose, so most rules leave it alone.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.api.torch_gates import Arm, Gate, gate
from amplint.facts.api.uses import Role
from amplint.facts.program.branches import leaves
from amplint.knowledge.torch_api import Api
from amplint.model.data import Entity
from amplint.model.tree import (
    Assign,
    Block,
    Call,
    ClassDef,
    Constant,
    ExceptHandler,
    Expr,
    ExprStmt,
    FunctionDef,
    If,
    IfExp,
    Import,
    ImportFrom,
    Name,
    Node,
    Pass,
    Stmt,
    Try,
    Tuple,
    With,
)
from amplint.model.walks import dotted, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_MISSING = frozenset(
    {"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError", "RuntimeError"}
    | {"Exception", "BaseException"}
)
_GIVES_NAMES = (Import, ImportFrom, Assign, FunctionDef, ClassDef, Pass, If, ExprStmt)
_EXPECTS_WARNING = frozenset({"warns", "deprecated_call", "assertWarns", "assertWarnsRegex"})
_EXPECTS_ERROR = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
_WATCHES = frozenset({"catch_warnings", "filterwarnings"})
_PATCHES = frozenset({"patch", "setattr", "object", "dict", "patch_object"})


class Choice(Entity):
    """One branching around a place: the arm in which the place is, and the code of the other arms.

    gate is the question where one is asked; is_fallback marks the handler of a `try`.
    """

    holder: Node
    arm: Arm
    others: tuple[Node, ...]
    gate: Gate | None = None
    is_fallback: bool = False

    @property
    def is_try(self) -> bool:
        """Whether the choice is made by an error, not by a question."""
        return isinstance(self.holder, Try)


class Shims:
    """The shims of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts
        self._index = facts.index
        self._left: dict[Node, list[Choice]] = {}

    def is_shim(self, node: Node) -> bool:
        """Whether the place is part of a choice between versions of torch, or of a guarded import."""
        return any(True for _ in self.choices(node)) or self._is_under(node, _WATCHES)

    def is_for_old_torch(self, node: Node, api: Api) -> bool:
        """Whether the place was written for versions of torch that lack the replacement of a deprecated API."""
        return any(self._is_old(choice, api) for choice in self.choices(node))

    def expects_warning(self, node: Node) -> bool:
        """Whether the place stands in a test that the deprecation warning appears."""
        return self._is_under(node, _EXPECTS_WARNING)

    def is_tried(self, node: Node) -> bool:
        """Whether the place is run to see if it raises: in a `try` for missing names, or under `pytest.raises`."""
        if any(choice.is_try for choice in self.choices(node)):
            return True
        return self._is_under(node, _EXPECTS_ERROR)

    def is_skipped(self, node: Node) -> bool:
        """Whether a decorator around the place asks for a version, as `pytest.mark.skipif` does."""
        for outer in self._index.ancestors(node):
            for decorator in outer.decorators if isinstance(outer, FunctionDef | ClassDef) else ():
                arguments = decorator.args if isinstance(decorator, Call) else ()
                if any(gate(argument.value, self._facts.names) is not None for argument in arguments):
                    return True
        return False

    def is_patched(self, api: Api) -> bool:
        """Whether the module puts something else in the place of the API, in torch's own namespace."""
        return api.name in self._patched_by_text or api in self._patched

    @cached_property
    def has_scripts(self) -> bool:
        """Whether the file scripts modules, which may hold any of its places."""
        return any(self._facts.names.canonical(call.func) == "torch.jit.script" for call in self._index.calls)

    @cached_property
    def _patched(self) -> frozenset[Api]:
        return frozenset(use.api for use in self._facts.uses.all if use.role in (Role.TARGET, Role.OWNER))

    @cached_property
    def _patched_by_text(self) -> frozenset[str]:
        found: set[str] = set()
        for call in self._index.calls:
            if (dotted(call.func) or "").rpartition(".")[2] not in _PATCHES:
                continue
            texts = [a.value.value for a in call.args if isinstance(a.value, Constant)]
            found.update(text for text in texts if isinstance(text, str) and text.startswith("torch."))
            if len(call.args) >= 2 and (owner := self._facts.names.canonical(call.args[0].value)) is not None:
                found.update(f"{owner}.{text}" for text in texts)
        return frozenset(found)

    def choices(self, node: Node) -> Iterator[Choice]:
        """The choices around a place, innermost first."""
        child = node
        for outer in self._index.ancestors(node):
            yield from self._choice(outer, child)
            if isinstance(child, Stmt):
                yield from self._left_before(child)
            child = outer

    def _choice(self, outer: Node, child: Node) -> Iterator[Choice]:
        names = self._facts.names
        if isinstance(outer, IfExp) and child is not outer.test:
            asked = gate(outer.test, names)
            if asked is not None:
                is_body = child is outer.body
                other = outer.orelse if is_body else outer.body
                yield Choice(outer, asked.yes if is_body else asked.no, (other,), asked)
        elif isinstance(outer, If) and child is not outer.test:
            asked = gate(outer.test, names)
            if asked is not None:
                is_body = child in outer.body
                other_block = (outer.orelse or self._rest(outer)) if is_body else outer.body
                yield Choice(outer, asked.yes if is_body else asked.no, other_block, asked)
        elif isinstance(outer, Try) and child in outer.body:
            handlers = [h for h in outer.handlers if _catches_missing(h)]
            if handlers and self._is_name_choice(outer, handlers):
                yield Choice(outer, Arm(), tuple(handlers))
        elif isinstance(outer, Try) and isinstance(child, ExceptHandler):
            handlers = [child] if _catches_missing(child) else []
            if handlers and self._is_name_choice(outer, handlers):
                yield Choice(outer, Arm(), outer.body, is_fallback=True)

    def _rest(self, branch: If) -> Block:
        """What runs where the condition does not hold: the rest of the block, if the branch leaves it."""
        _, block = self._index.block(branch)
        return block[block.index(branch) + 1 :] if leaves(branch.body) else ()

    def _left_before(self, statement: Stmt) -> Iterator[Choice]:
        """Statements earlier in the block that leave it for some versions: `if new: return …` and then the old way."""
        try:
            _, block = self._index.block(statement)
        except LookupError:
            return
        if block[0] not in self._left:
            self._left[block[0]] = [choice for earlier in block for choice in self._leaving(earlier)]
        left = self._left[block[0]]
        place = block.index(statement) if left else 0
        yield from (choice for choice in left if block.index(choice.holder) < place)

    def _leaving(self, earlier: Stmt) -> Iterator[Choice]:
        """The choice that a statement makes for all that follows in its block."""
        if not isinstance(earlier, If):
            if isinstance(earlier, Try) and leaves(earlier.body):
                handlers = [h for h in earlier.handlers if _catches_missing(h)]
                if handlers and any(self.mentions_amp(part) for part in earlier.body):
                    yield Choice(earlier, Arm(), earlier.body, is_fallback=True)
            return
        asked = gate(earlier.test, self._facts.names)
        if asked is None:
            return
        if leaves(earlier.body):
            yield Choice(earlier, asked.no, earlier.body, asked)
        elif earlier.orelse and leaves(earlier.orelse):
            yield Choice(earlier, asked.yes, earlier.orelse, asked)

    def _is_name_choice(self, attempt: Try, handlers: list[ExceptHandler]) -> bool:
        """Whether a `try` picks what is there, rather than guarding a piece of work."""
        if any(self.mentions_amp(handler) for handler in handlers):
            return True
        if all(isinstance(statement, _GIVES_NAMES) for statement in attempt.body):
            return True
        bound = set(_bound(attempt.body))
        return any(bound & set(_bound(handler.body)) for handler in handlers)

    def _is_old(self, choice: Choice, api: Api) -> bool:
        arm = choice.arm
        deprecated = api.deprecated or (2, 4)
        if arm.high is not None and arm.high <= deprecated:
            return True
        if any(name.startswith(("torch.amp", "torch.GradScaler", "torch.get_autocast_dtype")) for name in arm.lacks):
            return True
        if self._is_tried_beside(choice.holder, api):
            return True
        is_choice = choice.gate is not None or choice.is_fallback
        return is_choice and any(self._mentions_new(part, api) for part in choice.others)

    def _is_tried_beside(self, attempt: Node, api: Api) -> bool:
        """Whether a `try` of its own, in the same block, imports the new name: then both are there to choose from."""
        if not isinstance(attempt, Try) or not all(isinstance(each, ImportFrom) for each in attempt.body):
            return False
        others = (each for each in self._index.block(attempt)[1] if isinstance(each, Try) and each is not attempt)
        return any(self._mentions_new(part, api) for other in others for part in other.body)

    def _mentions_new(self, part: Node, api: Api) -> bool:
        wanted = (api.replacement or "").rpartition(".")[2]
        uses = self._facts.uses
        return any(
            part.span.contains(place.span) and found.deprecated is None and found.kind == wanted
            for place, found in [*((u.node, u.api) for u in uses.all), *((i.alias, i.api) for i in uses.imported)]
        ) or self._calls_by_device(part, wanted)

    def _calls_by_device(self, part: Node, wanted: str) -> bool:
        """`torch.is_autocast_enabled(device)`: no API of the table, but the new way to ask."""
        return any(
            isinstance(node, Call) and node.args and (dotted(node.func) or "").rpartition(".")[2] == wanted
            for node in walk(part)
        )

    def mentions_amp(self, part: Node) -> bool:
        """Whether the AMP API is named in a piece of code."""
        uses = self._facts.uses
        return any(part.span.contains(use.node.span) for use in uses.all) or any(
            part.span.contains(found.alias.span) for found in uses.imported
        )

    def _is_under(self, node: Node, words: frozenset[str]) -> bool:
        for outer in self._index.ancestors(node):
            if isinstance(outer, With):
                contexts: list[Expr] = [item.context for item in outer.items]
            elif isinstance(outer, FunctionDef | ClassDef):
                contexts = list(outer.decorators)
            else:
                continue
            for context in contexts:
                function = context.func if isinstance(context, Call) else context
                if (dotted(function) or "").rpartition(".")[2] in words:
                    return True
        return False


def _catches_missing(handler: ExceptHandler) -> bool:
    """Whether the handler catches what a missing name or an unknown argument raises."""
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, Tuple) else (handler.type,)
    return any((dotted(each) or "").rpartition(".")[2] in _MISSING for each in types)


def _bound(block: Block) -> Iterator[str]:
    for statement in block:
        if isinstance(statement, Import | ImportFrom):
            yield from (alias.asname or alias.name for alias in statement.names)
        elif isinstance(statement, FunctionDef | ClassDef):
            yield statement.name
        elif isinstance(statement, Assign):
            yield from (target.id for target in statement.targets if isinstance(target, Name))
