"""What an explained error proposes: code that takes the place of the user's, and advice in words.

Not its job: which change it is (the modules `analyze.explain_*`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.specs import reshard_words
from pjit_inspect.model.program.spec import PartitionSpec, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit, MeshAxes

__all__ = [
    "advice",
    "changed_call",
    "changed_expression",
    "listed",
    "mesh_named",
    "needs_mesh",
    "replaced_text",
    "reshard_fit",
    "with_argument",
    "with_meshes",
]

_IN_BRACKETS = r"(?:[^()]|\([^()]*\))*"
_BARE = re.compile(rf"(out_sharding=|jax\.sharding\.reshard\({_IN_BRACKETS}?, )(P\({_IN_BRACKETS}\))")
"""What takes a spec alone only where a mesh is set, and the spec."""
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


def reshard_fit(array: ErrorArray, target: PartitionSpec, scene: ErrorScene) -> Fit:
    """One operand in another split."""
    return Fit(
        edit=f"jax.sharding.reshard({array.name}, {spec_text(target)})",
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


def changed_expression(scene: ErrorScene, changes: Mapping[str, str]) -> str:
    """The user's expression with other texts for some operands; "" when one of them is not in it."""
    text = scene.expression
    for number, name in enumerate(changes):
        own = replaced_text(name, scene)
        end = r"(?!\w)" if own[-1:].isalnum() else ""
        text, count = re.subn(rf"(?<![\w.]){re.escape(own)}{end}", f"\0{number}\0", text)
        if not count:
            return ""
    for number, changed in enumerate(changes.values()):
        text = text.replace(f"\0{number}\0", changed)
    return text


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
    if not fit.is_code:
        return fit
    return replace(fit, edit=_BARE.sub(rf"\g<1>NamedSharding({name}, \g<2>)", fit.edit))


def needs_mesh(fit: Fit) -> bool:
    """Whether its code has a spec alone where JAX takes one only if a mesh is set."""
    return fit.is_code and _BARE.search(fit.edit) is not None
