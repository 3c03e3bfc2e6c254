"""Draws the lessons' pictures and puts them into the notebooks, as PNG data URIs: the one form that all places show.

    python scripts/embed_pictures.py notebooks/01_exploring_pjit.ipynb ...    needs playwright and a Chromium
    python scripts/embed_pictures.py --all
    python scripts/embed_pictures.py --check      needs neither: exits with 1 if a notebook's pictures are not fresh

A cell of Markdown has one `<img>` and says in its metadata what it is: `"picture": "placement"` is the one that
`notebooks/pictures/NN_name.py` calls so, of the notebook `NN_name.ipynb`; `"alt"` is what one would learn from it. This
script writes the tag, and `"picture_hash"`. A picture is drawn at twice its size, with at most 256 colours.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.util
import json
import os
import re
import struct
import sys
import zlib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
PICTURES = NOTEBOOKS / "pictures"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SCALE, COLOURS = 2, 256
IMG = re.compile(r"<img\b[^>]*>")
PIXELS = """async ([svg, scale]) => {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width * scale, image.height * scale];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const bytes = context.getImageData(0, 0, canvas.width, canvas.height).data;
  let text = "";
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return [canvas.width, canvas.height, btoa(text)];
}"""


def drawn(notebook: Path) -> dict[str, str]:
    """Name -> SVG of the pictures that a lesson's script draws; {} without a script."""
    script = PICTURES / f"{notebook.stem}.py"
    if not script.exists():
        return {}
    sys.path.insert(0, str(PICTURES))
    try:
        spec = importlib.util.spec_from_file_location(f"pictures_{notebook.stem}", script)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(PICTURES))
    return module.draw()


def digest(svg: str) -> str:
    """What tells a picture from any other."""
    return hashlib.sha256(svg.encode()).hexdigest()[:16]


def problems(notebook: Path) -> Iterator[str]:
    """What is not fresh in a notebook and its folder of pictures, in words."""
    pictures, used = drawn(notebook), set()
    folder = PICTURES / notebook.stem
    for name, svg in pictures.items():
        path = folder / f"{name}.svg"
        if not path.exists() or path.read_text(encoding="utf-8") != svg:
            yield f"{path.relative_to(NOTEBOOKS)} is not what its script draws"
    for path in sorted(folder.glob("*.svg")):
        if path.stem not in pictures:
            yield f"{path.relative_to(NOTEBOOKS)} is drawn by nothing"
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        tags, name = IMG.findall("".join(cell["source"])), cell["metadata"].get("picture")
        if name is None:
            if tags and cell["cell_type"] == "markdown":
                yield f"{notebook.name}: an <img> in a cell without `picture`"
            continue
        used.add(name)
        if name not in pictures:
            yield f"{notebook.name}: no picture {name!r} is drawn"
        elif cell["metadata"].get("picture_hash") != digest(pictures[name]) or len(tags) != 1:
            yield f"{notebook.name}: {name!r} is not the picture that is drawn now"
        elif f'alt="{escape(cell["metadata"]["alt"])}"' not in tags[0]:
            yield f"{notebook.name}: {name!r} has another alt text than its cell says"
    for name in sorted(set(pictures) - used):
        yield f"{notebook.name}: {name!r} is drawn and not shown"


def embed(notebook: Path, page: Any) -> None:
    """Draw a notebook's pictures and put them in."""
    sys.path.insert(0, str(PICTURES))
    import drawing

    pictures = drawn(notebook)
    drawing.save(str(PICTURES / f"{notebook.stem}.py"), pictures)
    content = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        name = cell["metadata"].get("picture")
        if name is None:
            continue
        svg, source = pictures[name], "".join(cell["source"])
        if cell["metadata"].get("picture_hash") == digest(svg) and "base64," in source:
            data = re.search(r'src="([^"]+)"', source)[1]  # type: ignore[index]
        else:
            data = "data:image/png;base64," + base64.b64encode(to_png(*page.evaluate(PIXELS, [svg, SCALE]))).decode()
        width = re.search(r'width="(\d+)"', svg)[1]  # type: ignore[index]
        tag = f'<img width="{width}" alt="{escape(cell["metadata"]["alt"])}" src="{data}">'
        if not IMG.search(source):
            raise SystemExit(f"{notebook.name}: the cell of {name!r} has no <img>")
        cell["source"] = IMG.sub(lambda _, tag=tag: tag, source, count=1).splitlines(keepends=True)
        cell["metadata"]["picture_hash"] = digest(svg)
    notebook.write_text(json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{notebook}: {len(pictures)} pictures, {notebook.stat().st_size // 1000:,} kB")


def to_png(width: int, height: int, pixels: str) -> bytes:
    """A PNG with a palette: the most frequent colours; others become the nearest of them."""
    rgb = np.frombuffer(base64.b64decode(pixels), np.uint8).reshape(-1, 4)[:, :4].astype(np.int64)
    # Outside the card's round corners nothing is drawn: transparent, as black that nothing else is.
    packed = np.where(rgb[:, 3] < 128, 0, (rgb[:, 0] << 16) | (rgb[:, 1] << 8) | rgb[:, 2])
    found, inverse, counts = np.unique(packed, return_inverse=True, return_counts=True)
    kept = np.sort(found[np.argsort(-counts, kind="stable")[:COLOURS]])
    split = [np.stack([colours >> 16, colours >> 8 & 255, colours & 255], 1) for colours in (found, kept)]
    nearest = np.array([((split[1] - one) ** 2).sum(1).argmin() for one in split[0]], np.uint8)
    rows = nearest[inverse].reshape(height, width)
    raw = np.concatenate([np.zeros((height, 1), np.uint8), rows], 1).tobytes()
    palette = split[1].astype(np.uint8).tobytes()
    alpha = bytes(0 if colour == 0 else 255 for colour in kept)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = (b"IHDR", header), (b"PLTE", palette), (b"tRNS", alpha), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("notebook", type=Path, nargs="*")
    parser.add_argument("--all", action="store_true", help="every notebook")
    parser.add_argument("--check", action="store_true", help="say what is not fresh, and write nothing")
    options = parser.parse_args(arguments)
    every = options.all or (options.check and not options.notebook)
    with_pictures = (path for path in sorted(NOTEBOOKS.glob("*.ipynb")) if (PICTURES / f"{path.stem}.py").exists())
    notebooks = list(with_pictures) if every else options.notebook
    if not notebooks:
        parser.error("name a notebook, or --all")
    if options.check:
        found = [problem for notebook in notebooks for problem in problems(notebook)]
        print(*found, sep="\n")
        return int(bool(found))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        for notebook in notebooks:
            embed(notebook, page)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
