"""Facts of errors of what functions do: gradients, `vmap` and `pmap`, shapes that do not go together, callbacks.

From 0.9 on `pmap` is a jit and a `shard_map`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pjit_inspect.analyze.errors import specs, ways
from pjit_inspect.analyze.errors.printed import read_integers
from pjit_inspect.analyze.errors.table import Facts, Propose
from pjit_inspect.analyze.errors.ways import alone, first_accepted, listed
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, place, say

_MOST = 4
_LONGEST = 160

# ---------------------------------------------------------------- vmap


def lengths(match: re.Match[str], scene: ErrorScene, parts: list[re.Match[str]]) -> Facts | None:
    """The lengths of what `vmap` maps, and `in_axes` that leave some of it as it is."""
    found = [(one["which"], int(one["length"])) for one in parts]
    dimensions = {one["place"] for one in parts}
    is_all = "most axes" not in match.string and "some axes" not in match.string
    where = f"dimension {parts[0]['place']}" if len(dimensions) == 1 else "one dimension"
    facts = {"words": _has(found[:_MOST]), "dimension": where, "fits": tuple(_in_axes(found, scene)) if is_all else ()}
    return facts if len(found) > 1 else None


def _has(lengths: Iterable[tuple[str, int]], last: str = " and ") -> Sentence:
    return joined([say("{} has {}", name(which), f"{length:,}") for which, length in lengths], last)


def _in_axes(found: Sequence[tuple[str, int]], scene: ErrorScene) -> Iterator[Fit]:
    """`in_axes` that leaves some arguments as they are: fewest first, three at most."""
    count, call = len([argument for argument in scene.arguments if argument.key.isdigit()]), ways.call_of(scene, "vmap")
    if len(found) != count or count > 6 or not call or "in_axes=" in call:
        return
    some = itertools.chain.from_iterable(itertools.combinations(range(count), n) for n in range(1, count))
    fitting = (left for left in some if len({one[1] for place, one in enumerate(found) if place not in left}) == 1)
    for left in itertools.islice(fitting, 3):
        axes = ", ".join("None" if place in left else "0" for place in range(count))
        kept = joined([code(found[place][0]) for place in left], comma=" and ")
        effect = say("{} {} the same in every call", kept, "is" if len(left) == 1 else "are")
        yield Fit(edit=f"{call[:-1].rstrip().rstrip(',')}, in_axes=({axes}))", effect=effect, replaces=call)


def ranked(match: re.Match[str], scene: ErrorScene) -> Facts:
    """An argument that has not the dimension that is mapped, and the call with each that it has."""
    rank, shape = int(match["n_rank"]), read_integers(match["shape"])
    same = [array.name for array in scene.operands if array.shape == shape]
    # A number of Python's is no array.
    numbers = [one.text for one in scene.arguments if one.type in ("int", "float", "bool") and one.text]
    call = ways.call_of(scene, match["function"])
    written = re.search(r"in_axes\s*=\s*(-?\d+)(?=[,)])", call)
    edits = [call.replace(written[0], f"in_axes={place}") for place in range(rank)] if written else []
    return {
        "what": alone(same or ([] if rank else numbers)), "call": code(call),
        "last": (f"0 to {rank - 1}" if rank > 1 else "0") if rank else None,
        "has": specs.counted(rank, "dimension") if rank else "no dimension",
        "each": tuple({"edit": code(edit), "to": place} for place, edit in enumerate(edits)),
    }  # fmt: skip


# ---------------------------------------------------------------- pmap

_AXIS = "_internal_pmap_axis_name"


def pmap(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """The arrays that `pmap` maps, and their lengths where they have several.

    None for another error: most words are said of a jit, a `shard_map` or a `squeeze` of the user's, too.
    """
    if not (scene.is_mapped or _AXIS in match.string or match.groupdict().get("certain")):
        return None
    dimension, arrays, lengths = _mapped(match, scene)
    words = _has(zip([array.name for array in arrays[:_MOST]], lengths, strict=False), ", ")
    more = f", {len(arrays) - _MOST} more follow" if len(arrays) > _MOST else ""
    several = say("{}{}", words, more) if len(set(lengths)) > 1 else None
    return {"arrays": arrays, "n_dimension": dimension, "lengths": several}


def _mapped(match: re.Match[str], scene: ErrorScene) -> tuple[int, tuple[ErrorArray, ...], list[int]]:
    """The dimension that is mapped, the arrays that have it, and their lengths along it."""
    dimension = int(match.groupdict().get("n_dimension") or 0)
    arrays = tuple(array for array in scene.operands if len(array.shape or ()) > dimension)
    return dimension, arrays, [(array.shape or ())[dimension] for array in arrays]


def _of_length(match: re.Match[str], scene: ErrorScene, length: int) -> list[ErrorArray]:
    """The array of a length, where that is one."""
    _, arrays, lengths = _mapped(match, scene)
    own = [array for array, held in zip(arrays, lengths, strict=True) if held == length]
    return own if len(own) == 1 else []


def pmap_uneven(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """The same, and the one length where there is one, which is no multiple of the devices."""
    facts = pmap(match, scene)
    if facts is None or facts["lengths"]:
        return facts
    length, parts = (int(next(filter(None, match.group(key, f"{key}2", f"{key}3")))) for key in ("length", "parts"))
    only, own = scene.arguments[0].text if len(scene.arguments) == 1 else "", _of_length(match, scene, length)
    is_several = len(scene.arguments) > 1
    return {
        **facts, "n": length, "n_parts": parts, "what": name(own[0].name) if own else code(only) if only else None,
        "several": "all" if is_several else None, "alone": None if is_several else f"{parts:,}",
    }  # fmt: skip


def pmap_sliced(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """The same of a length that is not that of the devices; a device's part, where the arrays are not known."""
    facts, local, given = pmap(match, scene), read_integers(match["local"] or "()"), match["asked"]
    if facts is None or facts["lengths"]:
        return facts
    dimension, arrays, _ = _mapped(match, scene)
    length, count = (int(given), int(match["devices"])) if given else (0, 0)
    if not given and len(local) > dimension and local[dimension]:
        # The message has the length of one device's part alone: the arrays that are like it in all other dimensions,
        # and a multiple of it in this one, must agree on a length.
        alike = [
            one.shape or () for one in arrays if _without(one.shape or (), dimension) == _without(local, dimension)
        ]
        same = {one[dimension] for one in alike if one[dimension] % local[dimension] == 0}
        length = same.pop() if len(same) == 1 else 0
        count = length // local[dimension]
    if not count or not (scene.is_complete or given):
        only = code(scene.arguments[0].text) if len(scene.arguments) == 1 else None
        each = local[dimension] if len(local) > dimension else None
        return {**facts, "parts": True, "arrays": (), "part": only or "one of them", "alone": only, "n_each": each}
    each, is_whole, own = length // count, length % count == 0, _of_length(match, scene, length)
    is_first = is_whole and dimension == 0
    return {
        **facts, "what": name(own[0].name) if own else None, "n": length, "n_parts": count,
        "gain": f"a device may then hold {each} of them" if is_whole else "with no `pmap` at all",
        "arrays": tuple(own) or arrays,
        "local": specs.shape_words((each, *(own[0].shape or ())[1:]) if own else (each,)) if is_first else None,
        "sizes": f"{count:,} x {each:,}" if is_first else None,
    }  # fmt: skip


def _without(shape: tuple[int, ...], dimension: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return shape[:dimension], shape[dimension + 1 :]


# ---------------------------------------------------------------- gradients

_RETURNS = {"(": "a tuple", "[": "a list", "{": "a dict"}


def output(match: re.Match[str], scene: ErrorScene) -> Facts:
    """Names the result that has no gradient, and the function for the derivative of every element."""
    if shape := match["shape"]:
        callee = ways.call_of(scene, "grad").partition("(")[0]
        jacobian = code(callee.removesuffix("grad") + "jacrev") if callee else None
        return {"result": say("an array of shape {}", code(shape)), "callee": code(callee), "jacobian": jacobian}
    value = match["value"]
    result = code("None") if value.startswith("None") else _RETURNS.get(value[:1], "no array")
    return {"result": result, "pair": "pair" if value.startswith("(") else None}


def integer(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The integer that has no gradient: an array, or a number of the call."""
    own = [array.name for array in scene.operands if array.dtype == match["code_type"]]
    number = scene.arguments[0].text if len(scene.arguments) == 1 else ""
    if len(own) == 1:
        return {"what": name(own[0]), "name_int": name(own[0]), "name_written": name(ways.replaced_text(own[0], scene))}
    if own or not re.fullmatch(r"-?\d+", number):
        return {}
    return {"what": code(number), "real": code(re.sub(rf"\({number}\)$", f"({number}.)", scene.expression))}


# ---------------------------------------------------------------- shapes


def _shaped(scene: ErrorScene) -> tuple[ErrorArray, ...]:
    return tuple(array for array in scene.operands if array.shape is not None)


def _shapes(arrays: Sequence[ErrorArray]) -> Sentence:
    return joined([say("{} is {}", name(one.name), code(specs.shape_words(one.shape))) for one in arrays])


def products(match: re.Match[str], scene: ErrorScene) -> Facts:
    """Two operands of a product that have no length in common, and each of them transposed."""
    own, both = _shaped(scene), " and ".join(text.strip("(),") for text in (match["one"], match["other"]))
    if len(own) != 2:
        return {"words": both}
    is_plain = scene.operator in ("@", "matmul", "dot") and own[0].name != own[1].name
    fits = [
        Fit(edit=f"{array.name}.T", effect=say("multiplies with {} transposed", name(array.name)),
            replaces=ways.replaced_text(array.name, scene), target=array.name)
        for array in own if is_plain and array.name.isidentifier() and len(array.shape or ()) == 2
    ]  # fmt: skip
    return {
        "words": say("{} ({})", both, _shapes(own)), "arrays": own,
        "fits": lambda judge: [fit for fit in fits if judge(fit, ())],
    }  # fmt: skip


def broadcast(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """The dimension along which shapes do not broadcast, and an operand with new dimensions."""
    own = _shaped(scene)
    where, lengths = found = _unlike([read_integers(one) for one in re.findall(r"\([\d, ]*\)", match["shapes"])])
    is_known = found == _unlike([array.shape or () for array in own])
    return {
        "where": where, "arrays": own if is_known else (), "fits": _spread(own, scene),
        "lengths": say("{} ({})", lengths, _shapes(own)) if is_known else lengths,
    } if where else None  # fmt: skip


def _unlike(shapes: Sequence[tuple[int, ...]]) -> tuple[str, str]:
    """The first dimension along which shapes do not broadcast, and their lengths; "" where they do."""
    rank = max(map(len, shapes), default=0)
    for dimension, lengths in enumerate(zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True)):
        if len({*lengths} - {1}) > 1:
            return f"dimension {dimension}", joined(list(map(str, dict.fromkeys(lengths))))
    return "", ""


def ranks(match: re.Match[str], scene: ErrorScene) -> Facts:
    """Operands that have not one number of dimensions, and those of fewer with new ones."""
    own = _shaped(scene)
    return {"shapes": _shapes(own) or None, "arrays": own, "fits": _spread(own, scene)}


def _spread(own: Sequence[ErrorArray], scene: ErrorScene) -> Propose:
    """An operand of fewer dimensions with new ones, of length 1, in other places."""
    rank = max((len(array.shape or ()) for array in own), default=0)
    fits = [
        Fit(
            edit=f"{array.name}[{', '.join(':' if place in kept else 'None' for place in range(rank))}]",
            effect=say("{} then lies along dimension {}", name(array.name), " and ".join(map(str, kept))),
            replaces=ways.replaced_text(array.name, scene), target=array.name,
        )
        for array in own if len(array.shape or ()) < rank
        for kept in itertools.combinations(range(rank), len(array.shape or ()))
    ]  # fmt: skip
    return lambda judge: first_accepted(fits, judge)


def labelled(match: re.Match[str], scene: ErrorScene) -> Facts:
    """Reads how long a label of `einsum` is in each operand; JAX's message may take one for the other."""
    terms, held = scene.subscripts.partition("->")[0].replace(" ", "").split(","), dict[int, list[str]]()
    texts, label = ways.texts_of(scene), match["code_label"]
    for number, term in enumerate(terms, start=1):
        written = texts.get(str(number), "").strip("()")
        for array in [own for own in scene.operands if own.name.strip("()") == written and label in term]:
            before, dots, _ = term.partition("...")
            place = term.index(label)
            place = place - len(term) if dots and place >= len(before) else place
            held.setdefault((array.shape or ())[place], []).append(array.name)
    lengths = sorted([int(match["one"]), int(match["other"])])
    if sorted(held) != lengths:
        return {"words": say("{} long in one operand and {} in another", *lengths)}
    words = joined([say("{} long in {}", length, listed(names)) for length, names in held.items()], ", ")
    named = {one for names in held.values() for one in names}
    return {"words": words, "arrays": tuple(own for own in scene.operands if own.name in named)}


def sizes(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The operand of a shape, where that is one."""
    shape = read_integers(match["code_shape"])
    return {"what": alone([array.name for array in scene.operands if array.shape == shape])}


# ---------------------------------------------------------------- callbacks

_FRAME = re.compile(r'  File "([^"\n]{1,1000})", line (\d{1,9}), in (\S{1,300})$')
_RAISED = re.compile(r"([A-Za-z_][\w.]{0,200})(?:: ([^\n]{0,400}))?$")


def declared(match: re.Match[str], scene: ErrorScene) -> Facts:
    """A result of a callback, and the shape or type that was declared for it."""
    given, wanted = (re.findall(r"\d+", match[side]) for side in ("given", "wanted"))
    pairs = [(int(part), int(length)) for part, length in zip(given, wanted, strict=False)]
    is_shape = match["given"].startswith("(") and given != wanted and len(given) == len(wanted)
    notes = ("within `jax.shard_map` a callback sees one device's part, and what is declared is that part's shape",)
    words = {side: code(re.sub(r"\((.*?),?\)", r"[\1]", match[side].replace(" ", ""))) for side in ("given", "wanted")}
    is_part = is_shape and all(part and not length % part for part, length in pairs)
    which = None if match["number"] == "0" else f"result {match['number']}"
    return {"which": which, **words, "notes": notes if is_part else ()}


def raised(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """Reads the exception of the called function: the last line of the traceback, and its place."""
    lines = [line for line in match.string[match.end() :].splitlines() if line.strip()]
    ends = [number for number, line in enumerate(lines) if line.startswith("  File ")]
    # The exception stands after the last frame, its line and perhaps the marks below that.
    after = [line for line in lines[ends[-1] + 1 :] if not line.startswith(" ")] if ends else []
    raised, frame = _RAISED.match(after[0]) if after else None, _FRAME.match(lines[ends[-1]]) if ends else None
    if raised is None or frame is None or "/jax/_src/" in frame[1].replace("\\", "/"):
        return None
    message = raised[2] or ""
    said = f"{raised[1]}: {message}" if message and len(message) <= _LONGEST and "`" not in message else raised[1]
    notes = (say("that is in {}", place(frame[1])),)
    return {"name": name(frame[3]), "said": code(said), "line": frame[2], "notes": notes}
