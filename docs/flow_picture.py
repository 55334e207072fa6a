"""A flow graph as a picture, from the Mermaid text that `amplint debug graph` prints; knows no Python."""

import re
from html import unescape

from docs.drawing import Arrow, Box, Detour, svg

_BLOCK = re.compile(r'    b(\d+)(?:\["(.*)"\]|\(\[(.*)\]\))')
_EDGE = re.compile(r'    b(\d+) (-->|-\.->)(?:\|"(.*)"\|)? b(\d+)')
GAP = 46


def picture(mermaid: str, title: str) -> str:
    """The picture, blocks below each other in the order of the program. Ways of exceptions are left out."""
    texts: dict[int, tuple[str, ...]] = {}
    edges: list[tuple[int, int, str]] = []
    for line in mermaid.splitlines():
        if block := _BLOCK.fullmatch(line):
            number, inner, end = block.groups()
            texts[int(number)] = _steps(inner) if inner else (end,)
        elif (edge := _EDGE.fullmatch(line)) and edge[2] == "-->":
            question, _, answer = _text(edge[3] or "").rpartition(": ")  # the question stands in the block above
            edges.append((int(edge[1]), int(edge[4]), answer))
            if not texts[int(edge[1])]:  # the head of a loop asks nothing else
                texts[int(edge[1])] = (f"next {question}" if question else " ",)
    reached = {0} | {target for _, target, _ in edges}
    boxes: dict[int, Box] = {}
    y = 0.0
    for number, lines in texts.items():
        if number in reached:
            height = Box(0, 0, lines).height
            boxes[number] = Box(0, y + height / 2, lines, "end" if len(lines) == 1 and lines[0].isalpha() else "box")
            y += height + GAP
    arrows, detours = _ways(boxes, edges)
    return svg(list(boxes.values()), arrows, title, detours)


def _ways(boxes: dict[int, Box], edges: list[tuple[int, int, str]]) -> tuple[list[Arrow], list[Detour]]:
    """Ways to the next block run straight down, longer ones on the right, backward ones on the left."""
    order = {number: place for place, number in enumerate(boxes)}
    widest = max(box.width for box in boxes.values()) / 2
    arrows: list[Arrow] = []
    detours: list[Detour] = []
    lanes = {-1: 0, 1: 0}
    for before, after, label in sorted(edges, key=lambda edge: abs(order[edge[1]] - order[edge[0]])):
        start, end = boxes[before], boxes[after]
        distance = order[after] - order[before]
        if distance == 1:
            bend = 0.0, (start.y + start.height / 2 + end.y - end.height / 2) / 2
            arrows.append(Arrow(start, end, bend, (label,) if label else ()))
        else:
            side = 1 if distance > 0 else -1
            lanes[side] += 1
            detours.append(Detour(start, end, side * (widest + 40 * lanes[side]), label))
    return arrows, detours


def _steps(inner: str) -> tuple[str, ...]:
    _, *steps = inner.split("<br/>")
    return tuple(_text(step) for step in steps)


def _text(label: str) -> str:
    return unescape(label.replace("#quot;", '"'))
