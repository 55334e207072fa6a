"""How small expressions are written, for messages and for the code of repairs; refuses what it cannot write exactly."""

from amplint.model.tree import Argument, Attribute, Binary, Call, Constant, Name, Node, Subscript, Unary

_PRODUCTS = frozenset({"*", "/", "//", "%", "@", "**"})


def spelled(expr: Node | None) -> str:
    """An expression of names, attributes, constants, calls and one operator as a program writes it; '' for others."""
    match expr:
        case Name():
            return expr.id
        case Attribute():
            return _joined(_held(expr.value), ".", expr.attr)
        case Constant(value=str(text)):
            return _quoted(text)
        case Constant(value=int() | float() | bool() | None):
            return repr(expr.value)
        case Unary(op="-"):
            return _joined(
                "-", "", spelled(expr.operand) if isinstance(expr.operand, Constant) else _held(expr.operand)
            )
        case Subscript():
            return _joined(_held(expr.value), "[", spelled(expr.index), "]")
        case Binary() if not isinstance(expr.left, Binary) and not isinstance(expr.right, Binary):
            left = _held(expr.left) if expr.op == "**" else spelled(expr.left)
            return _joined(left, f" {expr.op} ", spelled(expr.right))
        case Call():
            arguments = [_argument(argument) for argument in expr.args]
            return "" if "" in arguments else _joined(_held(expr.func), "(" + ", ".join(arguments), ")")
        case _:
            return ""


def operand(expr: Node | None) -> str:
    """An expression as it stands beside a product or behind a sum: in parentheses where it would else fall apart."""
    code = spelled(expr)
    return f"({code})" if code and isinstance(expr, Binary) and expr.op not in _PRODUCTS else code


def _quoted(text: str) -> str:
    """Text in double quotes, as formatters write it, where it holds none."""
    code = repr(text)
    return f'"{code[1:-1]}"' if code.startswith("'") and '"' not in text else code


def _held(expr: Node) -> str:
    """An expression before a dot or a bracket, or behind a sign: an operator in it, or a number, gets parentheses."""
    code = spelled(expr)
    is_number = isinstance(expr, Constant) and isinstance(expr.value, int)
    return f"({code})" if code and (is_number or isinstance(expr, Binary | Unary)) else code


def _argument(argument: Argument) -> str:
    value = spelled(argument.value)
    if argument.star or not value:
        return ""
    return value if argument.name is None else f"{argument.name}={value}"


def _joined(first: str, between: str, second: str, end: str = "") -> str:
    return f"{first}{between}{second}{end}" if first and second else ""
