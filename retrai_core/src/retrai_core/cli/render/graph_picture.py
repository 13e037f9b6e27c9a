"""A graph as a PNG picture: laid out by grandalf, drawn by Pillow (the extra `graph`)."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph as Drawing

# It has no types.
_graphs: Any = import_module("grandalf.graphs")
_layouts: Any = import_module("grandalf.layouts")
_routing: Any = import_module("grandalf.routing")

_SIZE = 28
_PADDING, _MARGIN = 18, 60
_DASH, _GAP, _ARROW = 12, 9, 16
_INK, _PAPER, _BOX = "#20202a", "#ffffff", "#eef0fb"

_Point = tuple[float, float]


class _Box:
    """A node for grandalf: its size, and its centre after the layout."""

    def __init__(self, width: float, height: float) -> None:
        self.w, self.h = width, height
        self.xy: _Point = (0, 0)


class _Line:
    """An edge: the points that grandalf computes."""

    def __init__(self) -> None:
        self.points: list[_Point] = []

    def setpath(self, points: Sequence[_Point]) -> None:
        self.points = list(points)


def picture_of(drawing: Drawing) -> bytes:
    """The picture as PNG; dotted lines are conditional edges."""
    font = ImageFont.load_default(_SIZE)
    boxes = {name: _box(name, font) for name in drawing.nodes}
    lines = _laid_out(boxes, [(e.source, e.target, e.conditional) for e in drawing.edges])
    points = [point for _, way in lines for point in way]
    for box in boxes.values():
        x, y, dx, dy = *box.xy, box.w / 2, box.h / 2
        points += [(x - dx, y - dy), (x + dx, y + dy)]
    left, top = (min(values) - _MARGIN for values in zip(*points, strict=True))
    right, bottom = (max(values) + _MARGIN for values in zip(*points, strict=True))
    image = Image.new("RGB", (math.ceil(right - left), math.ceil(bottom - top)), _PAPER)
    draw = ImageDraw.Draw(image)
    for conditional, way in lines:
        _draw_line(draw, [(x - left, y - top) for x, y in way], dotted=conditional)
    for name, box in boxes.items():
        x, y = box.xy[0] - left, box.xy[1] - top
        edges = (x - box.w / 2, y - box.h / 2, x + box.w / 2, y + box.h / 2)
        draw.rounded_rectangle(edges, radius=12, fill=_BOX, outline=_INK, width=2)
        draw.text((x, y), name, font=font, fill=_INK, anchor="mm")
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def _box(name: str, font: Any) -> _Box:
    left, top, right, bottom = font.getbbox(name)
    return _Box(right - left + 2 * _PADDING, bottom - top + 2 * _PADDING)


def _laid_out(
    boxes: dict[str, _Box], edges: list[tuple[str, str, bool]]
) -> list[tuple[bool, list[_Point]]]:
    """Place the boxes; whether each edge is conditional, and its way."""
    vertices = {name: _graphs.Vertex(name) for name in boxes}
    for name, box in boxes.items():
        vertices[name].view = box
    made: list[tuple[bool, Any]] = []
    for source, target, conditional in edges:
        if source != target:
            edge = _graphs.Edge(vertices[source], vertices[target])
            edge.view = _Line()
            made.append((conditional, edge))
    offset = 0.0
    for part in _graphs.Graph(list(vertices.values()), [edge for _, edge in made]).C:
        layout = _layouts.SugiyamaLayout(part)
        layout.xspace, layout.yspace = 3 * _SIZE, 3 * _SIZE
        layout.route_edge = _routing.route_with_lines
        starts = [vertex for vertex in part.sV if not vertex.e_in()]
        layout.init_all(roots=starts or [next(iter(part.sV))], optimize=True)
        layout.draw(6)
        own = [vertex.view for vertex in part.sV]
        shift = offset - min(box.xy[0] - box.w / 2 for box in own)
        for box in own:
            box.xy = (box.xy[0] + shift, box.xy[1])
        for edge in part.sE:
            edge.view.points = [(x + shift, y) for x, y in edge.view.points]
        offset = max(box.xy[0] + box.w / 2 for box in own) + 3 * _SIZE
    loops = [(conditional, _loop(boxes[a])) for a, b, conditional in edges if a == b]
    return [*((conditional, edge.view.points) for conditional, edge in made), *loops]


def _loop(box: _Box) -> list[_Point]:
    """A way from a box back to itself, on its right."""
    x, y, far = box.xy[0] + box.w / 2, box.xy[1], box.xy[0] + box.w / 2 + 1.5 * _SIZE
    return [(x, y - box.h / 4), (far, y - box.h / 4), (far, y + box.h / 4), (x, y + box.h / 4)]


def _draw_line(draw: ImageDraw.ImageDraw, way: list[_Point], *, dotted: bool) -> None:
    for start, end in pairwise(way):
        length = math.dist(start, end) or 1
        step, stroke = (_DASH + _GAP, _DASH) if dotted else (length, length)
        for number in range(math.ceil(length / step)):
            ends = (number * step, min(number * step + stroke, length))
            draw.line([_between(start, end, at / length) for at in ends], fill=_INK, width=2)
    if len(way) > 1:
        (x0, y0), (x, y) = way[-2], way[-1]
        angle = math.atan2(y - y0, x - x0)
        sides = [(x - _ARROW * math.cos(angle + d), y - _ARROW * math.sin(angle + d))
                 for d in (-0.4, 0.4)]  # fmt: skip
        draw.polygon([(x, y), *sides], fill=_INK)


def _between(start: _Point, end: _Point, share: float) -> _Point:
    return (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)
