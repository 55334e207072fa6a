"""Lowers expressions from Python's own `ast`; knows nothing of statements.

The tree is the one that the LibCST visitors build; where that is not certain, UncertainError is raised.
"""

import ast
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from amplint.model import tree
from amplint.model.span import Span
from amplint.model.walks import walk
from amplint.syntax.geometry import Geometry, UncertainError

_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.MatMult: "@", ast.Div: "/", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&", ast.FloorDiv: "//",
    ast.Invert: "~", ast.Not: "not", ast.UAdd: "+", ast.USub: "-", ast.And: "and", ast.Or: "or",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def symbol(operator: ast.AST) -> str:
    """An operator as it is written, with single spaces."""
    return _OPERATORS[type(operator)]


class NativeExpressions:
    """Visits the expressions of one program; `visit` dispatches on the class of the node."""

    _visitors: ClassVar[dict[type, Callable[[Any, Any], Any]]]

    def __init__(self, text: Geometry) -> None:
        self.text = text
        self.span = text.span
        self._is_ascii = text.program.isascii()

    def __init_subclass__(cls) -> None:
        # Functions, not methods: those would hold their object, and it them, and a program would outlive its use.
        cls._visitors = {
            getattr(ast, name.removeprefix("visit_")): getattr(cls, name)
            for name in dir(cls)
            if name.startswith("visit_") and hasattr(ast, name.removeprefix("visit_"))
        }

    def visit(self, node: ast.AST) -> Any:
        """The lowered node. Raises UncertainError for a class that no visitor knows."""
        visitor = self._visitors.get(type(node))
        if visitor is None:
            raise UncertainError
        return visitor(self, node)

    def optional(self, node: ast.AST | None) -> Any:
        """The lowered node, or None for None."""
        return None if node is None else self.visit(node)

    def each(self, nodes: Sequence[ast.AST]) -> tuple[Any, ...]:
        """The lowered nodes."""
        visitors = self._visitors
        try:
            return tuple([visitors[type(node)](self, node) for node in nodes])
        except KeyError:
            raise UncertainError from None

    def visit_Name(self, node: ast.Name) -> tree.Name:
        span = self.span(node)
        # Python normalises names; the text says how they are written.
        if not self._is_ascii and span.end_column - span.column != len(node.id):
            raise UncertainError
        return tree.Name(span, node.id)

    def visit_Constant(self, node: ast.Constant) -> tree.Constant:
        return tree.Constant(self.span(node), node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> tree.JoinedString:
        values = tuple(self._interpolated(node))
        for value in values:
            for part in walk(value):
                self._check_place(part)
        return tree.JoinedString(self.span(node), values)

    def _interpolated(self, node: ast.JoinedStr) -> list[tree.Expr]:
        found: list[tree.Expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                found.append(self.visit(part.value))
                if isinstance(part.format_spec, ast.JoinedStr):
                    found += self._interpolated(part.format_spec)
            elif not isinstance(part, ast.Constant):
                raise UncertainError
        return found

    def _check_place(self, part: tree.Node) -> None:
        """Names in f-strings have to stand where they are said to; several versions of Python placed them wrongly."""
        if isinstance(part, tree.Name):
            line = self.text.lines[part.span.line - 1]
            if line[part.span.column : part.span.end_column] != part.id:
                raise UncertainError

    def visit_Attribute(self, node: ast.Attribute) -> tree.Attribute:
        found = tree.Attribute(self.span(node), self.visit(node.value), node.attr)
        if not self._is_ascii:
            name = found.attr_span
            if self.text.lines[name.line - 1][name.column : name.end_column] != node.attr:
                raise UncertainError
        return found

    def visit_Call(self, node: ast.Call) -> tree.Call:
        span = self.span(node)
        func = self.visit(node.func)
        return tree.Call(span, func, self._arguments(node.args, node.keywords, func, span))

    def _arguments(
        self, args: Sequence[ast.expr], keywords: Sequence[ast.keyword], func: tree.Expr, around: Span
    ) -> tuple[tree.Argument, ...]:
        """Arguments in source order; their spans cover name, star and value with its parentheses, but no comma."""
        found: list[tree.Argument] = []
        behind = func.span[2:]
        for arg in args:
            if isinstance(arg, ast.Starred):
                found.append(tree.Argument(self.span(arg), self.visit(arg.value), None, "*"))
            else:
                value = self.visit(arg)
                is_lent = isinstance(arg, ast.GeneratorExp) and value.span[2:] == around[2:]
                if is_lent:  # `ast` lends a generator that stands alone the parentheses of the call
                    value.span = self.text.inside(value.span)
                    found.append(tree.Argument(value.span, value, None, ""))
                else:
                    found.append(tree.Argument(self._enclosed(value.span, behind, not found), value, None, ""))
            behind = found[-1].span[2:]
        if not keywords:
            return tuple(found)
        for keyword in keywords:
            star = "**" if keyword.arg is None else ""
            found.append(tree.Argument(self.span(keyword), self.visit(keyword.value), keyword.arg, star))
        found.sort(key=lambda argument: argument.span)
        return tuple(found)

    def _enclosed(self, span: Span, behind: tuple[int, ...], is_first: bool) -> Span:
        """The span of a value with its parentheses; behind is the end of what stands before it."""
        gap = self.text.between(behind[0], behind[1], span[0], span[1])
        if gap == "(" or "(" not in gap:
            return span
        at = gap.index("(")
        if is_first:  # that one is the call's own
            at = gap.find("(", at + 1)
            if at < 0:
                return span
        start = self.text.place(self.text.offset(behind[0], behind[1]) + at)
        return self.text.with_brackets(span, start, gap.count("(", at))

    def visit_Subscript(self, node: ast.Subscript) -> tree.Subscript:
        index = self.visit(node.slice)
        if isinstance(index, tree.Tuple) and index.elts and not self._has_own_brackets(index):
            if any(isinstance(item, tree.Starred) for item in index.elts):
                raise UncertainError
            first, last = index.elts[0].span, index.elts[-1].span
            index.span = Span(first.line, first.column, last.end_line, last.end_column)
        return tree.Subscript(self.span(node), self.visit(node.value), index)

    def _has_own_brackets(self, node: tree.Tuple) -> bool:
        first = node.elts[0].span
        before = self.text.between(node.span.line, node.span.column, first.line, first.column).count("(")
        if not before:
            return False
        behind = node.elts[1].span[:2] if len(node.elts) > 1 else node.span[2:]
        return before > self.text.between(first.end_line, first.end_column, *behind).partition(",")[0].count(")")

    def visit_Slice(self, node: ast.Slice) -> tree.Slice:
        lower, upper, step = self.optional(node.lower), self.optional(node.upper), self.optional(node.step)
        return tree.Slice(self.span(node), lower, upper, step)

    def visit_Starred(self, node: ast.Starred) -> tree.Starred:
        return tree.Starred(self.span(node), self.visit(node.value))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> tree.Unary:
        return tree.Unary(self.span(node), _OPERATORS[type(node.op)], self.visit(node.operand))

    def visit_BinOp(self, node: ast.BinOp) -> tree.Binary:
        left, right = self.visit(node.left), self.visit(node.right)
        return tree.Binary(self.span(node), _OPERATORS[type(node.op)], left, right)

    def visit_BoolOp(self, node: ast.BoolOp) -> tree.BoolOp:
        return tree.BoolOp(self.span(node), _OPERATORS[type(node.op)], self.each(node.values))

    def visit_Compare(self, node: ast.Compare) -> tree.Compare:
        left = self.visit(node.left)
        ops = tuple(_OPERATORS[type(op)] for op in node.ops)
        return tree.Compare(self.span(node), left, ops, self.each(node.comparators))

    def visit_IfExp(self, node: ast.IfExp) -> tree.IfExp:
        test, body, orelse = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        return tree.IfExp(self.span(node), test, body, orelse)

    def visit_Tuple(self, node: ast.Tuple) -> tree.Tuple:
        return tree.Tuple(self.span(node), self.each(node.elts))

    def visit_List(self, node: ast.List) -> tree.List:
        return tree.List(self.span(node), self.each(node.elts))

    def visit_Set(self, node: ast.Set) -> tree.Set:
        return tree.Set(self.span(node), self.each(node.elts))

    def visit_Dict(self, node: ast.Dict) -> tree.Dict:
        keys = tuple(self.optional(key) for key in node.keys)
        return tree.Dict(self.span(node), keys, self.each(node.values))

    def visit_Lambda(self, node: ast.Lambda) -> tree.Lambda:
        return tree.Lambda(self.span(node), self.parameters(node.args), self.visit(node.body))

    def parameters(self, node: ast.arguments) -> tuple[tree.Parameter, ...]:
        """All parameters in source order."""
        plain = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(plain) - len(node.defaults)) + list(node.defaults)
        count = len(node.posonlyargs)
        found = [
            self._parameter(arg, "positional-only" if number < count else "positional", default)
            for number, (arg, default) in enumerate(zip(plain, defaults, strict=True))
        ]
        if node.vararg is not None:
            found.append(self._parameter(node.vararg, "*", None))
        pairs = zip(node.kwonlyargs, node.kw_defaults, strict=True)
        found += [self._parameter(arg, "keyword", default) for arg, default in pairs]
        if node.kwarg is not None:
            found.append(self._parameter(node.kwarg, "**", None))
        return tuple(found)

    def _parameter(self, node: ast.arg, kind: str, default: ast.expr | None) -> tree.Parameter:
        line, column, _, _ = self.span(node)
        if not self._is_ascii and not self.text.lines[line - 1].startswith(node.arg, column):
            raise UncertainError
        span = Span(line, column, line, column + len(node.arg))
        return tree.Parameter(span, node.arg, kind, self.optional(node.annotation), self.optional(default))

    def _generator(self, node: ast.comprehension) -> tree.Generator:
        target, source, ifs = self.visit(node.target), self.visit(node.iter), self.each(node.ifs)
        end = (ifs[-1] if ifs else source).span
        span = Span(target.span.line, target.span.column, end.end_line, end.end_column)
        return tree.Generator(span, target, source, ifs, bool(node.is_async))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, kind: str) -> tree.Comprehension:
        generators = tuple(self._generator(generator) for generator in node.generators)
        return tree.Comprehension(self.span(node), kind, self.visit(node.elt), None, generators)

    def visit_ListComp(self, node: ast.ListComp) -> tree.Comprehension:
        return self._comprehension(node, "list")

    def visit_SetComp(self, node: ast.SetComp) -> tree.Comprehension:
        return self._comprehension(node, "set")

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> tree.Comprehension:
        return self._comprehension(node, "generator")

    def visit_DictComp(self, node: ast.DictComp) -> tree.Comprehension:
        generators = tuple(self._generator(generator) for generator in node.generators)
        return tree.Comprehension(self.span(node), "dict", self.visit(node.key), self.visit(node.value), generators)

    def visit_Await(self, node: ast.Await) -> tree.Await:
        return tree.Await(self.span(node), self.visit(node.value))

    def visit_Yield(self, node: ast.Yield) -> tree.Yield:
        return tree.Yield(self.span(node), self.optional(node.value), False)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> tree.Yield:
        return tree.Yield(self.span(node), self.visit(node.value), True)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> tree.NamedExpr:
        return tree.NamedExpr(self.span(node), self.visit(node.target), self.visit(node.value))
