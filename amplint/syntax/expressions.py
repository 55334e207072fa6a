"""Lowers expressions: LibCST nodes in, nodes of the lowered tree out; knows nothing of statements.

The walk visits only fields that carry meaning; white space, commas and parentheses cost nothing.
"""

import ast
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import libcst as cst

from amplint.model import tree
from amplint.model.span import Span
from amplint.syntax.spans import Places


def literal(text: str) -> tree.ConstantValue:
    """The value of a string, bytes or number literal; None for a number too long for this interpreter.

    Escapes that Python only warns about must not warn here: they are the checked code's affair.
    """
    if text[0] in "\"'" and "\\" not in text:
        return text[3:-3] if text[:3] in ('"""', "'''") else text[1:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value: tree.ConstantValue = ast.literal_eval(text)
        except ValueError:
            return None
    return value


def _symbol(operator: cst.CSTNode) -> str:
    """An operator as it is written, with single spaces: '+', 'not in'."""
    if isinstance(operator, cst.NotEqual):
        return "!="
    if isinstance(operator, cst.NotIn):
        return "not in"
    if isinstance(operator, cst.IsNot):
        return "is not"
    if isinstance(operator, cst.Not):
        return "not"
    token: str = operator._get_token()  # type: ignore[attr-defined]
    return token


class ExpressionVisitor:
    """Visits expressions of one module; `visit` dispatches on the class of the node."""

    _visitors: ClassVar[dict[type, Callable[[Any, Any], Any]]]

    def __init__(self, places: Places) -> None:
        self.places = places

    def __init_subclass__(cls) -> None:
        # Functions, not methods: those would hold their object, and it them, and a program would outlive its use.
        cls._visitors = {
            getattr(cst, name.removeprefix("visit_")): getattr(cls, name)
            for name in dir(cls)
            if name.startswith("visit_")
        }

    def visit(self, node: cst.CSTNode) -> Any:
        """The lowered node. Raises KeyError for a LibCST class that no visitor knows."""
        return self._visitors[type(node)](self, node)

    def optional(self, node: cst.CSTNode | None) -> Any:
        """The lowered node, or None for None."""
        return None if node is None else self.visit(node)

    def visit_Name(self, node: cst.Name) -> tree.Expr:
        span = self.places.span(node)
        constants: dict[str, tree.ConstantValue] = {"None": None, "True": True, "False": False}
        if node.value in constants:
            return tree.Constant(span, constants[node.value])
        return tree.Name(span, node.value)

    def visit_Ellipsis(self, node: cst.Ellipsis) -> tree.Constant:
        return tree.Constant(self.places.span(node), ...)

    def visit_Integer(self, node: cst.Integer) -> tree.Constant:
        return tree.Constant(self.places.span(node), literal(node.value))

    def visit_Float(self, node: cst.Float) -> tree.Constant:
        return tree.Constant(self.places.span(node), literal(node.value))

    def visit_Imaginary(self, node: cst.Imaginary) -> tree.Constant:
        return tree.Constant(self.places.span(node), literal(node.value))

    def visit_SimpleString(self, node: cst.SimpleString) -> tree.Constant:
        return tree.Constant(self.places.span(node), literal(node.value))

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> tree.Expr:
        span = self.places.span(node)
        parts: list[tree.Expr] = []
        current: cst.BaseString = node
        while isinstance(current, cst.ConcatenatedString):
            parts.append(self.visit(current.left))
            current = current.right
        parts.append(self.visit(current))
        values = [part.value if isinstance(part, tree.Constant) else None for part in parts]
        if all(isinstance(value, str) for value in values):
            return tree.Constant(span, "".join(str(value) for value in values))
        if all(isinstance(value, bytes) for value in values):
            return tree.Constant(span, b"".join(value for value in values if isinstance(value, bytes)))
        joined = (part.values for part in parts if isinstance(part, tree.JoinedString))
        return tree.JoinedString(span, tuple(value for values in joined for value in values))

    def visit_FormattedString(self, node: cst.FormattedString) -> tree.JoinedString:
        return tree.JoinedString(self.places.span(node), tuple(self._interpolated(node.parts)))

    def visit_TemplatedString(self, node: cst.TemplatedString) -> tree.JoinedString:
        return tree.JoinedString(self.places.span(node), tuple(self._interpolated(node.parts)))

    def _interpolated(self, parts: Sequence[cst.CSTNode]) -> list[tree.Expr]:
        found: list[tree.Expr] = []
        for part in parts:
            if isinstance(part, cst.FormattedStringExpression | cst.TemplatedStringExpression):
                found.append(self.visit(part.expression))
                found.extend(self._interpolated(part.format_spec or ()))
        return found

    def visit_Attribute(self, node: cst.Attribute) -> tree.Attribute:
        span = self.places.span(node)
        return tree.Attribute(span, self.visit(node.value), node.attr.value)

    def visit_Call(self, node: cst.Call) -> tree.Call:
        args = tuple(self.argument(arg) for arg in node.args)
        return tree.Call(self.places.span(node), self.visit(node.func), args)

    def argument(self, node: cst.Arg) -> tree.Argument:
        """One argument; its span covers name, star and value with its parentheses, but no comma."""
        name = node.keyword.value if node.keyword is not None else None
        return tree.Argument(self.places.span(node), self.visit(node.value), name, node.star)

    def visit_Subscript(self, node: cst.Subscript) -> tree.Subscript:
        items = [self._index(element.slice) for element in node.slice]
        index = items[0]
        if len(items) > 1 or isinstance(node.slice[0].comma, cst.Comma):
            first, last = items[0].span, items[-1].span
            index = tree.Tuple(Span(first.line, first.column, last.end_line, last.end_column), tuple(items))
        return tree.Subscript(self.places.span(node), self.visit(node.value), index)

    def _index(self, node: cst.BaseSlice) -> tree.Expr:
        if isinstance(node, cst.Index):
            value: tree.Expr = self.visit(node.value)
            return tree.Starred(self.places.span(node), value) if node.star else value
        assert isinstance(node, cst.Slice)
        lower, upper, step = self.optional(node.lower), self.optional(node.upper), self.optional(node.step)
        return tree.Slice(self.places.trimmed_span(node), lower, upper, step)

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> tree.Unary:
        return tree.Unary(self.places.span(node), _symbol(node.operator), self.visit(node.expression))

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> tree.Binary:
        left, right = self.visit(node.left), self.visit(node.right)
        return tree.Binary(self.places.span(node), _symbol(node.operator), left, right)

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> tree.BoolOp:
        op = _symbol(node.operator)
        values: list[tree.Expr] = []
        for side in (node.left, node.right):
            value = self.visit(side)
            is_chained = isinstance(value, tree.BoolOp) and value.op == op and not side.lpar
            values.extend(value.values if is_chained else (value,))
        return tree.BoolOp(self.places.span(node), op, tuple(values))

    def visit_Comparison(self, node: cst.Comparison) -> tree.Compare:
        left = self.visit(node.left)
        ops = tuple(_symbol(target.operator) for target in node.comparisons)
        comparators = tuple(self.visit(target.comparator) for target in node.comparisons)
        return tree.Compare(self.places.span(node), left, ops, comparators)

    def visit_IfExp(self, node: cst.IfExp) -> tree.IfExp:
        test, body, orelse = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        return tree.IfExp(self.places.span(node), test, body, orelse)

    def _elements(self, node: cst.Tuple | cst.List | cst.Set) -> tuple[tree.Expr, ...]:
        return tuple(self.visit(element) for element in node.elements)

    def visit_Element(self, node: cst.Element) -> tree.Expr:
        value: tree.Expr = self.visit(node.value)
        return value

    def visit_StarredElement(self, node: cst.StarredElement) -> tree.Starred:
        return tree.Starred(self.places.span(node), self.visit(node.value))

    def visit_Tuple(self, node: cst.Tuple) -> tree.Tuple:
        return tree.Tuple(self.places.parenthesized_span(node), self._elements(node))

    def visit_List(self, node: cst.List) -> tree.List:
        return tree.List(self.places.span(node), self._elements(node))

    def visit_Set(self, node: cst.Set) -> tree.Set:
        return tree.Set(self.places.span(node), self._elements(node))

    def visit_Dict(self, node: cst.Dict) -> tree.Dict:
        keys = tuple(self.visit(e.key) if isinstance(e, cst.DictElement) else None for e in node.elements)
        values = tuple(self.visit(element.value) for element in node.elements)
        return tree.Dict(self.places.span(node), keys, values)

    def visit_Lambda(self, node: cst.Lambda) -> tree.Lambda:
        return tree.Lambda(self.places.span(node), self.parameters(node.params), self.visit(node.body))

    def parameters(self, node: cst.Parameters) -> tuple[tree.Parameter, ...]:
        """All parameters in source order."""
        found = [self._parameter(param, "positional-only") for param in node.posonly_params]
        found += [self._parameter(param, "positional") for param in node.params]
        if isinstance(node.star_arg, cst.Param):
            found.append(self._parameter(node.star_arg, "*"))
        found += [self._parameter(param, "keyword") for param in node.kwonly_params]
        if node.star_kwarg is not None:
            found.append(self._parameter(node.star_kwarg, "**"))
        return tuple(found)

    def _parameter(self, node: cst.Param, kind: str) -> tree.Parameter:
        annotation = self.visit(node.annotation.annotation) if node.annotation is not None else None
        span = self.places.span(node.name)
        return tree.Parameter(span, node.name.value, kind, annotation, self.optional(node.default))

    def _generators(self, node: cst.CompFor) -> tuple[tree.Generator, ...]:
        found: list[tree.Generator] = []
        current: cst.CompFor | None = node
        while current is not None:
            target, source = self.visit(current.target), self.visit(current.iter)
            ifs = tuple(self.visit(condition.test) for condition in current.ifs)
            is_async = current.asynchronous is not None
            end = (ifs[-1] if ifs else source).span
            span = Span(target.span.line, target.span.column, end.end_line, end.end_column)
            found.append(tree.Generator(span, target, source, ifs, is_async))
            current = current.inner_for_in
        return tuple(found)

    def _comprehension(self, node: cst.BaseSimpleComp, kind: str) -> tree.Comprehension:
        element = self.visit(node.elt)
        return tree.Comprehension(self.places.span(node), kind, element, None, self._generators(node.for_in))

    def visit_GeneratorExp(self, node: cst.GeneratorExp) -> tree.Comprehension:
        element = self.visit(node.elt)
        span = self.places.parenthesized_span(node)
        return tree.Comprehension(span, "generator", element, None, self._generators(node.for_in))

    def visit_ListComp(self, node: cst.ListComp) -> tree.Comprehension:
        return self._comprehension(node, "list")

    def visit_SetComp(self, node: cst.SetComp) -> tree.Comprehension:
        return self._comprehension(node, "set")

    def visit_DictComp(self, node: cst.DictComp) -> tree.Comprehension:
        key, value = self.visit(node.key), self.visit(node.value)
        return tree.Comprehension(self.places.span(node), "dict", key, value, self._generators(node.for_in))

    def visit_StarredDictComp(self, node: cst.StarredDictComp) -> tree.Comprehension:
        value = tree.Starred(self.places.span(node.value), self.visit(node.value))
        return tree.Comprehension(self.places.span(node), "dict", value, None, self._generators(node.for_in))

    def visit_Await(self, node: cst.Await) -> tree.Await:
        return tree.Await(self.places.span(node), self.visit(node.expression))

    def visit_Yield(self, node: cst.Yield) -> tree.Yield:
        if isinstance(node.value, cst.From):
            return tree.Yield(self.places.span(node), self.visit(node.value.item), True)
        return tree.Yield(self.places.span(node), self.optional(node.value), False)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> tree.NamedExpr:
        return tree.NamedExpr(self.places.span(node), self.visit(node.target), self.visit(node.value))
