"""A list with commas in the text of a program (arguments of a call, names of an import): what to put in and take out.

Knows commas, line breaks and comments; knows nothing of what the items mean.
"""

from collections.abc import Collection, Sequence

from amplint.model.data import Value
from amplint.model.edit import Edit
from amplint.model.tree import Node
from amplint.rewrite.page import Page


class Item(Value):
    """The offsets of one item, with its own parentheses, stars and keyword, and of the comma behind it."""

    start: int
    end: int
    comma: int | None


class Listing(Value):
    """The items between an opening and a closing offset."""

    page: Page
    opening: int
    items: tuple[Item, ...]

    def revised(
        self, deleted: Collection[int], first: Sequence[str], last: Sequence[str], before: int | None = None
    ) -> list[Edit]:
        """Edits that take out the deleted items, put some first and some last, or before a certain item.

        before must not be deleted.
        """
        kept = [i for i in range(len(self.items)) if i not in deleted]
        edits = self._deletions(deleted)
        if not kept:
            new = ", ".join([*first, *last])
            return [*edits, self.page.edit(self.opening, self.opening, new)] if new else edits
        if first:
            edits.append(self._put_before(kept[0], first))
        if last and before is not None:
            edits.append(self._put_before(before, last))
        elif last:
            edits += self._put_behind(kept[-1], last)
        return edits

    def _put_before(self, index: int, texts: Sequence[str]) -> Edit:
        at = self.items[index].start
        separator = ", "
        if self.page.begins_line(at):
            line = self.page.position(at).line
            separator = ",\n" + self.page.indentation(line)
        return self.page.edit(at, at, "".join(text + separator for text in texts))

    def _put_behind(self, index: int, texts: Sequence[str]) -> list[Edit]:
        """Put texts behind the last item that stays, on lines of their own where the items have them."""
        item = self.items[index]
        comma = self._trailing_comma(index)
        anchor = item.end if comma is None else comma + 1
        is_last = index == len(self.items) - 1
        if is_last and self.page.begins_line(item.start) and self.page.ends_line(anchor):
            separator = "\n" + self.page.indentation(self.page.position(item.start).line)
            tail = "" if comma is None else ","
            at = self.page.line_end(anchor)
            edits = [self.page.edit(at, at, separator + ("," + separator).join(texts) + tail)]
            if comma is None:
                edits.insert(0, self.page.edit(item.end, item.end, ","))
            return edits
        if comma is None:
            return [self.page.edit(anchor, anchor, "".join(", " + text for text in texts))]
        return [self.page.edit(anchor, anchor, "".join(" " + text + "," for text in texts))]

    def _trailing_comma(self, last_kept: int) -> int | None:
        """The comma that stands behind the last item that stays, once what follows it is gone."""
        is_tail_simple = last_kept == len(self.items) - 1 or self._is_simple_tail(last_kept + 1)
        return self.items[-1 if is_tail_simple else last_kept].comma

    def _is_simple_tail(self, first: int) -> bool:
        """Whether the items from this one to the last can go together with the comma before them."""
        between = self.items[first - 1].end, self.items[first].start
        return not self._has_comment(first, len(self.items)) and not self.page.has_comment(*between)

    def _deletions(self, deleted: Collection[int]) -> list[Edit]:
        edits: list[Edit] = []
        index = 0
        while index < len(self.items):
            if index not in deleted:
                index += 1
                continue
            stop = index
            while stop < len(self.items) and stop in deleted:
                stop += 1
            edits += self._delete_run(index, stop)
            index = stop
        return edits

    def _delete_run(self, first: int, stop: int) -> list[Edit]:
        """Take out neighbouring items, with as many commas; comments between them stay."""
        items, page = self.items, self.page
        if stop < len(items) and not self._has_comment(first, stop):
            return [page.edit(items[first].start, items[stop].start, "")]
        if stop == len(items) and first and self._is_simple_tail(first):
            return [page.edit(items[first - 1].end, items[-1].end, "")]
        return [self._delete_alone(item) for item in items[first:stop]]

    def _delete_alone(self, item: Item) -> Edit:
        start = item.start
        end = item.end if item.comma is None else item.comma + 1
        while end < len(self.page.program) and self.page.program[end] in " \t":
            end += 1
        if self.page.begins_line(start) and self.page.program[end : end + 1] == "\n":
            start = self.page.program.rindex("\n", 0, start)
        return self.page.edit(start, end, "")

    def _has_comment(self, first: int, stop: int) -> bool:
        """Whether a comment stands behind one of these items, before the next item."""
        for index in range(first, stop):
            following = index + 1 < len(self.items)
            end = self.items[index + 1].start if following else self.items[index].comma
            if end is not None and self.page.has_comment(self.items[index].end, end):
                return True
        return False


def listing(page: Page, nodes: Sequence[Node], opening: int, closing: int) -> Listing:
    """The list of these nodes between two offsets."""
    items: list[Item] = []
    start_of_gap = opening
    for node in nodes:
        span_start = max(page.offset(node.span.start), opening)
        span_end = min(page.offset(node.span.end), closing)
        start = next((at for at, _ in page.marks(start_of_gap, span_start)), span_start)
        end, comma = span_end, None
        for at, mark in page.marks(max(span_end, start_of_gap), closing):
            if mark == ",":
                comma = at
                break
            end = at + 1
        items.append(Item(start, end, comma))
        start_of_gap = end if comma is None else comma + 1
    return Listing(page, opening, tuple(items))
