"""Boxes and arrows as SVG text; knows no graph of any kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import hypot

CHARACTER = 6.7
LINE = 16
PADDING = 8
STYLE = (
    "text { font: 11px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #1f2328 } "
    ".box { fill: #f6f8fa; stroke: #57606a } .end { fill: #ddf4ff; stroke: #0969da } "
    ".bad { fill: #ffebe9; stroke: #cf222e } "
    "path { fill: none; stroke: #57606a; stroke-width: 1.2 } path.wrong { stroke: #cf222e } "
    "path.dashed { stroke-dasharray: 4 3 } text.wrong { fill: #cf222e } "
    ".halo { fill: #ffffff; fill-opacity: 0.85 }"
)


@dataclass(frozen=True, slots=True)
class Box:
    """Lines of text in a rectangle around a centre; style is a class of the style sheet."""

    x: float
    y: float
    lines: tuple[str, ...]
    style: str = "box"

    @property
    def width(self) -> float:
        """How wide the rectangle is, from the longest line."""
        return max(map(len, self.lines)) * CHARACTER + 2 * PADDING

    @property
    def height(self) -> float:
        """How high the rectangle is."""
        return len(self.lines) * LINE + PADDING

    def edge_towards(self, x: float, y: float) -> tuple[float, float]:
        """Where the line from the centre to a point leaves the rectangle."""
        across, down = x - self.x, y - self.y
        if not across and not down:
            return self.x, self.y
        scale = min(
            self.width / 2 / abs(across) if across else float("inf"),
            self.height / 2 / abs(down) if down else float("inf"),
        )
        return self.x + across * scale, self.y + down * scale


@dataclass(frozen=True, slots=True)
class Arrow:
    """A curve from box to box through a bend, with a label at the bend; style is a class of the style sheet."""

    start: Box
    end: Box
    bend: tuple[float, float]
    label: tuple[str, ...] = ()
    style: str = ""


@dataclass(frozen=True, slots=True)
class Detour:
    """An arrow that leaves a box sideways, runs down or up at x, and comes back sideways; its label stands at x."""

    start: Box
    end: Box
    x: float
    label: str = ""


def bowed(start: Box, end: Box, amount: float) -> tuple[float, float]:
    """A bend beside the middle of the line between two boxes, to the left of the way by the amount."""
    across, down = end.x - start.x, end.y - start.y
    length = hypot(across, down) or 1
    middle_x, middle_y = (start.x + end.x) / 2, (start.y + end.y) / 2
    return middle_x + down / length * amount, middle_y - across / length * amount


def svg(boxes: Sequence[Box], arrows: Sequence[Arrow], title: str, detours: Sequence[Detour] = ()) -> str:
    """The picture, arrows below boxes."""
    xs = [edge for box in boxes for edge in (box.x - box.width / 2, box.x + box.width / 2)]
    ys = [edge for box in boxes for edge in (box.y - box.height / 2, box.y + box.height / 2)]
    for arrow in arrows:
        half = max(map(len, arrow.label), default=0) * CHARACTER / 2
        xs += [arrow.bend[0] - half, arrow.bend[0] + half]
        ys += [arrow.bend[1] - LINE * len(arrow.label), arrow.bend[1] + LINE]
    for detour in detours:
        half = len(detour.label) * CHARACTER / 2
        xs += [detour.x - half, detour.x + half]
    left, top = min(xs) - 10, min(ys) - 10
    width, height = max(xs) - left + 10, max(ys) - top + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f"<defs>{_head('head', '#57606a')}{_head('wrong', '#cf222e')}</defs>",
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" style="fill: #ffffff"/>',
        *(_curve(arrow) for arrow in arrows),
        *(_way_round(detour) for detour in detours),
        *(_label(arrow.bend, arrow.label, arrow.style) for arrow in arrows if arrow.label),
        *(_label((d.x, (d.start.y + d.end.y) / 2), (d.label,), "") for d in detours if d.label),
        *(_rectangle(box) for box in boxes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _head(name: str, color: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" style="fill: {color}; stroke: none"/></marker>'
    )


def _curve(arrow: Arrow) -> str:
    bend_x, bend_y = arrow.bend
    middle_x, middle_y = (arrow.start.x + arrow.end.x) / 2, (arrow.start.y + arrow.end.y) / 2
    is_straight = arrow.start.x == arrow.end.x == bend_x
    # A curve goes through the bend: the control point lies twice as far out.
    aim = (middle_x, middle_y) if is_straight else (2 * bend_x - middle_x, 2 * bend_y - middle_y)
    from_x, from_y = arrow.start.edge_towards(*aim)
    to_x, to_y = arrow.end.edge_towards(*aim)
    way = "L" if is_straight else f"Q{aim[0]:.1f},{aim[1]:.1f} "
    return (
        f'<path class="{arrow.style}" marker-end="url(#{arrow.style or "head"})" '
        f'd="M{from_x:.1f},{from_y:.1f} {way}{to_x:.1f},{to_y:.1f}"/>'
    )


def _way_round(detour: Detour) -> str:
    side = 1 if detour.x > detour.start.x else -1
    # Two detours that meet at a box meet its side a little apart.
    from_y = detour.start.y + 3
    to_y = detour.end.y - 3
    from_x = detour.start.x + side * detour.start.width / 2
    to_x = detour.end.x + side * detour.end.width / 2
    return (
        f'<path class="" marker-end="url(#head)" '
        f'd="M{from_x:.1f},{from_y:.1f} H{detour.x:.1f} V{to_y:.1f} H{to_x:.1f}"/>'
    )


def _label(place: tuple[float, float], lines: Sequence[str], style: str) -> str:
    x, y = place
    width = max(map(len, lines)) * CHARACTER
    height = len(lines) * 13
    rectangle = (
        f'<rect class="halo" x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height}"/>'
    )
    texts = [
        f'<text class="{style}" x="{x:.1f}" y="{y - height / 2 + 10 + 13 * number:.1f}" text-anchor="middle">'
        f"{escape(line)}</text>"
        for number, line in enumerate(lines)
    ]
    return rectangle + "".join(texts)


def _rectangle(box: Box) -> str:
    left, top = box.x - box.width / 2, box.y - box.height / 2
    lines = [
        f'<text x="{left + PADDING:.1f}" y="{top + PADDING / 2 + 11 + LINE * number:.1f}">{escape(line)}</text>'
        for number, line in enumerate(box.lines)
    ]
    return (
        f'<rect class="{box.style}" rx="4" x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}"/>' + "".join(lines)
    )
