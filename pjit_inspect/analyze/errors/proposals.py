"""Changes of the user's expression, proposed for JAX to judge: other specs, `shard_map` around it, other arguments.

Each is data; those that JAX refuses are dropped (`observe.errors.check`), so that none of its rules is written here.
Not its job: which error it is (`analyze.errors.table`).
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from pjit_inspect.analyze.errors.fits import changed_expression, clauses, reshard_fit, with_argument
from pjit_inspect.analyze.errors.specs import over_words, without_repeats
from pjit_inspect.analyze.errors.table import Facts, Judge, read_code
from pjit_inspect.model.program.spec import PartitionSpec, SpecEntry, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, name, say

NOT_TOLD = say("which variables these are cannot be told from the traceback, so nothing is worked out for them")
"""Said where JAX's message is all there is."""

_PRODUCTS = ("@", "matmul", "dot")
_SUMS = ("psum", "pmean", "pmax", "pmin", "psum_scatter")
_MOST = 3
_MOST_ASKED = 64
_MOST_RANK = 5


def split_operands(scene: ErrorScene) -> tuple[ErrorArray, ...]:
    """The operands whose shape and split are known."""
    return tuple(array for array in scene.operands if array.spec is not None and array.shape is not None)


def only_of(wanted: ErrorArray, scene: ErrorScene) -> ErrorArray | None:
    """The only operand of the expression that has the type the message quotes."""
    whole = (None,) * len(wanted.shape or ())
    same = [own for own in scene.operands if own.shape == wanted.shape and (own.spec or whole) == wanted.spec]
    return same[0] if len(same) == 1 else None


def first_accepted(fits: Iterable[Fit], judge: Judge, most: int = 1) -> list[Fit]:
    """The first of these that JAX takes, of the nearest sixty-four."""
    return list(itertools.islice((fit for fit in itertools.islice(fits, _MOST_ASKED) if judge(fit, ())), most))


def specs_towards(
    own: ErrorArray, wanted: Sequence[SpecEntry], more: Sequence[SpecEntry] = ()
) -> Iterator[PartitionSpec]:
    """Every split between an array's own and a wanted one, or with some of `more`, the nearest first; not its own.

    Near is what differs least from what is wanted, then what differs least from its own.
    """
    before = own.spec or ()
    choices = [tuple(dict.fromkeys((asked, mine, *more, None))) for asked, mine in zip(wanted, before, strict=True)]

    def distance(target: PartitionSpec) -> tuple[int, int]:
        changed = [new != mine for new, mine in zip(target, before, strict=True)]
        return sum(new != asked for new, asked in zip(target, wanted, strict=True)), sum(changed)

    # Of many dimensions, the last ones keep the first choice.
    tried = [choice if place < _MOST_RANK else choice[:1] for place, choice in enumerate(choices)]
    # What has an axis twice is no spec.
    targets = (target for target in itertools.product(*tried) if target not in (before, *_repeating(target)))
    yield from sorted(targets, key=distance)


def _repeating(target: PartitionSpec) -> tuple[PartitionSpec, ...]:
    return (target,) if without_repeats(target) != target else ()


def resharded(own: ErrorArray, target: PartitionSpec, scene: ErrorScene, *, is_whole: bool = False) -> Fit:
    """One operand in another split; between two of an operator, or with `is_whole`, as the whole expression."""
    fit, operands = reshard_fit(own, target, scene), scene.operands
    if scene.operator and not scene.operator.isidentifier() and len(operands) == 2:
        sides = [fit.edit if operand is own else operand.name for operand in operands]
        return replace(fit, edit=f" {scene.operator} ".join(sides), replaces=scene.expression)
    edit = changed_expression(scene, {own.name: fit.edit}) if is_whole else ""
    return replace(fit, edit=edit, replaces=scene.expression) if edit else fit


def together(targets: Iterable[tuple[ErrorArray, PartitionSpec]], scene: ErrorScene) -> Iterator[Fit]:
    """Operands in other splits, all of them in one edit."""
    fits = [reshard_fit(array, target, scene) for array, target in targets if target != array.spec]
    if len(fits) == 1:
        yield fits[0]
    elif edit := changed_expression(scene, {fit.target: fit.edit for fit in fits}) if fits else "":
        yield replace(fits[0], edit=edit, effect=clauses([fit.effect for fit in fits]), replaces=scene.expression)


def cleared(operands: Sequence[ErrorArray], scene: ErrorScene) -> Iterator[Fit]:
    """Operands that are split along fewer dimensions: those that give up fewest first."""
    entries = [(array, place) for array in operands for place, entry in enumerate(array.spec or ()) if entry]
    for count in range(1, len(entries) + 1):
        for chosen in itertools.combinations(entries, count):
            yield from together(((array, _without(array, chosen)) for array in operands), scene)


def _without(array: ErrorArray, chosen: Sequence[tuple[ErrorArray, int]]) -> PartitionSpec:
    gone = {place for own, place in chosen if own is array}
    return tuple(None if place in gone else entry for place, entry in enumerate(array.spec or ()))


def with_out_sharding(spec: PartitionSpec, effect: Sentence, scene: ErrorScene) -> Iterator[Fit]:
    """The user's expression with an `out_sharding`; nothing where it can have none."""
    argument, names = f"out_sharding={spec_text(spec)}", [array.name for array in scene.operands]
    edit = ""
    if scene.operator == "[]" and names:
        edit = f"{names[0]}.at[{scene.subscripts}].get({argument})"
    elif scene.operator in _PRODUCTS and not scene.expression.partition("(")[2].startswith(names[0]):
        edit = f"jnp.matmul({', '.join(names)}, {argument})"
    elif scene.expression:
        edit = with_argument(scene, argument)
    if edit:
        yield Fit(edit=edit, effect=effect, spec=spec, target="result", replaces=scene.expression)


def indexed_fits(array: ErrorArray, scene: ErrorScene) -> Iterator[Fit]:
    """What is picked from an array, with its split said; or the array with none."""
    if scene.operator == "[]":
        for spec, effect in _picked_specs(array, scene):
            yield from with_out_sharding(spec, effect, scene)
        yield from with_out_sharding((), say("a copy of the result on every device"), scene)
    if any(array.spec or ()):
        yield reshard_fit(array, (None,) * len(array.shape or ()), scene)


def _picked_specs(array: ErrorArray, scene: ErrorScene) -> Iterator[tuple[PartitionSpec, Sentence]]:
    """The spec that the indices and the rest of the array suggest, for `table[ids]` and `table[:, ids]`."""
    others = [other for other in scene.operands if other is not array]
    picks = [text.strip() for text in scene.subscripts.split(",")]
    if len(others) != 1 or set(picks) - {":", others[0].name} or picks.count(others[0].name) != 1:
        return
    indices, place, spec = others[0], picks.index(others[0].name), array.spec or ()
    rows, own = spec[place] if place < len(spec) else None, indices.spec or (None,) * len(indices.shape or ())
    natural = without_repeats((*spec[:place], *own, *spec[place + 1 :]))
    effect = say("split as the indices are")
    if rows is not None:
        effect = say("communicates over {}, along which each device has other rows", over_words(rows))
    elif not any(spec):
        effect = say("split as {} is; nothing is sent", name(indices.name))
    if any(natural) and "bool" not in indices.dtype:
        yield natural, effect


def text_of(facts: Facts, key: str) -> str:
    """A fact as plain text; "" for one that is not known."""
    value = facts.get(key, "")
    return value.text if isinstance(value, Phrase) else str(value)


def call_of(scene: ErrorScene, function: str) -> str:
    """The text of the call of a function in the user's expression: `jax.vmap(f)` of `jax.vmap(f)(x)`; "" for none."""
    text = scene.expression.strip()
    calls = [one for one in ast.walk(read_code(text) or ast.Pass()) if isinstance(one, ast.Call)]
    own = [one for one in calls if getattr(one.func, "attr", getattr(one.func, "id", "")) == function]
    return (ast.get_source_segment(text, own[0]) or "") if own else ""


def with_keyword(scene: ErrorScene, function: str, keyword: str, effect: str) -> Iterator[Fit]:
    """The call of a function with one more keyword."""
    call = call_of(scene, function)
    if call and f"{keyword.partition('=')[0]}=" not in call:
        inner = call[:-1].rstrip().rstrip(",")
        yield Fit(edit=f"{inner}, {keyword})", effect=say("{}", effect), replaces=call)


def meshes_with(held: str, scene: ErrorScene) -> list[tuple[Mesh, str]]:
    """The user's meshes that have an axis, with their variables."""
    return [(mesh, variable) for mesh, variable in scene.meshes.items() if held in mesh.sizes and variable]


def in_shard_map(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The refused collective under `jax.shard_map`, with its operand split over the axis along each dimension."""
    own, meshes = text_of(facts, "axis"), meshes_with(text_of(facts, "axis"), scene)
    operands = {array.name: array for array in scene.operands if array.name.isidentifier() and array.shape is not None}
    if len(operands) != 1 or not meshes or "lambda" in scene.expression:
        return
    (operand, array), = operands.items()  # fmt: skip
    mesh, variable = meshes[0]
    for dimension, length in enumerate(array.shape or ()):
        if length % mesh.sizes[own]:
            continue
        split = spec_text((*(None,) * dimension, own))
        out = "P()" if scene.operator in _SUMS else split
        body, specs = f"lambda {operand}: {scene.expression}", f"in_specs={split}, out_specs={out}"
        call = f"jax.shard_map({body}, mesh={variable}, {specs})"
        local = (str(n // mesh.sizes[own] if d == dimension else n) for d, n in enumerate(array.shape or ()))
        words = "each of {} devices along {} has a part [{}] of {}"
        effect = say(words, mesh.sizes[own], axis(own), ",".join(local), name(operand))
        yield Fit(edit=f"{call}({operand})", effect=effect, replaces=scene.expression)
        return


def in_axes(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """`in_axes` that leaves some arguments as they are: fewest first."""
    lengths = facts.get("lengths")
    count = int(text_of(facts, "count") or 0)
    if not isinstance(lengths, tuple) or len(lengths) != count or count > 6:
        return
    names = [text for text, _ in lengths]
    proposed = 0
    for left in itertools.chain.from_iterable(itertools.combinations(range(count), n) for n in range(1, count)):
        if len({length for place, (_, length) in enumerate(lengths) if place not in left}) == 1:
            axes = ", ".join("None" if place in left else "0" for place in range(count))
            kept, verb = " and ".join(f"`{names[place]}`" for place in left), "is" if len(left) == 1 else "are"
            yield from with_keyword(scene, "vmap", f"in_axes=({axes})", f"{kept} {verb} the same in every call")
            proposed += 1
            if proposed == _MOST:
                return


def nearest_name(wrong: str, names: Sequence[str], scene: ErrorScene) -> Iterator[Fit]:
    """The nearest of some names in place of one that there is not, as the user has quoted it."""
    written = quoted if (quoted := f'"{wrong}"') in scene.expression else repr(wrong)
    for near in get_close_matches(wrong, names, n=1):
        yield Fit(edit=written.replace(wrong, near), effect=say("the nearest name"), replaces=written)


def next_multiple(length: int, parts: int) -> int:
    """The next longer length that divides."""
    return math.ceil(length / parts) * parts
