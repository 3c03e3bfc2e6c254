"""What an explained error proposes: code that takes the place of the user's, and advice in words.

Not its job: which change it is (the modules `analyze.explain_*`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pjit_inspect.analyze.error_specs import Spec, reshard_words, spec_words
from pjit_inspect.model.explained_error import ErrorArray, ErrorScene, Fit, MeshAxes

__all__ = [
    "advice",
    "changed_call",
    "listed",
    "mesh_named",
    "needs_mesh",
    "replaced_text",
    "reshard_fit",
    "with_argument",
    "with_meshes",
]

_BARE = ("reshard(", "out_sharding=")
"""What takes a spec alone only where a mesh is set."""
_PLAIN = re.compile(r"[\w.]+")


def advice(edit: str, effect: str) -> Fit:
    """What to do, in words."""
    return Fit(edit=edit, effect=effect, is_code=False)


def listed(words: Sequence[str]) -> str:
    """Names or texts in backticks: "`x`, `y` and `z`"."""
    marked = [f"`{word}`" for word in words]
    return marked[0] if len(marked) == 1 else f"{', '.join(marked[:-1])} and {marked[-1]}" if marked else "nothing"


def replaced_text(name: str, scene: ErrorScene) -> str:
    """The user's text of an operand: without the brackets that its name has where the line has none."""
    if name not in scene.expression and name.startswith("(") and name[1:-1] in scene.expression:
        return name[1:-1]
    return name


def reshard_fit(array: ErrorArray, target: Spec, scene: ErrorScene) -> Fit:
    """One operand in another split."""
    return Fit(
        edit=f"jax.sharding.reshard({array.name}, {spec_words(target)})",
        effect=reshard_words(array.name, array.spec or (), target), spec=target, target=array.name,
        replaces=replaced_text(array.name, scene),
    )  # fmt: skip


def changed_call(scene: ErrorScene, changes: Mapping[str, str]) -> str:
    """The user's call with other texts for some of its arguments; "" when one of them is no argument of its own."""
    callee, bracket, _ = scene.expression.partition("(")
    texts = {replaced_text(name, scene): text for name, text in changes.items()}
    held = [argument.text for argument in scene.arguments]
    if not bracket or not _PLAIN.fullmatch(callee) or not all(text in held for text in texts) or not all(held):
        return ""
    parts = [
        texts.get(argument.text, argument.text) if argument.key.isdigit()
        else f"{argument.key}={texts.get(argument.text, argument.text)}"
        for argument in scene.arguments
    ]  # fmt: skip
    return f"{callee}({', '.join(parts)})"


def with_argument(scene: ErrorScene, argument: str) -> str:
    """The user's call with one more argument; "" when the expression is no call."""
    text = scene.expression.rstrip()
    if not text.endswith(")") or not scene.arguments:
        return ""
    return f"{text[:-1].rstrip().rstrip(',')}, {argument})"


def mesh_named(wanted: MeshAxes | None, scene: ErrorScene) -> str:
    """The only variable of the user's that holds such a mesh; "" when there is none, or several."""
    if wanted is None:
        return ""
    held = [mesh for mesh in scene.meshes if mesh.axes == wanted.axes and mesh.types == wanted.types and mesh.name]
    if wanted.device_ids:
        held = [mesh for mesh in held if mesh.device_ids == wanted.device_ids]
    return held[0].name if len(held) == 1 else ""


def with_meshes(fits: Sequence[Fit], name: str) -> tuple[Fit, ...]:
    """The fits with their mesh in them, where a spec alone needs one that is set."""
    return tuple(_with_mesh(fit, name) for fit in fits)


def _with_mesh(fit: Fit, name: str) -> Fit:
    if not needs_mesh(fit) or fit.spec is None:
        return fit
    spec = spec_words(fit.spec)
    for text in (spec, spec_words(())):
        if fit.edit.count(text) == 1 and f"NamedSharding({name}, {text})" not in fit.edit:
            return replace(fit, edit=fit.edit.replace(text, f"NamedSharding({name}, {text})"))
    return fit


def needs_mesh(fit: Fit) -> bool:
    """Whether its code has a spec alone where JAX takes one only if a mesh is set."""
    return fit.is_code and any(word in fit.edit for word in _BARE) and "NamedSharding(" not in fit.edit
