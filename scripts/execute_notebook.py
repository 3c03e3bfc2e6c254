"""Execute notebooks and leave them, with their outputs, as `.ipynb` and as HTML pages that need no network.

    python scripts/execute_notebook.py notebooks/01_exploring_pjit.ipynb --out out
    python scripts/execute_notebook.py notebooks/01_exploring_pjit.ipynb --in-place     renews the saved outputs
    python scripts/execute_notebook.py --all                   executes all, shows what differs, writes nothing
    python scripts/execute_notebook.py --all --in-place        the same, and renews them

Prints the paths it wrote. Exits with 1, and the failing cell's traceback, when a cell raises; the notebook is written
to `--out` even then, never in place. `--diff` shows what differs from the saved outputs, as far as it is compared
(`compared_outputs.py`). Not its job: passing or failing by that (`scripts/test` does).
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
from compared_outputs import is_ignored, words
from jinja2 import DictLoader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

# nbconvert's own page loads require.js, MathJax, Mermaid and the widget manager from content delivery networks.
# Nothing in our notebooks needs them: displays are static pictures or complete pages in themselves.
_OFFLINE_PAGE = """\
{%- extends "lab/index.html.j2" -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
"""


ROOT = Path(__file__).resolve().parents[1]


def execute(path: Path) -> tuple[nbformat.NotebookNode, CellExecutionError | None]:
    """The notebook with the outputs of a fresh kernel, and the error that stopped it, if one did."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        return notebook, error
    return notebook, None


def to_offline_html(notebook: nbformat.NotebookNode, title: str) -> str:
    """The notebook as one HTML page that asks for nothing outside itself. Live widgets become their static form."""
    notebook = deepcopy(notebook)
    notebook.metadata.pop("widgets", None)
    page = HTMLExporter(template_name="lab", extra_loaders=[DictLoader({"offline.html.j2": _OFFLINE_PAGE})])
    page.template_file = "offline.html.j2"
    html, _ = page.from_notebook_node(notebook, resources={"metadata": {"name": title}})
    return html


def without_traces(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without what differs from run to run: this Python's version. Live widgets become their text."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def write_in_place(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Renew the saved notebook."""
    nbformat.write(without_traces(notebook), path)
    print(f"renewed: {path}")


def write_both(folder: Path, name: str, notebook: nbformat.NotebookNode) -> None:
    """Write the executed notebook and its report into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    executed = folder / name
    report = executed.with_suffix(".html")
    nbformat.write(notebook, executed)
    report.write_text(to_offline_html(notebook, executed.stem), encoding="utf-8")
    print(f"executed notebook: {executed}")
    print(f"report:            {report}")


def differences(saved: nbformat.NotebookNode, executed: nbformat.NotebookNode) -> Iterator[str]:
    """What differs in the outputs that are compared, cell by cell, as a diff."""
    numbers = [number for number, cell in enumerate(saved.cells) if cell.cell_type == "code" and not is_ignored(cell)]
    for number in numbers:
        pair = [list(words(notebook.cells[number].outputs)) for notebook in (saved, executed)]
        names = f"cell {number}, saved", f"cell {number}, executed"
        yield from difflib.unified_diff(*pair, *names, lineterm="", n=1)


def run_one(path: Path, options: argparse.Namespace) -> bool:
    """Execute one notebook and leave it where it was asked for. Whether every cell ran."""
    saved = nbformat.read(path, as_version=4)
    notebook, error = execute(path)
    if options.diff or options.all:
        found = list(differences(saved, notebook))
        print(f"{path}: {'differs' if found else 'as saved'}", *found, sep="\n", flush=True)
    if options.in_place and error is None:
        write_in_place(path, notebook)
    elif not options.all:
        write_both(options.out, path.name, notebook)
    if error is not None:
        print(f"a cell of {path} failed:\n{error}", file=sys.stderr)
    return error is None


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("notebook", type=Path, nargs="*")
    parser.add_argument("--all", action="store_true", help="every tutorial, with what differs; writes only --in-place")
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder to write to (default: out)")
    parser.add_argument("--in-place", action="store_true", help="renew the notebook's saved outputs instead")
    parser.add_argument("--diff", action="store_true", help="show what differs from the saved outputs")
    options = parser.parse_args(arguments)
    if options.all:
        # The tutorials' saved outputs are of eight fake CPU devices.
        os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
        options.notebook = sorted((ROOT / "notebooks").glob("*.ipynb"))
    elif not options.notebook:
        parser.error("name a notebook, or --all")
    return int(sum(not run_one(path, options) for path in options.notebook) > 0)


if __name__ == "__main__":
    sys.exit(main())
