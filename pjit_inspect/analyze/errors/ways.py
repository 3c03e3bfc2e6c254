"""Ways to fix an error: the user's expression with other specs, arguments or functions around it, and advice in words.

A change is data, for JAX to judge: what it refuses is dropped (`observe.errors.check`), so that none of its rules is
written here. Not its job: which error it is (`analyze.errors.table`).
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from pjit_inspect.analyze.errors.specs import reshard_words
from pjit_inspect.analyze.errors.table import Facts, Judge, read_code
from pjit_inspect.model.program.mesh import Mesh, MeshAxes, PartitionSpec, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Phrase, Sentence, joined, name, say

NOT_TOLD = say("which variables these are cannot be told from the traceback, so nothing is worked out for them")
"""Said where JAX's message is all there is."""

_PRODUCTS = ("@", "matmul", "dot")
_MOST_ASKED = 64

# ---------------------------------------------------------------- words


def advice(edit: str, effect: str) -> Fit:
    """Advice in words."""
    return Fit(edit=Sentence(edit), effect=Sentence(effect), is_code=False)


def listed(texts: Iterable[str], kind: Callable[[str], Phrase] = name) -> Sentence:
    """Phrases of a kind: "`x`, `y` and `z`"; "nothing" for none."""
    return joined([kind(text) for text in texts]) or say("nothing")


def alone(texts: Sequence[str], kind: Callable[[str], Phrase] = name) -> Phrase | None:
    """The only one of some texts, as a phrase; None where there are none, or several."""
    return kind(texts[0]) if len(texts) == 1 else None


def clauses(sentences: Sequence[str], most: int = 8) -> Sentence:
    """One after the other: "this; that; and 3 more"."""
    more = [f"and {len(sentences) - most} more"] if len(sentences) > most else []
    return joined([*sentences[:most], *more], "; ", comma="; ")


def text_of(facts: Facts, key: str) -> str:
    """A fact as plain text; "" for one that is not known."""
    value = facts.get(key, "")
    return value.text if isinstance(value, Phrase) else str(value)


# ---------------------------------------------------------------- the user's arrays, meshes and calls


def split_operands(scene: ErrorScene) -> tuple[ErrorArray, ...]:
    """The operands whose shape and split are known."""
    return tuple(array for array in scene.operands if array.spec is not None and array.shape is not None)


def owns_of(said: ErrorArray, scene: ErrorScene) -> list[ErrorArray]:
    """The operands that are as a message says, as far as it says shape, type, split and devices.

    Of several alike those that have the devices in that order, then those at that path of their tree, if any are.
    """
    same = [own for own in scene.operands if _is_as(own, said)]
    # The path is the part after the variable: `['w']` of `params['w']`, whatever the caller and the function call it.
    for key in (lambda array: array.device_ids, lambda array: re.sub(r"^\w+", "", array.name)):
        same = [own for own in same if key(own) == key(said)] or same
    return same


def _is_as(own: ErrorArray, said: ErrorArray) -> bool:
    return (
        said.shape in (None, own.shape)
        and (not said.dtype or _short(own.dtype) == _short(said.dtype))
        # Trailing entries may be left out.
        and (said.spec is None or all(a == b for a, b in itertools.zip_longest(own.spec or (), said.spec)))
        and (not said.device_ids or sorted(own.device_ids) == sorted(said.device_ids))
    )


def _short(dtype: str) -> str:
    return dtype.replace("float", "f").replace("uint", "u").replace("int", "i").replace("complex", "c")


def own_of(said: ErrorArray, scene: ErrorScene) -> ErrorArray | None:
    """The only operand that is as a message says."""
    same = owns_of(said, scene)
    return same[0] if len(same) == 1 else None


def texts_of(scene: ErrorScene) -> dict[str, str]:
    """The texts of the call's arguments, by keyword or position."""
    return {argument.key: argument.text for argument in scene.arguments}


def replaced_text(operand: str, scene: ErrorScene) -> str:
    """The user's text of an operand: without the brackets that its name has where the line has none."""
    if operand not in scene.expression and operand.startswith("(") and operand[1:-1] in scene.expression:
        return operand[1:-1]
    return operand


def mesh_named(wanted: MeshAxes | None, scene: ErrorScene) -> str:
    """The only variable of the user's that holds such a mesh; "" when there is none, or several."""
    if wanted is None or isinstance(wanted, Mesh):
        return scene.meshes.get(wanted, "") if wanted is not None else ""
    like = [mesh for mesh in scene.meshes if (mesh.axes, mesh.axis_types) == (wanted.axes, wanted.axis_types)]
    held = [variable for mesh in like if (variable := scene.meshes[mesh])]
    return held[0] if len(held) == 1 else ""


def meshes_with(held: str, scene: ErrorScene) -> list[tuple[Mesh, str]]:
    """The user's meshes that have an axis, with their variables."""
    return [(mesh, variable) for mesh, variable in scene.meshes.items() if held in mesh.sizes and variable]


def call_of(scene: ErrorScene, function: str) -> str:
    """The text of the call of a function in the user's expression: `jax.vmap(f)` of `jax.vmap(f)(x)`; "" for none."""
    text = scene.expression.strip()
    calls = [one for one in ast.walk(read_code(text) or ast.Pass()) if isinstance(one, ast.Call)]
    own = [one for one in calls if getattr(one.func, "attr", getattr(one.func, "id", "")) == function]
    return (ast.get_source_segment(text, own[0]) or "") if own else ""


# ---------------------------------------------------------------- code in place of the user's


def instead(scene: ErrorScene, edit: str, effect: str) -> Fit:
    """Code in place of the whole expression."""
    return Fit(edit=edit, effect=say("{}", effect), replaces=scene.expression)


def with_argument(scene: ErrorScene, argument: str) -> str:
    """The user's call with one more argument; "" when the expression is no call."""
    text = scene.expression.rstrip()
    return f"{text[:-1].rstrip().rstrip(',')}, {argument})" if text.endswith(")") and scene.arguments else ""


def with_text(call: str, own: str, text: str) -> str:
    """A call with another text for the last argument that is written so; "" where none is."""
    node = read_code(call)
    held = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    same = [part for part in held if ast.get_source_segment(call, part) == own]
    # Python counts columns in bytes: they are places in the text only where every character is one, and of one line.
    if not same or same[-1].end_col_offset is None or not call.isascii() or "\n" in call:
        return ""
    return f"{call[: same[-1].col_offset]}{text}{call[same[-1].end_col_offset :]}"


def nearest_name(wrong: str, names: Sequence[str], scene: ErrorScene) -> Iterator[Fit]:
    """The nearest of some names in place of one that there is not, as the user has quoted it."""
    written = quoted if (quoted := f'"{wrong}"') in scene.expression else repr(wrong)
    for near in get_close_matches(wrong, names, n=1):
        yield Fit(edit=written.replace(wrong, near), effect=say("the nearest name"), replaces=written)


def changed_expression(scene: ErrorScene, changes: Mapping[str, str]) -> str:
    """The user's expression with other texts for some operands; "" when one of them is not in it."""
    texts = {replaced_text(operand, scene): text for operand, text in changes.items()}
    whole = f"({scene.expression}\n)"
    nodes = [node for node in ast.walk(read_code(whole) or ast.Pass()) if isinstance(node, ast.expr)]
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


# ---------------------------------------------------------------- other splits


def reshard_fit(array: ErrorArray, target: PartitionSpec, scene: ErrorScene) -> Fit:
    """One operand in another split."""
    return Fit(
        edit=f"jax.sharding.reshard({array.name}, {spec_text(target)})",
        effect=reshard_words(array.name, array.spec or (), target), spec=target, target=array.name,
        replaces=replaced_text(array.name, scene),
    )  # fmt: skip


def first_accepted(fits: Iterable[Fit], judge: Judge, most: int = 1) -> list[Fit]:
    """The first of these that JAX takes, of the nearest sixty-four."""
    return list(itertools.islice((fit for fit in itertools.islice(fits, _MOST_ASKED) if judge(fit, ())), most))


def moved(
    targets: Iterable[tuple[ErrorArray, PartitionSpec]], scene: ErrorScene, *, is_whole: bool = False
) -> Fit | None:
    """Operands in other splits, of several, of an operator or with `is_whole` as the whole expression."""
    fits = [reshard_fit(array, target, scene) for array, target in targets if target != array.spec]
    changes = {fit.target: fit.edit for fit in fits}
    edit = changed_expression(scene, changes) if fits and (is_whole or len(fits) > 1) else ""
    is_operator = scene.operator not in ("", "[]") and not scene.operator.isidentifier()
    if fits and is_operator and len(scene.operands) == 2:
        edit = f" {scene.operator} ".join(changes.get(own.name, own.name) for own in scene.operands)
    if edit:
        return replace(fits[0], edit=edit, effect=clauses([fit.effect for fit in fits]), replaces=scene.expression)
    return fits[0] if len(fits) == 1 else None


def with_out_sharding(spec: PartitionSpec, effect: str, scene: ErrorScene) -> Iterator[Fit]:
    """The user's expression with an `out_sharding`; nothing where it can have none."""
    argument, names = f"out_sharding={spec_text(spec)}", [array.name for array in scene.operands]
    if scene.operator == "[]" and names:
        edit = f"{names[0]}.at[{scene.subscripts}].get({argument})"
    elif scene.operator in _PRODUCTS and not scene.expression.partition("(")[2].startswith(names[0]):
        edit = f"jnp.matmul({', '.join(names)}, {argument})"
    else:
        edit = with_argument(scene, argument)
    if edit:
        yield replace(instead(scene, edit, effect), spec=spec, target="result")
