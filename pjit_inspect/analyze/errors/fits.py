"""What an explained error proposes: code that takes the place of the user's, and advice in words.

Not its job: which change it is (the other modules of `analyze.errors`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.specs import reshard_words
from pjit_inspect.model.program.spec import PartitionSpec, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.sharding.mesh import Mesh, MeshAxes
from pjit_inspect.model.words.sentence import Phrase, Sentence, joined, name, say

_IN_BRACKETS = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
_BARE = re.compile(rf"(out_sharding=|jax\.sharding\.reshard\({_IN_BRACKETS}?, )(P\({_IN_BRACKETS}\))")
"""What takes a spec alone only where a mesh is set, and the spec."""


def advice(edit: str, effect: str) -> Fit:
    """What to do, in words."""
    return Fit(edit=Sentence(edit), effect=Sentence(effect), is_code=False)


def listed(texts: Sequence[str], kind: Callable[[str], Phrase] = name) -> Sentence:
    """Phrases of a kind: "`x`, `y` and `z`"; "nothing" for none."""
    return joined([kind(text) for text in texts]) or say("nothing")


def clauses(sentences: Sequence[str]) -> Sentence:
    """One after the other: "this; that"."""
    return joined(sentences, "; ", comma="; ")


def replaced_text(operand: str, scene: ErrorScene) -> str:
    """The user's text of an operand: without the brackets that its name has where the line has none."""
    if operand not in scene.expression and operand.startswith("(") and operand[1:-1] in scene.expression:
        return operand[1:-1]
    return operand


def reshard_fit(array: ErrorArray, target: PartitionSpec, scene: ErrorScene) -> Fit:
    """One operand in another split."""
    return Fit(
        edit=f"jax.sharding.reshard({array.name}, {spec_text(target)})",
        effect=reshard_words(array.name, array.spec or (), target), spec=target, target=array.name,
        replaces=replaced_text(array.name, scene),
    )  # fmt: skip


def changed_expression(scene: ErrorScene, changes: Mapping[str, str]) -> str:
    """The user's expression with other texts for some operands; "" when one of them is not in it."""
    texts = {replaced_text(operand, scene): text for operand, text in changes.items()}
    whole = f"({scene.expression}\n)"
    try:
        nodes = [node for node in ast.walk(ast.parse(whole, mode="eval")) if isinstance(node, ast.expr)]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    places = {
        (node.col_offset, node.end_col_offset or 0): text
        for node in nodes if (text := ast.get_source_segment(whole, node) or "") in texts
    }  # fmt: skip
    # From the end, so that what stands before keeps its place; a part of what is replaced goes with it.
    line, begin = whole.partition("\n")[0].encode(), len(whole)
    for (start, end), text in sorted(places.items(), key=lambda item: (-item[0][1], item[0][0])):
        if end <= begin:
            line, begin = line[:start] + texts[text].encode() + line[end:], start
    return line.decode()[1:] if set(places.values()) == set(texts) else ""


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
    if isinstance(wanted, Mesh):
        return scene.meshes.get(wanted, "")
    like = [mesh for mesh in scene.meshes if (mesh.axes, mesh.axis_types) == (wanted.axes, wanted.axis_types)]
    held = [variable for mesh in like if (variable := scene.meshes[mesh])]
    return held[0] if len(held) == 1 else ""


def with_meshes(fits: Sequence[Fit], mesh: str) -> tuple[Fit, ...]:
    """The fits with their mesh, a variable, in them, where a spec alone needs one that is set."""
    return tuple(_with_mesh(fit, mesh) for fit in fits)


def _with_mesh(fit: Fit, mesh: str) -> Fit:
    if not fit.is_code:
        return fit
    return replace(fit, edit=_BARE.sub(rf"\g<1>NamedSharding({mesh}, \g<2>)", fit.edit))


def needs_mesh(fit: Fit) -> bool:
    """Whether its code has a spec alone where JAX takes one only if a mesh is set."""
    return fit.is_code and _BARE.search(fit.edit) is not None
