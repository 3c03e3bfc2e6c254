"""The pictures of lesson 10: stages against time, and bubbles. Run it to write them."""

from __future__ import annotations

from drawing import GREY, INK, LINE, ORANGE, PALE, PLUM, QUIET, TEAL, box, card, legend, save, text

STAGES, MICRO, FOLLOWED = 4, 8, 3


def schedule(*, known: bool) -> str:
    """Which microbatch is where in which turn."""
    parts = []
    left, top, w, h = 130, 92, 62, 42
    turns = MICRO + STAGES - 1 if known else MICRO
    for turn in range(turns):
        parts.append(text(left + turn * w + w / 2, top - 10, turn, 12.5, QUIET, weight="bold"))
        for stage in range(STAGES):
            x, y = left + turn * w, top + stage * h
            micro = turn - stage
            if stage and not known:
                parts += [box(x, y, w, h, "#fff", LINE), text(x + w / 2, y + 26, "?", 14, GREY, weight="bold")]
            elif 0 <= micro < MICRO:
                ours = micro == FOLLOWED
                parts.append(box(x, y, w, h, ORANGE if ours else PALE, TEAL, 0.8))
                parts.append(text(x + w / 2, y + 27, micro, 15, "#fff" if ours else TEAL, weight="bold"))
            else:
                parts.append(box(x, y, w, h, "url(#idle)", GREY, 0.8))
    if not known:
        parts.append(text(left + turns * w + 40, top + 2 * h + 7, "… ?", 22, GREY, weight="bold"))
    for stage in range(STAGES):
        parts.append(text(left - 14, top + stage * h + 27, f"stage {stage}", 13.5, INK, "end", "bold"))
    parts.append(text(28, top - 10, "turn →", 12.5, QUIET, "start"))
    pattern = (
        '<pattern id="idle" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="7" height="7" fill="#f3f1ec"/><path d="M0 0V7" stroke="{GREY}" stroke-width="1.4"/></pattern>'
    )
    notes = [(ORANGE, ORANGE, "microbatch 3"), (PALE, TEAL, "other microbatches")]
    if known:
        notes.append(("url(#idle)", GREY, "nothing useful to do: the bubble"))
    title = (
        "Four stages, eight microbatches: the bubble" if known else "Four stages, eight microbatches: which is where?"
    )
    return card(title, 308, [f"<defs>{pattern}</defs>", *parts, *legend(278, notes)])


def bubbles() -> str:
    """The bubble against the number of microbatches."""
    parts = []
    for n, micro in enumerate((1, 4, 8, 32)):
        y = 62 + n * 44
        turns = micro + STAGES - 1
        useful = 440 * micro / turns
        words = "1 microbatch" if micro == 1 else f"{micro} microbatches"
        parts.append(text(160, y + 20, words, 13.5, INK, "end", "bold"))
        parts.append(box(176, y, useful, 28, PALE, TEAL))
        parts.append(box(176 + useful, y, 440 - useful, 28, "#f3f1ec", GREY, dashed=True))
        share = round(100 * (STAGES - 1) / turns)
        parts.append(text(630, y + 20, f"{share} % bubble: 3 of {turns} turns", 13.5, PLUM, "start", "bold"))
    return card("Four stages: the time of one device", 250, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {"question": schedule(known=False), "answer": schedule(known=True), "bubbles": bubbles()}


if __name__ == "__main__":
    save(__file__, draw())
