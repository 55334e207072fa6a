"""What a fix does to the arguments of one call, all at once, so that commas come out right.

Knows nothing of which arguments the callee takes.
"""

from collections.abc import Sequence

from amplint.model.edit import DeleteArgument, Edit, InsertArgument, NameArgument
from amplint.model.tree import Argument, Call, Comprehension
from amplint.rewrite.listing import Item, Listing, listing
from amplint.rewrite.page import Page, RefusedError

ArgumentRepair = InsertArgument | NameArgument | DeleteArgument


def call_of(page: Page, repair: ArgumentRepair) -> Call:
    """The call whose arguments the repair changes."""
    if isinstance(repair, InsertArgument):
        return page.call(repair.call)
    return page.argument(repair.argument)[0]


def revise(page: Page, call: Call, repairs: Sequence[ArgumentRepair]) -> list[Edit]:
    """The edits that make these repairs to the call; the values of inserted arguments are spelled already."""
    deleted = {page.argument(repair.argument)[1] for repair in repairs if isinstance(repair, DeleteArgument)}
    arguments = _arguments(page, call)
    first: list[str] = []
    last: list[str] = []
    for repair in repairs:
        if isinstance(repair, InsertArgument):
            if repair.name is None:
                first.append(repair.value)
            else:
                last.append(f"{repair.name}={repair.value}")
    stars = (i for i, argument in enumerate(call.args) if argument.star == "**" and i not in deleted)
    edits = arguments.revised(deleted, first, last, next(stars, None))
    for repair in repairs:
        if isinstance(repair, NameArgument):
            index = page.argument(repair.argument)[1]
            edits.append(_named(page, call.args[index], arguments.items[index], repair.name))
    if edits and not deleted and _is_bare_generator(page, call, arguments):
        item = arguments.items[0]
        return [page.edit(item.end, item.end, ")"), *edits, page.edit(item.start, item.start, "(")]
    return edits


def _arguments(page: Page, call: Call) -> Listing:
    start, end = page.offset(call.func.span.end), page.offset(call.span.end)
    opening = next((at + 1 for at, mark in page.marks(start, end) if mark == "("), None)
    if opening is None or page.program[end - 1] != ")":
        raise RefusedError("the call's parentheses were not found")
    return listing(page, call.args, opening, end - 1)


def _named(page: Page, argument: Argument, item: Item, name: str) -> Edit:
    if argument.star or argument.name is not None:
        raise RefusedError("only a plain positional argument can be given a name")
    return page.edit(item.start, item.start, f"{name}=")


def _is_bare_generator(page: Page, call: Call, arguments: Listing) -> bool:
    """Whether this is `f(x for x in y)`, which needs parentheses of its own once it does not stand alone."""
    if len(call.args) != 1 or call.args[0].name is not None:
        return False
    value = call.args[0].value
    if not isinstance(value, Comprehension) or value.kind != "generator":
        return False
    start, end = page.offset(value.element.span.start), page.offset(value.generators[0].target.span.start)
    opened = sum(mark == "(" for _, mark in page.marks(arguments.items[0].start, start))
    closed = 0
    for _, mark in page.marks(page.offset(value.element.span.end), end):
        if mark != ")":
            break
        closed += 1
    return opened == closed
