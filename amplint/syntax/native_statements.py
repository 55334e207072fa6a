"""Lowers statements from Python's own `ast`; leaves expressions to their own visitor."""

import ast
import re
from collections.abc import Sequence

from amplint.model import tree
from amplint.model.span import Span
from amplint.syntax.geometry import UncertainError
from amplint.syntax.native_expressions import NativeExpressions, symbol

_DEFINED = re.compile(r"(?:async(?:[ \t\f]|\\\n)+)?(?:def|class)(?:[ \t\f]|\\\n)+(\w+)")


class NativeStatements(NativeExpressions):
    """Visits the statements of one program. `match` is left to the full parser: `ast` gives its cases no place."""

    def visit_Expr(self, node: ast.Expr) -> tree.ExprStmt:
        return tree.ExprStmt(self.span(node), self.visit(node.value))

    def visit_Assign(self, node: ast.Assign) -> tree.Assign:
        return tree.Assign(self.span(node), self.each(node.targets), self.visit(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> tree.AnnAssign:
        target, annotation = self.visit(node.target), self.visit(node.annotation)
        return tree.AnnAssign(self.span(node), target, annotation, self.optional(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> tree.AugAssign:
        return tree.AugAssign(self.span(node), self.visit(node.target), symbol(node.op), self.visit(node.value))

    def visit_Return(self, node: ast.Return) -> tree.Return:
        return tree.Return(self.span(node), self.optional(node.value))

    def visit_Raise(self, node: ast.Raise) -> tree.Raise:
        return tree.Raise(self.span(node), self.optional(node.exc), self.optional(node.cause))

    def visit_Assert(self, node: ast.Assert) -> tree.Assert:
        return tree.Assert(self.span(node), self.visit(node.test), self.optional(node.msg))

    def visit_Delete(self, node: ast.Delete) -> tree.Delete:
        return tree.Delete(self.span(node), self.each(node.targets))

    def visit_Pass(self, node: ast.Pass) -> tree.Pass:
        return tree.Pass(self.span(node))

    def visit_Break(self, node: ast.Break) -> tree.Break:
        return tree.Break(self.span(node))

    def visit_Continue(self, node: ast.Continue) -> tree.Continue:
        return tree.Continue(self.span(node))

    def visit_Global(self, node: ast.Global) -> tree.Global:
        return tree.Global(self.span(node), tuple(node.names))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> tree.Nonlocal:
        return tree.Nonlocal(self.span(node), tuple(node.names))

    def _aliases(self, names: Sequence[ast.alias]) -> tuple[tree.Alias, ...]:
        return tuple(tree.Alias(self.span(alias), alias.name, alias.asname) for alias in names)

    def visit_Import(self, node: ast.Import) -> tree.Import:
        return tree.Import(self.span(node), self._aliases(node.names))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> tree.ImportFrom:
        return tree.ImportFrom(self.span(node), node.module or "", node.level, self._aliases(node.names))

    def visit_If(self, node: ast.If) -> tree.If:
        test, body = self.visit(node.test), self.each(node.body)
        return tree.If(self.span(node), test, body, self.each(node.orelse))

    def _for(self, node: ast.For | ast.AsyncFor, is_async: bool) -> tree.For:
        target, source, body = self.visit(node.target), self.visit(node.iter), self.each(node.body)
        return tree.For(self.span(node), target, source, body, self.each(node.orelse), is_async)

    def visit_For(self, node: ast.For) -> tree.For:
        return self._for(node, False)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> tree.For:
        return self._for(node, True)

    def visit_While(self, node: ast.While) -> tree.While:
        test, body = self.visit(node.test), self.each(node.body)
        return tree.While(self.span(node), test, body, self.each(node.orelse))

    def _with(self, node: ast.With | ast.AsyncWith, is_async: bool) -> tree.With:
        items = tuple(self._with_item(item) for item in node.items)
        return tree.With(self.span(node), items, self.each(node.body), is_async)

    def visit_With(self, node: ast.With) -> tree.With:
        return self._with(node, False)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> tree.With:
        return self._with(node, True)

    def _with_item(self, node: ast.withitem) -> tree.WithItem:
        context, target = self.visit(node.context_expr), self.optional(node.optional_vars)
        first, last = context.span, (target or context).span
        return tree.WithItem(Span(first.line, first.column, last.end_line, last.end_column), context, target)

    def _try(self, node: "ast.Try | ast.TryStar", is_star: bool) -> tree.Try:
        body, handlers = self.each(node.body), tuple(self._handler(handler) for handler in node.handlers)
        return tree.Try(self.span(node), body, handlers, self.each(node.orelse), self.each(node.finalbody), is_star)

    def visit_Try(self, node: ast.Try) -> tree.Try:
        return self._try(node, False)

    def visit_TryStar(self, node: "ast.TryStar") -> tree.Try:
        return self._try(node, True)

    def _handler(self, node: ast.ExceptHandler) -> tree.ExceptHandler:
        return tree.ExceptHandler(self.span(node), self.optional(node.type), node.name, self.each(node.body))

    def _name_span(self, span: Span, name: str) -> Span:
        match = _DEFINED.match(self.text.program, self.text.offset(span.line, span.column))
        if match is None or match[1] != name:
            raise UncertainError
        line, column = self.text.place(match.start(1))
        return Span(line, column, line, column + len(name))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, is_async: bool) -> tree.FunctionDef:
        span = self.span(node)
        decorators, parameters = self.each(node.decorator_list), self.parameters(node.args)
        body, returns = self.each(node.body), self.optional(node.returns)
        name = self._name_span(span, node.name)
        return tree.FunctionDef(span, node.name, name, parameters, body, decorators, returns, is_async)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> tree.FunctionDef:
        return self._function(node, False)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> tree.FunctionDef:
        return self._function(node, True)

    def visit_ClassDef(self, node: ast.ClassDef) -> tree.ClassDef:
        span = self.span(node)
        name = self._name_span(span, node.name)
        if any(isinstance(base, ast.GeneratorExp) for base in node.bases):
            raise UncertainError
        bases = self._arguments(node.bases, node.keywords, tree.Name(name, node.name), span)
        return tree.ClassDef(span, node.name, name, bases, self.each(node.body), self.each(node.decorator_list))
