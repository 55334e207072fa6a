"""Lowers statements: LibCST nodes in, blocks of the lowered tree out; leaves expressions to their own visitor."""

from collections.abc import Sequence
from typing import Any

import libcst as cst

from amplint.model import tree
from amplint.model.span import Span
from amplint.syntax.expressions import ExpressionVisitor


class StatementVisitor(ExpressionVisitor):
    """Visits statements; `block` flattens lines with several statements."""

    def block(self, body: Sequence[cst.CSTNode]) -> tree.Block:
        """The statements of a module's or a suite's body, in order."""
        found: list[Any] = []
        for statement in body:
            if isinstance(statement, cst.SimpleStatementLine | cst.SimpleStatementSuite):
                found.extend(self.visit(small) for small in statement.body)
            else:
                found.append(self.visit(statement))
        return tuple(found)

    def _suite(self, suite: cst.BaseSuite) -> tree.Block:
        return self.block([suite] if isinstance(suite, cst.SimpleStatementSuite) else suite.body)

    def _else(self, orelse: cst.If | cst.Else | cst.Finally | None) -> tree.Block:
        if orelse is None:
            return ()
        return (self.visit(orelse),) if isinstance(orelse, cst.If) else self._suite(orelse.body)

    def _decorators(self, decorators: Sequence[cst.Decorator]) -> tuple[tree.Expr, ...]:
        return tuple(self.visit(decorator.decorator) for decorator in decorators)

    def visit_Expr(self, node: cst.Expr) -> tree.ExprStmt:
        return tree.ExprStmt(self.places.span(node), self.visit(node.value))

    def visit_Assign(self, node: cst.Assign) -> tree.Assign:
        targets = tuple(self.visit(target.target) for target in node.targets)
        return tree.Assign(self.places.span(node), targets, self.visit(node.value))

    def visit_AnnAssign(self, node: cst.AnnAssign) -> tree.AnnAssign:
        target, annotation = self.visit(node.target), self.visit(node.annotation.annotation)
        return tree.AnnAssign(self.places.span(node), target, annotation, self.optional(node.value))

    def visit_AugAssign(self, node: cst.AugAssign) -> tree.AugAssign:
        op = type(node.operator).__name__.removesuffix("Assign")
        return tree.AugAssign(self.places.span(node), self.visit(node.target), _AUGMENTED[op], self.visit(node.value))

    def visit_Return(self, node: cst.Return) -> tree.Return:
        return tree.Return(self.places.span(node), self.optional(node.value))

    def visit_Raise(self, node: cst.Raise) -> tree.Raise:
        cause = self.visit(node.cause.item) if node.cause is not None else None
        return tree.Raise(self.places.span(node), self.optional(node.exc), cause)

    def visit_Assert(self, node: cst.Assert) -> tree.Assert:
        return tree.Assert(self.places.span(node), self.visit(node.test), self.optional(node.msg))

    def visit_Del(self, node: cst.Del) -> tree.Delete:
        target = self.visit(node.target)
        targets = target.elts if isinstance(target, tree.Tuple) and not node.target.lpar else (target,)
        return tree.Delete(self.places.span(node), targets)

    def visit_Pass(self, node: cst.Pass) -> tree.Pass:
        return tree.Pass(self.places.span(node))

    def visit_Break(self, node: cst.Break) -> tree.Break:
        return tree.Break(self.places.span(node))

    def visit_Continue(self, node: cst.Continue) -> tree.Continue:
        return tree.Continue(self.places.span(node))

    def visit_Global(self, node: cst.Global) -> tree.Global:
        return tree.Global(self.places.span(node), tuple(item.name.value for item in node.names))

    def visit_Nonlocal(self, node: cst.Nonlocal) -> tree.Nonlocal:
        return tree.Nonlocal(self.places.span(node), tuple(item.name.value for item in node.names))

    def _alias(self, node: cst.ImportAlias) -> tree.Alias:
        span = self.places.span(node)
        asname = None
        end = self.places.span(node.name).end
        if node.asname is not None:
            assert isinstance(node.asname.name, cst.Name)
            asname = node.asname.name.value
            end = self.places.span(node.asname.name).end
        return tree.Alias(Span(span.line, span.column, *end), _dotted(node.name), asname)

    def visit_Import(self, node: cst.Import | cst.LazyImport) -> tree.Import:
        return tree.Import(self.places.span(node), tuple(self._alias(alias) for alias in node.names))

    def visit_ImportFrom(self, node: cst.ImportFrom | cst.LazyImportFrom) -> tree.ImportFrom:
        module = _dotted(node.module) if node.module is not None else ""
        if isinstance(node.names, cst.ImportStar):
            names: tuple[tree.Alias, ...] = (tree.Alias(self.places.span(node.names), "*", None),)
        else:
            names = tuple(self._alias(alias) for alias in node.names)
        return tree.ImportFrom(self.places.span(node), module, len(node.relative), names)

    visit_LazyImport = visit_Import
    visit_LazyImportFrom = visit_ImportFrom

    def visit_If(self, node: cst.If) -> tree.If:
        test, body = self.visit(node.test), self._suite(node.body)
        return tree.If(self.places.span(node), test, body, self._else(node.orelse))

    def visit_For(self, node: cst.For) -> tree.For:
        target, source, body = self.visit(node.target), self.visit(node.iter), self._suite(node.body)
        is_async = node.asynchronous is not None
        return tree.For(self.places.span(node), target, source, body, self._else(node.orelse), is_async)

    def visit_While(self, node: cst.While) -> tree.While:
        test, body = self.visit(node.test), self._suite(node.body)
        return tree.While(self.places.span(node), test, body, self._else(node.orelse))

    def visit_With(self, node: cst.With) -> tree.With:
        items = tuple(self._with_item(item) for item in node.items)
        is_async = node.asynchronous is not None
        return tree.With(self.places.span(node), items, self._suite(node.body), is_async)

    def _with_item(self, node: cst.WithItem) -> tree.WithItem:
        context = self.visit(node.item)
        target = self.visit(node.asname.name) if node.asname is not None else None
        return tree.WithItem((target or context).span if target is None else _join(context, target), context, target)

    def visit_Try(self, node: cst.Try | cst.TryStar) -> tree.Try:
        body = self._suite(node.body)
        handlers = tuple(self._handler(handler) for handler in node.handlers)
        orelse, final = self._else(node.orelse), self._else(node.finalbody)
        return tree.Try(self.places.span(node), body, handlers, orelse, final, isinstance(node, cst.TryStar))

    visit_TryStar = visit_Try

    def _handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler) -> tree.ExceptHandler:
        name = None
        if node.name is not None:
            assert isinstance(node.name.name, cst.Name)
            name = node.name.name.value
        return tree.ExceptHandler(self.places.span(node), self.optional(node.type), name, self._suite(node.body))

    def visit_Match(self, node: cst.Match) -> tree.Match:
        cases = tuple(self._case(case) for case in node.cases)
        return tree.Match(self.places.span(node), self.visit(node.subject), cases)

    def _case(self, node: cst.MatchCase) -> tree.MatchCase:
        captures: list[str] = []
        values: list[tree.Expr] = []
        self._pattern(node.pattern, captures, values)
        is_irrefutable = isinstance(node.pattern, cst.MatchAs) and node.pattern.pattern is None
        span = self.places.span(node.pattern)
        pattern = tree.Pattern(span, tuple(captures), tuple(values), is_irrefutable)
        return tree.MatchCase(self.places.span(node), pattern, self.optional(node.guard), self._suite(node.body))

    def _pattern(self, node: cst.CSTNode, captures: list[str], values: list[tree.Expr]) -> None:
        """Collects from patterns of any depth; LibCST has a dozen classes for them, and none matters otherwise."""
        for child in node.children:
            if isinstance(child, cst.BaseExpression) and not isinstance(child, cst.Name):
                values.append(self.visit(child))
            elif isinstance(child, cst.Name):
                is_capture = isinstance(node, cst.MatchAs | cst.MatchStar | cst.MatchMapping)
                if is_capture:
                    captures.append(child.value)
                elif not isinstance(node, cst.MatchKeywordElement):
                    values.append(self.visit(child))
            else:
                self._pattern(child, captures, values)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> tree.FunctionDef:
        span = self._behind_decorators(node)
        decorators = self._decorators(node.decorators)
        parameters, body = self.parameters(node.params), self._suite(node.body)
        returns = self.visit(node.returns.annotation) if node.returns is not None else None
        is_async = node.asynchronous is not None
        name = node.name
        return tree.FunctionDef(
            span, name.value, self.places.span(name), parameters, body, decorators, returns, is_async
        )

    def visit_ClassDef(self, node: cst.ClassDef) -> tree.ClassDef:
        span = self._behind_decorators(node)
        decorators = self._decorators(node.decorators)
        bases = tuple(self.argument(arg) for arg in (*node.bases, *node.keywords))
        name = node.name
        return tree.ClassDef(span, name.value, self.places.span(name), bases, self._suite(node.body), decorators)

    def _behind_decorators(self, node: cst.FunctionDef | cst.ClassDef) -> Span:
        """LibCST starts a definition at its first decorator; the tree, as `ast`, at its keyword."""
        span = self.places.span(node)
        if not node.decorators:
            return span
        return Span(*self.places.keyword_before(node.name), span.end_line, span.end_column)

    def visit_TypeAlias(self, node: cst.TypeAlias) -> tree.TypeAlias:
        name = tree.Name(self.places.span(node.name), node.name.value)
        return tree.TypeAlias(self.places.span(node), name, self.visit(node.value))


_AUGMENTED = {
    "Add": "+",
    "Subtract": "-",
    "Multiply": "*",
    "MatrixMultiply": "@",
    "Divide": "/",
    "Modulo": "%",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
    "LeftShift": "<<",
    "RightShift": ">>",
    "Power": "**",
    "FloorDivide": "//",
}


def _join(first: tree.Node, last: tree.Node) -> Span:
    return Span(first.span.line, first.span.column, last.span.end_line, last.span.end_column)


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    assert isinstance(node, cst.Name)
    return node.value
