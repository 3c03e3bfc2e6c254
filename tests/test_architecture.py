"""Imports follow the plan of `docs/architecture.md`; this file holds the plan as data and reads every import.

Not its job: style (ruff) and types (pyright).
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pjit_inspect

PACKAGE = Path(pjit_inspect.__file__).parent
ARCHITECTURE = PACKAGE.parent / "docs" / "architecture.md"

# Room -> the other rooms it may import. A room may always import itself. "__init__" is `pjit_inspect/__init__.py`.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "standard": set(),
    "model": {"standard"},
    "guard": set(),
    "observe": {"model", "errors", "guard", "standard"},
    "parse": {"model", "errors", "standard"},
    "analyze": {"model", "errors", "guard"},
    "view": {"model", "guard", "standard"},
    "handles": {"model", "errors", "guard", "observe", "parse", "analyze", "view"},
    "api": {"model", "observe", "handles"},
    "ipython": {"model", "errors", "guard", "analyze", "view", "api"},
    "lesson": {"api", "errors"},
    "testing": {"model", "errors", "standard", "parse", "analyze", "view", "handles", "api"},
    "cli": {"api", "errors", "parse", "standard", "testing"},
    "__main__": {"cli"},
    "__init__": {"api", "errors", "handles", "ipython", "testing"},
}

# The same within a room: sub-room -> the other sub-rooms of its room it may import.
INSIDE: dict[str, dict[str, set[str]]] = {
    "model": {
        "words": set(),
        "program": set(),
        "sharding": {"program"},
        "record": {"words", "program", "sharding"},
        "time": {"program"},
        "report": {"words", "program", "record", "time"},
        "diff": {"words", "program", "record", "report"},
        "memory": {"words", "program", "record", "report"},
        "play": {"words", "program", "record"},
    },
    "parse": {
        "wire": set(),
        "hlo_proto": {"wire"},
        "hlo_text": {"wire", "hlo_proto"},
        "sharding": {"wire"},
        "messages": {"wire"},
        "buffers": {"wire"},
        "profile": {"wire"},
        "files": {"wire", "hlo_proto", "hlo_text"},
    },
    "observe": {
        "contract": set(),
        "apart": set(),
        "live": {"contract"},
        "shardy": {"contract", "apart"},
        "partitioner": {"contract", "apart", "live", "shardy"},
        "key": {"contract", "live"},
        "errors": {"contract", "live"},
        "watch": {"contract", "live", "key"},
        "profiler": {"contract", "watch"},
    },
    "analyze": {
        "program": set(),
        "sharding": {"program"},
        "partition": {"program"},
        "causes": {"program", "sharding", "partition"},
        "collectives": {"program", "causes"},
        "graph": {"program"},
        "passes": set(),
        "time": {"program", "graph"},
        "advice": {"program", "sharding", "collectives", "graph"},
        "findings": {"program", "sharding", "causes", "recompiles", "advice"},
        "memory": {"program", "advice"},
        "play": {"program"},
        "recompiles": {"advice"},
        "errors": set(),
        "processes": {"recompiles"},
        "measured": {"program"},
        "report": {"program", "sharding", "causes", "collectives", "recompiles"},
        "diff": {"program", "sharding", "graph"},
    },
    "view": {
        "document": set(),
        "svg": {"document"},
        "render": {"document", "svg"},
        "charts": {"document"},
        "record": {"document", "svg", "charts"},
        "figures": {"document", "svg", "render", "charts"},
        "pages": {"document", "charts", "record"},
        "time": {"document", "svg", "charts", "record", "inspector"},
        "inspector": {"document", "record"},
        "memory": {"document", "svg", "record", "inspector"},
        "diff": {"document", "record", "inspector"},
        "play": {"document", "svg", "render", "inspector", "diff"},
        "passes": {"document", "inspector"},
    },
}

# Packages of others that only some rooms may import; what is not named here, any room may.
ONLY_IN: dict[str, set[str]] = {
    "jax": {"observe"},
    "jaxlib": {"observe"},
    "IPython": {"ipython", "view"},
    "ipykernel": {"ipython"},
    "anywidget": {"view"},
    "ipywidgets": {"view", "lesson"},
    "plotly": {"view"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import statement: who (a module's dotted name), what (likewise), where, and whether it runs at once."""

    importer: str
    imported: str
    line: int
    at_load: bool

    def __str__(self) -> str:
        return f"{self.importer} line {self.line} imports {self.imported}"


def modules() -> dict[str, str]:
    """Dotted name -> source of every module of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def sub_room_of(module: str) -> str:
    """The sub-room a module is in, "" for a module of a room without any, or for the room itself."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 and parts[1] in INSIDE else ""


def read_imports(importer: str, source: str, known: frozenset[str], *, is_package: bool = False) -> list[Import]:
    """Every import in a source text, with names made absolute."""
    return [
        Import(importer=importer, imported=imported, line=node.lineno, at_load=at_load)
        for node, at_load in walk(ast.parse(source))
        for imported in targets(node, importer, known, is_package)
    ]


def walk(tree: ast.AST, at_load: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Every node, and whether it runs when the module is loaded."""
    for node in ast.iter_child_nodes(tree):
        lazy = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or is_type_checking(node)
        yield node, at_load
        yield from walk(node, at_load and not lazy)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def targets(node: ast.AST, importer: str, known: frozenset[str], is_package: bool) -> list[str]:
    """The modules an import statement names; [] for any other node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = absolute(node, importer, is_package)
        return [f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in (
        "importlib.import_module",
        "import_module",
        "__import__",
    ):
        first = node.args[0] if node.args else None
        return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
    return []


def absolute(node: ast.ImportFrom, importer: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = importer.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, *([node.module] if node.module else [])])


def every_import() -> list[Import]:
    sources = modules()
    known = frozenset(sources)
    packages = {".".join(path.parent.relative_to(PACKAGE.parent).parts) for path in PACKAGE.rglob("__init__.py")}
    return [
        found
        for name, source in sources.items()
        for found in read_imports(name, source, known, is_package=name in packages)
    ]


def is_ours(module: str) -> bool:
    return module.split(".")[0] == "pjit_inspect"


def breaks_the_plan(found: Import) -> bool:
    """True when the import crosses between rooms where the plan has no edge, or takes a package reserved for others."""
    importer = room_of(found.importer)
    if not is_ours(found.imported):
        return importer not in ONLY_IN.get(found.imported.split(".")[0], {importer})
    imported = room_of(found.imported)
    if imported != importer:
        return imported not in ALLOWED[importer]
    inner, of = sub_room_of(found.importer), sub_room_of(found.imported)
    return inner != of and of not in INSIDE[importer].get(inner, set())


def find_cycle(imports: list[Import]) -> list[str]:
    """The modules of one circle of imports, or [] when there is none."""
    graph: dict[str, set[str]] = {}
    for found in imports:
        if is_ours(found.imported) and found.imported != found.importer:
            graph.setdefault(found.importer, set()).add(found.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_every_module_lies_in_a_room_of_the_plan():
    strangers = [name for name in modules() if room_of(name) not in ALLOWED]
    strangers += [n for n in modules() if sub_room_of(n) and sub_room_of(n) not in INSIDE[room_of(n)]]
    assert not strangers, f"add them to docs/architecture.md and to ALLOWED: {strangers}"


def test_imports_follow_the_plan():
    broken = [str(found) for found in every_import() if breaks_the_plan(found)]
    assert not broken, "\n".join(broken)


def test_no_imports_run_in_a_circle():
    assert not find_cycle(every_import())


def test_the_package_itself_imports_our_modules_only_on_first_use():
    eager = [
        str(found)
        for found in every_import()
        if found.importer == "pjit_inspect" and is_ours(found.imported) and found.at_load
    ]
    assert not eager, "\n".join(eager)


def test_importing_the_package_imports_neither_jax_nor_a_notebook():
    script = "import sys, pjit_inspect; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "pjit_inspect" in loaded
    assert not loaded & {
        "jax",
        "jaxlib",
        "IPython",
        "ipykernel",
        "ipywidgets",
        "anywidget",
        "plotly",
        "numpy",
        "google",
    }


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("pjit_inspect.view.render.text", "from pjit_inspect.parse.hlo_proto.hlo import parse_hlo"),
        ("pjit_inspect.view.render.text", "def draw():\n    from pjit_inspect import parse"),
        ("pjit_inspect.view.render.text", "from ..analyze import report"),
        ("pjit_inspect.analyze.report.report", "import pjit_inspect.parse"),
        ("pjit_inspect.model.program.mesh", "from pjit_inspect.errors import ParseError"),
        ("pjit_inspect.parse.hlo_proto.hlo", "import jax.numpy as jnp"),
        ("pjit_inspect.parse.hlo_proto.hlo", "import importlib\nimportlib.import_module('jax')"),
        ("pjit_inspect.parse.hlo_proto.hlo", "if TYPE_CHECKING:\n    from jaxlib import xla_client"),
        ("pjit_inspect.analyze.program.source", "from pjit_inspect.analyze.causes.causes import CauseFinder"),
        ("pjit_inspect.analyze.graph.fold", "from pjit_inspect.analyze.errors import explain"),
        ("pjit_inspect.view.svg.svg", "from ..record import record"),
        ("pjit_inspect.api", "from pjit_inspect.ipython import magics"),
        ("pjit_inspect.observe.log", "from IPython import get_ipython"),
    ],
)
def test_a_forbidden_import_is_found(importer: str, source: str):
    known = frozenset({"pjit_inspect.parse", "pjit_inspect.parse.hlo_proto.hlo", "pjit_inspect.ipython.magics"})
    assert any(breaks_the_plan(found) for found in read_imports(importer, source, known))


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("pjit_inspect.view.render.text", "from pjit_inspect.model.program.mesh import Mesh"),
        ("pjit_inspect.observe.log", "import jax"),
        ("pjit_inspect.observe.log", "from pjit_inspect import errors"),
        ("pjit_inspect.model.record.record", "from ..sharding.mesh import Mesh"),
        ("pjit_inspect.analyze.causes.causes", "from pjit_inspect.analyze.program import source"),
        ("pjit_inspect.parse.hlo_proto.hlo", "import numpy"),
        ("pjit_inspect.parse.hlo_proto.hlo", "import jaxtyping"),
    ],
)
def test_an_allowed_import_is_not_reported(importer: str, source: str):
    known = frozenset({"pjit_inspect.errors"})
    assert not any(breaks_the_plan(found) for found in read_imports(importer, source, known))


def test_a_circle_of_imports_is_found():
    a = read_imports("pjit_inspect.model.a", "from pjit_inspect.model import b", frozenset({"pjit_inspect.model.b"}))
    b = read_imports("pjit_inspect.model.b", "def late():\n    import pjit_inspect.model.a", frozenset())
    assert set(find_cycle([*a, *b])) == {"pjit_inspect.model.a", "pjit_inspect.model.b"}
    assert not find_cycle(a)


@pytest.mark.parametrize("plan", [ALLOWED, *INSIDE.values()])
def test_the_plan_itself_has_no_circle(plan: dict[str, set[str]]):
    assert set(TopologicalSorter(plan).static_order()) == set(plan)


def test_nothing_of_the_plan_is_unused():
    imports = [found for found in every_import() if is_ours(found.imported)]
    rooms = {(room_of(found.importer), room_of(found.imported)) for found in imports}
    inner = {
        (found.importer.split(".")[1], sub_room_of(found.importer), sub_room_of(found.imported))
        for found in imports
        if room_of(found.importer) == room_of(found.imported)
    }
    assert [(a, b) for a, targets in ALLOWED.items() for b in targets if (a, b) not in rooms] == []
    assert [
        (r, a, b) for r, plan in INSIDE.items() for a, to in plan.items() for b in to if (r, a, b) not in inner
    ] == []


def test_no_folder_is_a_long_list():
    long = {folder: number for folder in folders() if (number := len(list(files_of(folder)))) > 20}
    assert long == {}, "find what belongs together in them, and give it a folder"
    assert len(list(PACKAGE.glob("*.py"))) <= 8


def test_no_two_classes_share_a_name():
    """A reader who meets a name need not ask which of two it is."""
    found = [node.name for tree in trees() for node in tree.body if isinstance(node, ast.ClassDef)]
    assert sorted(name for name, number in Counter(found).items() if number > 1) == []


def test_no_private_function_is_long():
    own = (node for tree in trees() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    private = (node for node in own if node.name.startswith("_") and not node.name.endswith("__"))
    long = {node.name: number for node in private if (number := (node.end_lineno or 0) - node.lineno + 1) > 40}
    assert long == {}, "say its steps by functions of their own"


def trees() -> Iterator[ast.Module]:
    """Every module of the package, parsed."""
    yield from (ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py")))


def test_no_two_files_of_tests_share_a_name():
    """Pytest imports them by their base names: two of one name stop the run over all of them, and no run of some."""
    names = [path.name for path in (PACKAGE.parent / "tests").rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def folders() -> Iterator[Path]:
    """Every folder of the package and of its tests that holds source code."""
    for root in (PACKAGE, PACKAGE.parent / "tests"):
        yield from (path for path in (root, *root.rglob("*")) if path.is_dir() and "node_modules" not in path.parts)


def files_of(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.suffix in (".py", ".js", ".css"))


def documented_edges() -> dict[str, set[str]]:
    """The table of `docs/architecture.md`: room -> the rooms its last column names."""
    rows = [
        line.split("|")[1:-1] for line in ARCHITECTURE.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"
    ]
    names = [(row[0].strip(), row[-1]) for row in rows]
    return {to_room(first): {to_room(name) for name in last.split("`")[1::2]} for first, last in names}


def to_room(cell: str) -> str:
    return cell.strip("` ").removesuffix("/").removesuffix(".py")


def test_the_documented_table_is_the_one_that_is_tested():
    inside = {f"{room}/{name}": to for room, plan in INSIDE.items() for name, to in plan.items()}
    assert documented_edges() == ALLOWED | {k: {f"{k.split('/')[0]}/{n}" for n in v} for k, v in inside.items()}
