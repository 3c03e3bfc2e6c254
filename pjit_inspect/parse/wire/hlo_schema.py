"""The part of XLA's protos that this package reads, as protobuf message classes; fields beyond it are counted.

No wheel ships these classes, and generated code is bound to one protobuf version, so the few messages needed are
written down here and built when first used, in a descriptor pool of their own: nothing in the process can clash with
them. Fields that are not listed survive as unknown fields. Enumerations are read as their numbers.
Not its job: what the messages mean.

*Source*: `xla/service/hlo.proto`, `xla/xla_data.proto` and `tsl/profiler/protobuf/xplane.proto` of XLA, as embedded in
jaxlib 0.8.2, 0.9.2, 0.10.2 and 0.12.0. No number was given to another field, but fields came and went
(`iota_replica_group_list` is in 0.8 only).
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.wire.clean import clean_line
from pjit_inspect.parse.wire.wire import Fields, scan_messages

# One line per message: "field:type=number"; a star marks a repeated field; a capital type is another message.
_MESSAGES = {
    "Tile": "dimensions:int64*=1",
    "SplitConfig": "dimension:int64=1 split_indices:int64*=2",
    "Layout": """minor_to_major:int64*=1 tiles:Tile*=6 element_size_in_bits:int64=7 memory_space:int64=8
        dim_level_types:int32*=9 physical_shape:Shape=10 index_primitive_type:int32=11 pointer_primitive_type:int32=12
        dim_unique:bool*=13 dim_ordered:bool*=14 dynamic_shape_metadata_prefix_bytes:int64=15
        tail_padding_alignment_in_elements:int64=16 split_configs:SplitConfig*=17""",
    "Shape": """element_type:int32=2 dimensions:int64*=3 tuple_shapes:Shape*=4 layout:Layout=5
        is_dynamic_dimension:bool*=6""",
    "ProgramShape": "parameters:Shape*=1 result:Shape=2 parameter_names:string*=3",
    "Payload": "value:bytes=1 id:int64=2",
    "OpMetadata": """op_type:string=1 op_name:string=2 source_file:string=3 source_line:int32=4
        profile_type:int32*=5 size_of_generated_code_in_bytes:int64=8 size_of_memory_working_set_in_bytes:int64=9
        profile_info:bytes=10 deduplicated_name:string=12 stack_frame_id:int32=15 scheduling_name:string=16
        source_end_line:int32=17 source_column:int32=18 source_end_column:int32=19 metadata_payload:Payload=20""",
    "Literal": """shape:Shape=1 preds:bool*=2 u8s:bytes=3 s32s:int32*=4 s64s:int64*=5 u32s:uint32*=6 u64s:uint64*=7
        f32s:float*=8 f64s:double*=9 tuple_literals:Literal*=10 f16s:bytes=11 c64s:float*=12 bf16s:bytes=13
        sparse_indices:int64*=14 s8s:bytes=15 u16s:bytes=16 s16s:bytes=17 c128s:double*=18 f8e5m2s:bytes=19
        f8e4m3fns:bytes=20 s4s:bytes=21 u4s:bytes=22 f8e4m3b11fnuzs:bytes=23 f8e5m2fnuzs:bytes=24 f8e4m3fnuzs:bytes=25
        s2s:bytes=26 u2s:bytes=27 f8e4m3s:bytes=28 f8e3m4s:bytes=29 s1s:bytes=30 u1s:bytes=31 f4e2m1fns:bytes=32
        f8e8m0fnus:bytes=33 dynamic_sizes:int32*=34 f6e3m2fns:bytes=35 f6e2m3fns:bytes=36""",
    "WindowDimension": """size:int64=1 stride:int64=2 padding_low:int64=3 padding_high:int64=4 window_dilation:int64=5
        base_dilation:int64=6 window_reversal:bool=7""",
    "Window": "dimensions:WindowDimension*=1",
    "ConvolutionDimensions": """kernel_input_feature_dimension:int64=3 kernel_output_feature_dimension:int64=4
        kernel_spatial_dimensions:int64*=6 input_batch_dimension:int64=7 input_feature_dimension:int64=8
        output_batch_dimension:int64=9 output_feature_dimension:int64=10 input_spatial_dimensions:int64*=11
        output_spatial_dimensions:int64*=12""",
    "SliceDimensions": "start:int64=1 limit:int64=2 stride:int64=3",
    "PaddingDimension": "edge_padding_low:int64=1 edge_padding_high:int64=2 interior_padding:int64=3",
    "PaddingConfig": "dimensions:PaddingDimension*=1",
    "DotDimensions": """lhs_contracting_dimensions:int64*=1 rhs_contracting_dimensions:int64*=2
        lhs_batch_dimensions:int64*=3 rhs_batch_dimensions:int64*=4""",
    "RaggedDotDimensions": "dot_dimension_numbers:DotDimensions=1 lhs_ragged_dimensions:int64*=2 "
    "rhs_group_dimensions:int64*=3",
    "GatherDimensions": """offset_dims:int64*=1 collapsed_slice_dims:int64*=2 start_index_map:int64*=3
        index_vector_dim:int64=4 operand_batching_dims:int64*=5 start_indices_batching_dims:int64*=6""",
    "ScatterDimensions": """update_window_dims:int64*=1 inserted_window_dims:int64*=2
        scatter_dims_to_operand_dims:int64*=3 index_vector_dim:int64=4 input_batching_dims:int64*=5
        scatter_indices_batching_dims:int64*=6""",
    "PrecisionConfig": "operand_precision:int32*=1 algorithm:int32=2",
    "TriangularSolveOptions": "left_side:bool=1 lower:bool=2 unit_diagonal:bool=3 transpose_a:int32=4",
    "CholeskyOptions": "lower:bool=1",
    "ParameterReplication": "replicated_at_leaf_buffers:bool*=1",
    "OutputOperandAliasing": "output_shape_index:int64*=1 operand_index:int64=2 operand_shape_index:int64*=3",
    "MapEntry": "key:string=1 value:string=2",
    "FrontendAttributes": "map:MapEntry*=1",
    "Statistic": "stat_name:string=1 stat_val:double=2",
    "StatisticsViz": "stat_index_to_visualize:int64=1 statistics:Statistic*=2",
    "MeshAxis": "name:string=1 size:int64=2",
    "IotaTransform": "reshape_dims:int64*=1 transpose_perm:int64*=2",
    "Mesh": "axes:MeshAxis*=1 device_ids:int64*=2 iota_transform:IotaTransform=3",
    "SubAxis": "pre_size:int64=1 size:int64=2",
    "AxisRef": "mesh_axis_index:int64=1 sub_axis_info:SubAxis=2",
    "DimensionSharding": "axes:AxisRef*=1 is_closed:bool=2",
    "NamedSharding": """mesh:Mesh=2 dim_shardings:DimensionSharding*=3 replicated_axes:AxisRef*=4
        unreduced_axes:AxisRef*=5 metadata:OpMetadata*=6 manual_axes:AxisRef*=7 reduction_op:int32=8""",
    "OpSharding": """type:int32=1 tile_shape:Shape=2 tile_assignment_dimensions:int64*=3
        tile_assignment_devices:int64*=4 tuple_shardings:OpSharding*=5 replicate_on_last_tile_dim:bool=6
        metadata:OpMetadata*=7 last_tile_dims:int32*=8 iota_reshape_dims:int64*=9 iota_transpose_perm:int32*=10
        is_shard_group:bool=11 shard_group_id:int64=12 shard_group_type:int32=13 named_sharding:NamedSharding=14""",
    "ReplicaGroup": "replica_ids:int64*=1",
    "CollectiveDeviceList": "replica_groups:ReplicaGroup*=1 iota_replica_group_list:IotaReplicaGroupList=2",
    "IotaReplicaGroupList": """num_replica_groups:int64=1 num_devices_per_group:int64=2 iota_reshape_dims:int64*=3
        iota_transpose_perm:int32*=4""",
    "MeshAxesReplicaGroupList": "mesh:Mesh=1 axes:AxisRef*=2",
    "SourceTarget": "source:int64=1 target:int64=2",
    "ResultTolerance": "atol:double=1 rtol:double=2 ulps:int64=3",
    "ResultAccuracy": "mode:int32=1 tolerance:ResultTolerance=2",
    "TensorSparsity": "num_non_zero:int64=1 block_size:int64=2 dimension:int64=3 stride:int64=4 idx:int32=5",
    "SparsityConfig": "lhs:TensorSparsity=1 rhs:TensorSparsity=2",
    "TensorBlockScaling": "scale_idx:int32=1 zero_idx:int32=2 strides:int64*=3 steps:int64*=4",
    "BlockScalingConfig": "lhs:TensorBlockScaling=1 rhs:TensorBlockScaling=2",
    "Rotate": "shifts:int64*=1",
    "ShuffleMode": "rotate:Rotate=1",
    "OriginalArray": "instruction_name:string=1 shape_index:int64*=2",
    "OriginalValueElement": "shape_index:int64*=1 original_array:OriginalArray=2",
    "OriginalValue": "elements:OriginalValueElement*=1 is_synthetic_call:bool=2 call_hierarchy:string=3",
    "Instruction": """name:string=1 opcode:string=2 shape:Shape=3 metadata:OpMetadata=7 literal:Literal=8
        parameter_number:int64=9 fusion_kind:string=11 tuple_index:int64=13 dimensions:int64*=14 window:Window=15
        convolution_dimension_numbers:ConvolutionDimensions=16 slice_dimensions:SliceDimensions*=17
        exponent_bits:int32=18 mantissa_bits:int32=19 dynamic_slice_sizes:int64*=20 padding_config:PaddingConfig=21
        outfeed_config:bytes=22 distribution:int32=23 epsilon:float=24 feature_index:int64=25 channel_id:int64=26
        infeed_config:bytes=27 custom_call_target:string=28 outfeed_shape:Shape=29
        dot_dimension_numbers:DotDimensions=30 fft_type:int32=31 fft_length:int64*=32
        gather_dimension_numbers:GatherDimensions=33 gather_slice_sizes:int64*=34 id:int64=35 operand_ids:int64*=36
        control_predecessor_ids:int64*=37 called_computation_ids:int64*=38 sharding:OpSharding=40
        backend_config:bytes=43 all_reduce_id:int64=45 is_host_transfer:bool=47
        scatter_dimension_numbers:ScatterDimensions=48 replica_groups:ReplicaGroup*=49 feature_group_count:int64=50
        precision_config:PrecisionConfig=51 source_target_pairs:SourceTarget*=52 domain_entry_sharding:OpSharding=54
        domain_exit_sharding:OpSharding=55 constrain_layout:bool=56 operand_shapes_with_layout:Shape*=57
        batch_group_count:int64=58 triangular_solve_options:TriangularSolveOptions=59 is_stable:bool=60
        parameter_replication:ParameterReplication=61 cholesky_options:CholeskyOptions=62
        comparison_direction:string=63 custom_call_has_side_effect:bool=65 delta:int64=66 indices_are_sorted:bool=67
        frontend_attributes:FrontendAttributes=68 unique_indices:bool=69 rng_algorithm:int32=70
        use_global_device_ids:bool=71 comparison_type:string=72 is_cross_program_prefetch:bool=73
        output_operand_aliasing:OutputOperandAliasing*=74 padding_type:int32=75 custom_call_schedule:int32=76
        custom_call_api_version:int32=77 async_execution_thread:string=79 cross_program_prefetch_index:int32=80
        k:int64=81 statistics_viz:StatisticsViz=82 largest:bool=85 collective_device_list:CollectiveDeviceList=87
        original_value:OriginalValue=88 is_composite:bool=89 ragged_dot_dimension_numbers:RaggedDotDimensions=90
        result_accuracy:ResultAccuracy=91 iota_collective_device_list:IotaReplicaGroupList=92
        mesh_axes_replica_group_list:MeshAxesReplicaGroupList=93 is_reverse:bool=94 num_carries:int64=95
        is_associative:int32=96 conv_kind:int32=97 sparsity_config:SparsityConfig=98
        backend_config_payload:Payload=99 has_dynamic_root:bool=100 block_scaling_config:BlockScalingConfig=101
        comparison_order:string=102 shuffle_mode:ShuffleMode=103 kept:bytes*=536870911""",
    "Computation": """name:string=1 instructions:bytes*=2 program_shape:bytes=4 id:int64=5 root_id:int64=6
        is_fusion_computation:bool=7 execution_thread:string=8 backend_config:bytes=9""",
    "Module": """name:string=1 entry_computation_name:string=2 computations:bytes*=3 host_program_shape:bytes=4
        id:int64=5 entry_computation_id:int64=6 schedule:Schedule=7 input_output_alias:InputOutputAlias=8
        cross_program_prefetches:bytes*=10 is_dynamic:bool=11 spmd_output_sharding:OpSharding=12 profile_info:bytes*=13
        spmd_parameters_shardings:OpSharding*=14 device_assignment:DeviceAssignment=15
        use_auto_spmd_partitioning:bool=16 stack_frame_index:StackFrameIndex=17 buffer_donor:BufferDonors=18
        frontend_attributes:FrontendAttributes=19 original_value_recovery_table:bytes=20 device_type:string=21
        payloads:bytes*=22 pjrt_id:int64=23 debug_attributes:bytes*=24 backend_config:bytes=25 kept:bytes*=536870911""",
    "InstructionSequence": "instruction_ids:int64*=1",
    "SequencesEntry": "key:int64=1 value:InstructionSequence=2",
    "Schedule": "sequences:SequencesEntry*=1",
    "AliasEntry": """output_shape_index:int64*=1 parameter_number:int64=2 parameter_shape_index:int64*=3
        kind:int32=4""",
    "BufferDonor": "parameter_number:int64=1 parameter_shape_index:int64*=2",
    "BufferDonors": "entries:BufferDonor*=1",
    "InputOutputAlias": "entries:AliasEntry*=1",
    "FileLocation": """file_name_id:int32=1 function_name_id:int32=2 line:int32=3 column:int32=4 end_line:int32=5
        end_column:int32=6""",
    "StackFrame": "file_location_id:int32=1 parent_frame_id:int32=2",
    "StackFrameIndex": """file_names:string*=1 function_names:string*=2 file_locations:FileLocation*=3
        stack_frames:StackFrame*=4""",
    "ComputationDevice": "replica_device_ids:int64*=1",
    "DeviceAssignment": """replica_count:int32=1 computation_count:int32=2
        computation_devices:ComputationDevice*=3""",
    "BufferPlace": "instruction_name:string=2 shape_index:int64*=3 instruction_id:int64=4",
    "LogicalBuffer": "id:int64=1 size:int64=2 defined_at:BufferPlace=3 color:int64=4",
    "AssignedBuffer": "logical_buffer_id:int64=1 offset:int64=2 size:int64=3",
    "BufferAllocation": """index:int64=1 size:int64=2 is_thread_local:bool=3 is_entry_computation_parameter:bool=5
        parameter_number:int64=6 maybe_live_out:bool=7 color:int64=8 assigned:AssignedBuffer*=9
        parameter_shape_index:int64*=10 is_tuple:bool=11 is_constant:bool=12""",
    "BufferAssignment": """logical_buffers:LogicalBuffer*=1 buffer_aliases:bytes*=2
        buffer_allocations:BufferAllocation*=3 heap_simulator_traces:bytes*=4""",
    "TraceStat": """metadata_id:int64=1 uint64_value:uint64=3 int64_value:int64=4 str_value:bytes=5 bytes_value:bytes=6
        ref_value:uint64=7""",
    "TraceName": "id:int64=1 name:string=2 display_name:string=4 stats:TraceStat*=5",
    "TraceNames": "key:int64=1 value:TraceName=2",
    "TraceEvent": "metadata_id:int64=1 offset_ps:int64=2 duration_ps:int64=3 stats:TraceStat*=4",
    "TraceLine": "name:string=2 timestamp_ns:int64=3 events:TraceEvent*=4",
    "TracePlane": """name:string=2 lines:TraceLine*=3 event_metadata:TraceNames*=4 stat_metadata:TraceNames*=5
        stats:TraceStat*=6""",
}

KEPT = 2**29 - 1
"""The largest possible field number, for a field of our own (`parse.hlo_proto.columns`): XLA counts from 1."""

_SCALARS = {
    name: getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{name.upper()}")
    for name in ("int32", "int64", "uint32", "uint64", "bool", "string", "bytes", "float", "double")
}


@functools.cache
def message_class(name: str) -> Any:
    """The message class of this name, such as "Instruction". Raises `KeyError` for a name that is not listed."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"pjit_inspect.{name}"))


def known_fields(name: str) -> frozenset[int]:
    """The known field numbers of this message."""
    return frozenset(message_class(name).DESCRIPTOR.fields_by_number)


def decode(name: str, content: bytes, *, offset: int, path: str | None = None) -> Any:
    """The message `name` in `content`. Raises `ParseError` at `offset` if there is none."""
    try:
        return message_class(name).FromString(content)
    except (DecodeError, UnicodeDecodeError) as error:
        raise ParseError(
            "the bytes are cut short or damaged", path=path, offset=offset, expected=f"a message of type {name}"
        ) from error


def text(value: str | bytes) -> str:
    """A string field as clean text: protobuf gives bytes if they are not UTF-8, for example in file names."""
    return clean_line(value if isinstance(value, str) else value.decode("utf-8", "replace"))


def is_whole(message: Message) -> bool:
    """True if a decoded message has no unknown field, at any depth."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return known.ByteSize() == message.ByteSize()


@functools.cache
def _pool() -> descriptor_pool.DescriptorPool:
    # proto2 distinguishes a field set to zero from an unset one.
    file = descriptor_pb2.FileDescriptorProto(name="pjit_inspect/hlo.proto", package="pjit_inspect", syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields.split():
            _add_field(message, field)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _add_field(message: descriptor_pb2.DescriptorProto, written: str) -> None:
    name, _, rest = written.partition(":")
    kind, _, number = rest.partition("=")
    repeated, kind = kind.endswith("*"), kind.rstrip("*")
    labels = descriptor_pb2.FieldDescriptorProto
    field = message.field.add(name=name, number=int(number))
    field.label = labels.LABEL_REPEATED if repeated else labels.LABEL_OPTIONAL
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = labels.TYPE_MESSAGE
        field.type_name = f".pjit_inspect.{kind}"


_DEEPEST = 32
"""The deepest nesting of messages that is searched for unknown fields."""


def count_messages(data: bytes, name: str, starts: Any, ends: Any, uses: Any) -> Counter[str]:
    """The unknown fields of messages `name` at `data[starts[k]:ends[k]]`, and of all messages in them.

    Those of message k count `uses[k]` times. A message that cannot be read counts as one.
    """
    spans = np.asarray(starts, np.int64), np.asarray(ends, np.int64)
    return _count_messages(np.frombuffer(data, np.uint8), name, *spans, np.asarray(uses, np.int64), 0)


def _count_messages(
    buffer: np.ndarray, name: str, starts: np.ndarray, ends: np.ndarray, uses: np.ndarray, depth: int
) -> Counter[str]:
    try:
        fields = scan_messages(buffer, starts, ends)
    except ParseError:
        return Counter({f"{_words(name)} that cannot be read": int(uses.sum())})
    return count_fields(buffer, name, fields, uses, depth=depth)


def count_fields(
    buffer: np.ndarray,
    name: str,
    fields: Fields,
    uses: np.ndarray,
    *,
    skip: frozenset[int] = frozenset(),
    depth: int = 0,
) -> Counter[str]:
    """The same for the `fields` of messages `name`; nothing is searched within fields with a number in `skip`."""
    counts: Counter[str] = Counter()
    known, nested = known_fields(name), _nested(name)
    for number in fields.numbers():
        if number in known and (number not in nested or number in skip):
            continue
        inner = fields.of(number)
        if number not in known:
            counts[f"{_words(name)} field {number}"] = int(uses[inner.owner].sum())
            continue
        there = np.flatnonzero(inner.end > inner.start)
        if there.size and depth < _DEEPEST:
            spans = inner.start[there], inner.end[there], uses[inner.owner[there]]
            counts += _count_messages(buffer, nested[number], *spans, depth + 1)
    return counts


@cache
def _nested(name: str) -> dict[int, str]:
    """The fields of a message that are messages: number -> name of the inner one."""
    fields = message_class(name).DESCRIPTOR.fields
    return {field.number: field.message_type.name for field in fields if field.message_type is not None}


def _words(name: str) -> str:
    """`DotDimensions` -> `dot dimensions`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
