"""Writes code that turns a program into a variant: the mesh, the specs of arguments and results, the constraints.

Specs are in a table by array path, with `[*]` for equal layers, and a function turns the table into shardings: this
works for every pytree, whatever its nodes are. Names are written as Python literals: no name of a program can end a
line. Not its job: proving the lines (`handles.play.proof`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from pjit_inspect.analyze.play.controls import asked_specs, on_mesh, result_specs
from pjit_inspect.analyze.play.facts import Facts
from pjit_inspect.analyze.program.paths import split_path
from pjit_inspect.model.play.code import Code, CodeLine
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.program.mesh import PartitionSpec, spec_text

_LAYER = re.compile(r"\[\d+\]")
_STAR = "[*]"
_HELPER = (
    "def sharding_of(path, specs, other=P()):",
    '    """The sharding of one array, by its path; `other` is what the table does not have, None as XLA chooses."""',
    r'    starred = re.sub(r"\[\d+\]", "[*]", path)',
    "    spec = specs.get(path, specs.get(starred, other))",
    "    return None if spec is None else NamedSharding(mesh, spec)",
    "",
    "",
    "def shardings(name, tree, specs, other=P()):",
    '    """The shardings of a tree of arrays, for jax.device_put, jax.ShapeDtypeStruct, in_ and out_shardings."""',
    "    return jax.tree_util.tree_map_with_path(",
    "        lambda path, _: sharding_of(name + jax.tree_util.keystr(path), specs, other), tree",
    "    )",
)


def code_for(facts: Facts, base: PlaySetting, setting: PlaySetting, number: int, vmapped: Collection[str] = ()) -> Code:
    """The lines of a variant, with differences from the base marked; `vmapped` new constraints are in a `jax.vmap`."""
    before, after = asked_specs(facts, base), asked_specs(facts, setting)
    named = {path: spec for path, spec in after.items() if spec is not None}
    lines = [
        CodeLine(text="import re"),
        CodeLine(text=""),
        CodeLine(text="import jax"),
        CodeLine(text="from jax.sharding import AxisType, NamedSharding, PartitionSpec as P"),
        CodeLine(text=""),
        _mesh(facts, base, setting),
        *([CodeLine(text="jax.set_mesh(mesh)")] if facts.call.is_in_mesh else []),
        CodeLine(text=""),
        CodeLine(text="specs = {"),
        *_table(named, before, setting.sizes, [own.path for own in facts.arguments]),
        CodeLine(text="}"),
    ]
    results = _results(facts, setting)
    if results:
        was = {path: None if path in facts.free_results else facts.specs.get(path) for path in results}
        every = [own.path for own in facts.results]
        lines += [CodeLine(text="result_specs = {"), *_table(results, was, setting.sizes, every), CodeLine(text="}")]
    lines += [CodeLine(text=""), CodeLine(text=""), *(CodeLine(text=line) for line in _HELPER)]
    lines += _placing(facts, named, results)
    constraints = _constraints(facts, base, setting, vmapped)
    if constraints:
        lines += [CodeLine(text=""), *constraints]
    return Code(number=number, lines=tuple(lines), notes=tuple(_notes(facts, setting, results)))


def _mesh(facts: Facts, base: PlaySetting, setting: PlaySetting) -> CodeLine:
    text = f"mesh = {_made(setting.mesh, facts.explicit)}"
    if facts.is_mesh_given:
        return CodeLine(text=text, is_changed=True)
    is_changed = setting.mesh != base.mesh
    was = ", ".join(f"{name}={size}" for name, size in base.mesh)
    return CodeLine(text=text, is_changed=is_changed, was=was if is_changed else "")


def _made(mesh: Sequence[tuple[str, int]], explicit: str) -> str:
    """A mesh whose axes are of the types that they have as captured."""
    names, sizes = tuple(name for name, _ in mesh), tuple(size for _, size in mesh)
    kinds = ["Explicit" if name in explicit.split(", ") else "Auto" for name in names]
    types = f"({', '.join(f'AxisType.{kind}' for kind in kinds)})"
    if len(set(kinds)) == 1:
        types = f"(AxisType.{kinds[0]},) * {len(kinds)}"
    return f"jax.make_mesh({sizes!r}, {names!r}, axis_types={types})"


# ---------------------------------------------------------------- the table


def _table(
    specs: Mapping[str, PartitionSpec],
    before: Mapping[str, PartitionSpec | None],
    sizes: Mapping[str, int],
    every: Iterable[str],
) -> list[CodeLine]:
    """A line for each array, or for all of equal layers where these are split alike."""
    lines = []
    for key, paths in _together(specs, every):
        spec = specs[paths[0]]
        was = {on_mesh(before.get(path), sizes) for path in paths}
        is_changed = was != {spec}
        old = next(iter(was)) if len(was) == 1 else None
        before_text = "several" if len(was) > 1 else "left to XLA" if old is None else spec_text(_short(old))
        lines.append(
            CodeLine(
                text=f"    {key!r}: {spec_text(_short(spec))},",
                is_changed=is_changed,
                was=before_text if is_changed else "",
            )
        )
    return lines


def _together(specs: Mapping[str, PartitionSpec], every: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Keys of the table with their paths; a key is starred only if all arrays it matches are split alike."""
    matched = Counter(_LAYER.sub(_STAR, path) for path in every)
    starred: dict[str, list[str]] = {}
    for path in specs:
        starred.setdefault(_LAYER.sub(_STAR, path), []).append(path)
    found: list[tuple[str, list[str]]] = []
    for key, paths in starred.items():
        if len(paths) > 1 and len(paths) == matched[key] and len({specs[path] for path in paths}) == 1:
            found.append((key, paths))
        else:
            found += [(path, [path]) for path in paths]
    return found


def _short(spec: PartitionSpec) -> PartitionSpec:
    """Without the Nones at its end, which mean the same."""
    end = max((place + 1 for place, entry in enumerate(spec) if entry is not None), default=0)
    return spec[:end]


def _results(facts: Facts, setting: PlaySetting) -> dict[str, PartitionSpec]:
    """The specs of all results if one was set, without results left to XLA."""
    if not setting.results:
        return {}
    given = dict(setting.results)
    left = {path for path in facts.free_results if path not in given}
    return {path: spec for path, spec in result_specs(facts, setting).items() if spec is not None and path not in left}


# ---------------------------------------------------------------- where it goes


def _placing(facts: Facts, named: Collection[str], results: Mapping[str, PartitionSpec]) -> list[CodeLine]:
    """Code lines that place each argument named in the table, and the `jax.jit` call that uses them."""
    roots = list(dict.fromkeys(split_path(own.path)[0] for own in facts.arguments))
    name, call = facts.name, facts.call
    lines = [CodeLine(text=""), CodeLine(text="")]
    placed = {split_path(path)[0] for path in named}
    for root in roots:
        if root.isidentifier() and root in placed:
            lines.append(CodeLine(text=f"{root} = jax.device_put({root}, shardings({root!r}, {root}, specs))"))
    if results and name.isidentifier() and all(root.isidentifier() for root in roots):
        called = ", ".join((name, *call.arguments))
        options = ", ".join((name, "out_shardings=out_shardings", *call.options))
        lines += [
            CodeLine(
                text=f'out_shardings = shardings("result", jax.eval_shape({called}), result_specs, None)',
                is_changed=True,
            ),
            CodeLine(text=f"{name} = jax.jit({options})", is_changed=True),
        ]
    return lines


def _constraints(facts: Facts, base: PlaySetting, setting: PlaySetting, vmapped: Collection[str]) -> list[CodeLine]:
    """Lines for the constraints in the user's code, with their places."""
    before, after = dict(base.constraints), dict(setting.constraints)
    lines = []
    for own in facts.constraints:
        asked = before.get(own.place, on_mesh(own.asked, setting.sizes))
        wanted = after.get(own.place, asked)
        if own.place not in after and setting.mesh == base.mesh:
            continue
        was = "" if asked is None else spec_text(asked)
        place = own.place.encode("unicode_escape").decode()
        if wanted is None:
            lines.append(
                CodeLine(text=f"# {place}: without with_sharding_constraint(..., {was})", is_changed=True, was=was)
            )
            continue
        text = f"# {place}: with_sharding_constraint(..., NamedSharding(mesh, {spec_text(wanted)}))"
        lines.append(CodeLine(text=text, is_changed=wanted != asked, was=was if wanted != asked else ""))
    for name, spec in setting.added:
        place = name.encode("unicode_escape").decode()
        text = f"# {place}: with_sharding_constraint(..., NamedSharding(mesh, {spec_text(spec)})) on what it computes"
        if name in vmapped:
            text += ", without the dimensions that `vmap` adds (its `spmd_axis_name` splits those)"
        lines.append(CodeLine(text=text, is_changed=True))
    return lines


def _notes(facts: Facts, setting: PlaySetting, results: Mapping[str, PartitionSpec]) -> Iterable[str]:
    asked = asked_specs(facts, setting)
    placed = {split_path(path)[0] for path, spec in asked.items() if spec is not None}
    free = [own.path for own in facts.arguments if asked[own.path] is None and own.path in facts.free_arguments]
    if free:
        yield f"{len(free)} argument{'s are' if len(free) > 1 else ' is'} left to XLA, as captured"
    if whole := [path for path in free if split_path(path)[0] in placed]:
        yield f"{len(whole)} of them lie in a tree with others, and are placed without a split: leave them out there"
    if any(own.place not in dict(setting.constraints) for own in facts.constraints) and setting.mesh != facts.mesh:
        yield "constraints that name the mesh themselves need the new one"
    if setting.results and len(facts.free_results) < len(facts.results):
        yield f"{facts.name} has out_shardings of its own: these take their place"
    if not results and facts.returns and (setting.arguments or setting.mesh != facts.mesh):
        yield "results are left as they were: a next step gets them as XLA returns them"
