"""Attributes of HLO instructions, from text to the fields of `xla.HloInstructionProto`.

Tables map attributes to fields; a value is read by its field's type. Not its job: references to other parts of the
program (operands, called computations, control predecessors, stack frames; `parse.hlo_text.instructions`).

*Source*: `PrintExtraAttributesImpl` and `ToProto` in `xla/hlo/ir/hlo_instructions.cc`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from pjit_inspect.parse.hlo_text.groups import integer_lists, read_replica_groups, read_sharding
from pjit_inspect.parse.hlo_text.shapes import read_shape
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.text_scan import inside, integers, split_commas, split_pairs, unquote, unquote_text
from pjit_inspect.parse.wire.text_wire import content_field

_BACKEND_CONFIG = 43


def read_attribute(opcode: str, key: str, value: str) -> bytes:
    """The fields of a serialised `HloInstructionProto` for one attribute of an instruction.

    Raises `KeyError` for an unknown attribute, `ValueError` for an unknown value.
    """
    if key == "backend_config":
        # JSON is not quoted there.
        content = value.encode() if value[:1] == "{" and value[-1] == "}" else unquote(value)
        return content_field(_BACKEND_CONFIG, content)
    if key in _WHOLE:
        return _without_zeros(_WHOLE[key](value)).SerializeToString()
    path = _BY_OPCODE.get((opcode, key)) or _FIELDS[key]
    message = message_class("Instruction")()
    *way, last = path.split(".")
    _put(functools.reduce(getattr, way, message), last, path, value)
    if path not in _ZERO_COUNTS:
        _without_zeros(message)
    return message.SerializeToString()


def _put(message: Any, name: str, path: str, text: str) -> None:
    """Sets a field, at `path` in the instruction, from text."""
    field, is_list = message.DESCRIPTOR.fields_by_name[name], hasattr(getattr(message, name), "extend")
    kinds = {
        field.TYPE_BOOL: _bool,
        field.TYPE_STRING: unquote_text,
        field.TYPE_BYTES: unquote,
        field.TYPE_FLOAT: float,
    }
    kind: Callable[[str], Any] = _KINDS.get(path) or (_list if is_list else kinds.get(field.type, _number))
    if is_list:
        message.SetInParent()
        getattr(message, name).extend(kind(text))
    else:
        setattr(message, name, kind(text))


def _without_zeros(message: Any) -> Any:
    """The message without numbers that are zero, as XLA leaves these out."""
    for field, value in message.ListFields():
        if field.message_type is None:
            if not isinstance(value, (str, bytes)) and not value:
                message.ClearField(field.name)
        elif hasattr(value, "DESCRIPTOR"):
            _without_zeros(value)
        else:
            for item in value:
                _without_zeros(item)
    return message


# ---------------------------------------------------------------- plain values


def _list(text: str) -> list[int]:
    return integers(inside(text, "{"))


def _number(text: str) -> int:
    (value,) = integers(text)
    return value


def _bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("this is neither true nor false")
    return text == "true"


def _tri_state(text: str) -> int:
    return 1 if _bool(text) else 2


def _word(text: str) -> str:
    if not re.fullmatch(r"\w+", text):
        raise ValueError("this is no word")
    return text


def _enum(*names: str, start: int = 0) -> Callable[[str], int]:
    numbers = {name: number for number, name in enumerate(names, start)}

    def read(text: str) -> int:
        if text not in numbers:
            raise ValueError("this is none of the names")
        return numbers[text]

    return read


_algorithm = _enum(
    "unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16", "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32", "dot_f64_f64_f64", "dot_bf16_bf16_f32_x9",
)  # fmt: skip


def _each(read: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """The reader of a list of such values, in lower case."""
    return lambda text: [read(part.lower()) for part in split_commas(inside(text, "{"))]


# ---------------------------------------------------------------- whole messages


def _made(**fields: Any) -> Any:
    return message_class("Instruction")(**fields)


def _slice(text: str) -> Any:
    ranges = [integers(inside(part, "[").replace(":", ",")) for part in split_commas(inside(text, "{"))]
    if not all(len(numbers) in (2, 3) for numbers in ranges):
        raise ValueError("this is no range")
    dimensions = [{"start": r[0], "limit": r[1], "stride": r[2] if len(r) == 3 else 1} for r in ranges]
    return _made(slice_dimensions=dimensions)


def _padding(text: str) -> Any:
    dimensions = []
    for part in text.split("x") if text else ():
        low, high, *inner = integers(part.replace("_", ","))
        (interior,) = inner or (0,)
        dimensions.append({"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior})
    return _made(padding_config={"dimensions": dimensions})


_WINDOW = {
    "stride": "stride",
    "lhs_dilate": "base_dilation",
    "rhs_dilate": "window_dilation",
    "rhs_reversal": "window_reversal",
}


def _window(text: str) -> Any:
    given = dict(split_pairs(inside(text, "{")))
    size = _by_x(given.pop("size", ""))
    dimensions = [{"size": n, "stride": 1, "window_dilation": 1, "base_dilation": 1} for n in size]
    for key, value in given.items():
        if key == "pad":
            pairs = [integers(part.replace("_", ",")) for part in value.split("x")]
            for dimension, (low, high) in zip(dimensions, pairs, strict=True):
                dimension.update(padding_low=low, padding_high=high)
            continue
        if key not in _WINDOW:
            raise ValueError("this is no window")
        for dimension, number in zip(dimensions, _by_x(value), strict=True):
            dimension[_WINDOW[key]] = bool(number) if key == "rhs_reversal" else number
    return _made(window={"dimensions": dimensions})


def _by_x(text: str) -> list[int]:
    return integers(text.replace("x", ","))


_LABELS = re.compile(r"([0-9bf?]{2,64})_([0-9io?]{2,64})->([0-9bf?]{2,64})")


def _dim_labels(text: str) -> Any:
    match = _LABELS.fullmatch(text)
    if match is None:
        raise ValueError("these are no dimension labels")
    numbers: dict[str, Any] = {}
    roles = (
        (("input_batch", "b"), ("input_feature", "f")),
        (("kernel_input_feature", "i"), ("kernel_output_feature", "o")),
    )
    for side, labels, letters in zip(
        ("input", "kernel", "output"),
        match.groups(),
        (*roles, (("output_batch", "b"), ("output_feature", "f"))),
        strict=True,
    ):
        for role, letter in letters:
            numbers[f"{role}_dimension"] = labels.index(letter)
        spatial = sorted((int(label), place) for place, label in enumerate(labels) if label.isdigit())
        numbers[f"{side}_spatial_dimensions"] = [place for _, place in spatial]
    return _made(convolution_dimension_numbers=numbers)


_ALIAS = re.compile(
    r"(?:\{([\d,\s]*)\}:\s*)?\(\s*(\d{1,18})\s*(?:,\s*\{([\d,\s]*)\}\s*)?(?:,\s*(may|must)-alias\s*)?\)"
)


def read_aliases(text: str, what: str, *, is_donor: bool = False) -> list[dict[str, Any]]:
    """The fields of each place in `{{0}: (1, {2}, must-alias), ...}`: an output's, and the `what` and part it aliases.

    Donors have no output.
    """
    found = []
    for part in split_commas(inside(text, "{")):
        match = _ALIAS.fullmatch(part)
        if match is None or (match[1] is None) != is_donor:
            raise ValueError("this is no alias")
        own = {what: int(match[2]), f"{what.split('_')[0]}_shape_index": integers(match[3] or "")}
        kind = {"kind": 2 if match[4] == "must" else 1} if what == "parameter_number" else {}
        found.append(own if is_donor else {"output_shape_index": integers(match[1]), **own, **kind})
    return found


def _layout_constraints(text: str) -> Any:
    read = [read_shape(part) for part in split_commas(inside(text, "{"))]
    if not all(whole for _, whole in read):
        raise ValueError("a shape is not understood")
    shapes = [shape for shape, _ in read]
    return _made(constrain_layout=True, operand_shapes_with_layout=shapes)


def _frontend_attributes(text: str) -> Any:
    entries = [
        {"key": key, "value": value if value.startswith("{") else unquote_text(value)}
        for key, value in split_pairs(inside(text, "{"))
    ]
    return _made(frontend_attributes={"map": entries})


def _domain(text: str) -> Any:
    given = dict(split_pairs(inside(text, "{")))
    # XLA prints as "entry" the field that its proto calls exit.
    return _made(
        domain_entry_sharding=read_sharding(given.get("exit", "")),
        domain_exit_sharding=read_sharding(given.get("entry", "")),
    )


def _result_accuracy(text: str) -> Any:
    given = dict(split_pairs(inside(text, "{")))
    if "mode" in given:
        return _made(result_accuracy={"mode": _enum("default", "highest")(given["mode"])})
    limits = dict(split_pairs(inside(given.get("tolerance", ""), "{")))
    tolerance = {"atol": float(limits["atol"]), "rtol": float(limits["rtol"]), "ulps": _number(limits["ulps"])}
    return _made(result_accuracy={"tolerance": tolerance})


def _statistics(text: str) -> Any:
    given = list(split_pairs(inside(text, "{")))
    statistics = [{"stat_name": key, "stat_val": float(value)} for key, value in given[1:]]
    index = _number(given[0][1]) if given else 0
    return _made(statistics_viz={"stat_index_to_visualize": index, "statistics": statistics})


_WHOLE: Mapping[str, Callable[[str], Any]] = {
    "dim_labels": _dim_labels,
    "domain": _domain,
    "frontend_attributes": _frontend_attributes,
    "iota_dimension": lambda text: _made(dimensions=[_number(text)]),
    "operand_layout_constraints": _layout_constraints,
    "outfeed_shape": lambda text: _made(outfeed_shape=read_shape(text)[0]),
    "output_to_operand_aliasing": lambda text: _made(output_operand_aliasing=read_aliases(text, "operand_index")),
    "padding": _padding,
    "replica_groups": read_replica_groups,
    "result_accuracy": _result_accuracy,
    "sharding": lambda text: _made(sharding=read_sharding(text)),
    "slice": _slice,
    "source_target_pairs": lambda text: _made(
        source_target_pairs=[{"source": source, "target": target} for source, target in integer_lists(text)]
    ),
    "statistics": _statistics,
    "window": _window,
}
"""Attributes that are a message, or several fields."""

_DOT, _RAGGED = "dot_dimension_numbers", "ragged_dot_dimension_numbers"
_GATHER, _SCATTER, _SOLVE = "gather_dimension_numbers", "scatter_dimension_numbers", "triangular_solve_options"

_ALIKE = {
    "": """async_execution_thread batch_group_count channel_id constrain_layout cross_program_prefetch_index
        custom_call_has_side_effect custom_call_target delta dimensions distribution dynamic_slice_sizes epsilon
        exponent_bits feature_group_count feature_index fft_length fft_type has_dynamic_root indices_are_sorted
        infeed_config is_associative is_composite is_host_transfer is_reverse is_stable k largest mantissa_bits
        num_carries outfeed_config padding_type unique_indices use_global_device_ids""",
    f"{_GATHER}.": """collapsed_slice_dims index_vector_dim offset_dims operand_batching_dims start_index_map
        start_indices_batching_dims""",
    f"{_SCATTER}.": """input_batching_dims inserted_window_dims scatter_dims_to_operand_dims
        scatter_indices_batching_dims update_window_dims""",
    f"{_SOLVE}.": "left_side lower transpose_a unit_diagonal",
}
"""Attributes with the names of their fields, by the messages that contain the fields."""

_FIELDS = {
    **{key: within + key for within, keys in _ALIKE.items() for key in keys.split()},
    "algorithm": "precision_config.algorithm", "api_version": "custom_call_api_version",
    "direction": "comparison_direction", "index": "tuple_index", "kind": "fusion_kind",
    "lhs_batch_dims": f"{_DOT}.lhs_batch_dimensions", "lhs_contracting_dims": f"{_DOT}.lhs_contracting_dimensions",
    "lhs_ragged_dims": f"{_RAGGED}.lhs_ragged_dimensions", "operand_precision": "precision_config.operand_precision",
    "order": "comparison_order", "parameter_replication": "parameter_replication.replicated_at_leaf_buffers",
    "rhs_batch_dims": f"{_DOT}.rhs_batch_dimensions", "rhs_contracting_dims": f"{_DOT}.rhs_contracting_dimensions",
    "rhs_group_dims": f"{_RAGGED}.rhs_group_dimensions", "schedule": "custom_call_schedule",
    "slice_sizes": "gather_slice_sizes", "type": "comparison_type",
}  # fmt: skip
"""Attribute -> its field."""

_BY_OPCODE = {
    ("cholesky", "lower"): "cholesky_options.lower",
    ("rng-bit-generator", "algorithm"): "rng_algorithm",
    ("scatter", "index_vector_dim"): f"{_SCATTER}.index_vector_dim",
    **{("ragged-dot", key): f"{_RAGGED}.{path}" for key, path in _FIELDS.items() if path.startswith(_DOT)},
}
"""The same, where it depends on the opcode."""

DEPENDS_ON_OPCODE = frozenset(key for _, key in _BY_OPCODE)
"""Attributes that map to different fields for different opcodes."""

_KINDS: Mapping[str, Callable[[str], Any]] = {
    "comparison_direction": _word, "comparison_order": _word, "comparison_type": _word, "fusion_kind": _word,
    "custom_call_api_version": _enum(
        "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI",
    ),
    "custom_call_schedule": _enum("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"),
    "distribution": _enum("rng_invalid", "rng_uniform", "rng_normal"),
    "fft_type": _enum("FFT", "IFFT", "RFFT", "IRFFT"), "is_associative": _tri_state,
    "padding_type": _enum("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"),
    "parameter_replication.replicated_at_leaf_buffers": _each(_bool),
    "precision_config.algorithm": _algorithm,
    "precision_config.operand_precision": _each(_enum("default", "high", "highest", "packed_nibble")),
    "rng_algorithm": _enum("rng_default", "rng_three_fry", "rng_philox"),
    f"{_SOLVE}.transpose_a": _enum("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
}  # fmt: skip
"""Readers of fields whose values are words or names of numbers; all other fields are read by their types."""

_ZERO_COUNTS = frozenset(("cross_program_prefetch_index",))
"""Fields that XLA writes even if they are zero."""
