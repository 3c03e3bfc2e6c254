"""The pictures of lesson 2: a grid of devices, its groups, and what device 3 holds. Run it to write them."""

from __future__ import annotations

from drawing import (
    FOLLOWED,
    GREY,
    INK,
    ORANGE,
    PALE,
    PEACH,
    QUIET,
    TEAL,
    arrow,
    bands,
    box,
    card,
    grid,
    legend,
    named,
    partial,
    save,
    text,
    tiles,
    unknown,
)

OURS = (ORANGE, ORANGE, "device 3 holds or computes this")
ELSE = (PALE, TEAL, "held by other devices")


def groups(x: float, y: float, rows: int, columns: int, along: str) -> list[str]:
    """The grid with outlines round the groups of one axis; that of device 3 is filled."""
    across, down = 50, 44
    ours = divmod(FOLLOWED, columns)
    parts = []
    for number in range(rows if along == "model" else columns):
        is_ours = number == ours[0 if along == "model" else 1]
        look = (PEACH, ORANGE, 1.6) if is_ours else ("none", GREY, 1)
        if along == "model":
            parts.append(box(x - 26, y + number * down - 19, (columns - 1) * across + 52, 38, *look, radius=8))
        else:
            parts.append(box(x + number * across - 23, y - 20, 46, (rows - 1) * down + 40, *look, radius=8))
    return parts + grid(x, y, rows, columns, across=across, down=down)


def three_grids(title: str, rows: int, columns: int, *, known: bool) -> str:
    """The grid, and the groups of either axis."""
    y, height = 128, (rows - 1) * 44 + 226
    middle = y + (rows - 1) * 22
    parts = grid(112, y, rows, columns, across=50, down=44, row_axis="data", column_axis="model")
    for left, along in ((370, "model"), (640, "data")):
        centre = left + (columns - 1) * 25
        parts.append(text(centre, 76, f"groups over {along}", 14, INK, weight="bold"))
        if known:
            parts += groups(left, y, rows, columns, along)
            own, step = divmod(FOLLOWED, columns)
            with_it = (
                [own * columns + i for i in range(columns)]
                if along == "model"
                else [i * columns + step for i in range(rows)]
            )
            words = " ".join(str(one) for one in with_it)
            parts.append(text(centre, y + (rows - 1) * 44 + 50, f"device 3: {words}", 13, ORANGE, weight="bold"))
        else:
            parts += unknown(left - 24, middle - 40, (columns - 1) * 50 + 48, 80)
    parts.append(text(112 + (columns - 1) * 25, 76, "the mesh", 14, INK, weight="bold"))
    return card(title, height - 26, parts)


def holds() -> str:
    """What lies where in layout 1."""
    parts = []
    y = 92
    parts += bands(60, y + 50, 110, 70, upright=False, n=2, ours=0, numbers=("0 1 2 3", "4 5 6 7"))
    parts += named(60, y + 50, 110, 70, "x", 'P("data", None)')
    parts += bands(270, y + 30, 260, 110, upright=True, n=4, numbers=("0 4", "1 5", "2 6", "3 7"))
    parts += named(270, y + 30, 260, 110, "W1", 'P(None, "model")')
    parts += bands(640, y, 110, 170, upright=False, n=4, numbers=("0 4", "1 5", "2 6", "3 7"))
    parts += named(640, y, 110, 170, "W2", 'P("model", None)')
    return card("Layout 1: which devices hold which part", 340, [*parts, *legend(308, (OURS, ELSE))])


def tensor() -> str:
    """What device 3 computes in layout 1."""
    y = 104
    parts = tiles(
        90, y, 300, 100, 2, 4, lambda r, c: (4 * r + c, *((ORANGE, "#fff") if (r, c) == (0, 3) else (PALE, TEAL)))
    )
    parts += named(90, y, 300, 100, "hidden", 'P("data", "model")')
    parts.append(arrow((420, y + 25), (520, y + 25)))
    parts.append(text(470, y + 16, "@ W2", 13, QUIET, mono=True))
    parts += partial(550, y, 140, 50, ("one of 4 shares",))
    parts += tiles(550, y + 50, 140, 50, 1, 1, lambda _, __: ("devices 4 5 6 7", PALE, TEAL))
    parts += named(550, y, 140, 100, "result", 'P("data", None)')
    parts.append(text(702, y + 20, "added up with", 13, ORANGE, "start"))
    parts.append(text(702, y + 37, "0, 1 and 2", 13, ORANGE, "start", "bold"))
    share = (PEACH, ORANGE, "a partial sum")
    return card("Layout 1: what device 3 computes", 272, [*parts, *legend(242, (OURS, ELSE, share))])


def borrow() -> str:
    """W1 in eight tiles."""
    y = 92
    parts = tiles(
        90,
        y,
        300,
        120,
        2,
        4,
        lambda r, c: (
            ("?", PEACH, ORANGE)
            if (r, c) == (1, 3)
            else (4 * r + c, *((ORANGE, "#fff") if (r, c) == (0, 3) else (PALE, TEAL)))
        ),
    )
    parts += named(90, y, 300, 120, "W1", 'P("data", "model")')
    parts.append(arrow((420, y + 60), (520, y + 60)))
    parts.append(text(470, y + 50, "borrow", 13, QUIET))
    parts += tiles(560, y, 75, 120, 2, 1, lambda r, _: ((3, ORANGE, "#fff"), ("?", PEACH, ORANGE))[r])
    parts.append(text(650, y + 56, "what device 3 needs", 13, ORANGE, "start", "bold"))
    parts.append(text(650, y + 74, "of W1 for its product", 13, ORANGE, "start"))
    return card("Layout 2: each device keeps an eighth of W1", 252, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {
        "grid": three_grids("Eight devices as two rows and four columns", 2, 4, known=True),
        "holds_answer": holds(),
        "tensor_answer": tensor(),
        "borrow": borrow(),
        "turned": three_grids("The same devices as four rows and two columns", 4, 2, known=False),
        "turned_answer": three_grids("Four rows and two columns: the groups of device 3", 4, 2, known=True),
    }


if __name__ == "__main__":
    save(__file__, draw())
