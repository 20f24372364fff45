"""The decorator ``kernel``, and processor instructions that NumPy does not have.

Numba compiles for processors that have the lowest byte of a number first.
"""

import secrets
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import box, intrinsic, models, register_model
from numba.np.numpy_support import as_dtype

from neardup.kernels.machine_code import kernel as kernel  # noqa: PLC0414 - all of kernels comes from here
from neardup.kernels.machine_code import njit as njit  # noqa: PLC0414 - the same

_CHECKED = bool(config.BOUNDSCHECK)
_WORD = ir.IntType(64)


def _block_at(context: Any, builder: ir.IRBuilder, array: Any, values: Any, position: Any, size: int = 64) -> Any:
    """Load the entries in *size* bytes from any position of an array of integers (a Numba type and its value)."""
    bits = array.dtype.bitwidth
    block = ir.VectorType(ir.IntType(bits), 8 * size // bits)
    view = context.make_array(array)(context, builder, values)
    address = builder.bitcast(builder.gep(view.data, [position]), block.as_pointer())
    return builder.load(address, align=1, typ=block)


def _mask_of(builder: ir.IRBuilder, flags: Any) -> Any:
    """Return the flags of a block as bits of a uint64, that of the first entry lowest."""
    mask = builder.bitcast(flags, ir.IntType(flags.type.count))
    return mask if flags.type.count == _WORD.width else builder.zext(mask, _WORD)


@intrinsic
def _load_word(typing_context: Any, array: Any, position: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """Eight bytes from any position, the first byte lowest."""
    signature = types.uint64(array, types.intp)

    def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        return builder.bitcast(_block_at(context, builder, array, *arguments, size=8), _WORD)

    return signature, generate


@intrinsic
def borrowed(typing_context: Any, array: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """Return the same array without an owner; the caller of a kernel holds the arrays that it passes.

    Slices of it, and functions that take it, count no references, which would cost more than a short function.
    """

    def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        view = context.make_array(array)(context, builder, arguments[0])
        view.meminfo = ir.Constant(view.meminfo.type, None)
        return view._getvalue()  # noqa: SLF001 - Numba's protocol

    return array(array), generate


class Returned(types.Array):
    """The type of an array that a kernel returns to Python."""


register_model(Returned)(models.ArrayModel)


@intrinsic
def returned(typing_context: Any, array: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """Return the same array as a result of a kernel; every array that a kernel returns to Python needs it.

    For other arrays, Numba runs code of its own in Python before it returns. If a signal arrives there whose handler
    raises, such as Ctrl-C, the process crashes, or a ``SystemError`` hides the exception.
    """
    kind = Returned(array.dtype, array.ndim, array.layout, name=f"returned {array}")

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return impl_ret_borrowed(context, builder, signature.return_type, arguments[0])

    return kind(array), generate


@box(Returned)
def _box(kind: Any, value: Any, called: Any) -> Any:
    """Make the array of Python as Numba does, but with its class as a constant, instead of unpickling it each time."""
    environment, builder, python = called.env_manager, called.builder, called.pyapi
    dtype, owner = (environment.read_const(environment.add_const(one)) for one in (as_dtype(kind.dtype), np.ndarray))
    number = ir.IntType(32)
    form = ir.FunctionType(python.pyobj, [python.voidptr, python.pyobj, number, number, python.pyobj])
    make = cgutils.get_or_insert_function(builder.module, form, "NRT_adapt_ndarray_to_python_acqref")
    view = builder.bitcast(cgutils.alloca_once_value(builder, value), python.voidptr)
    made = builder.call(make, [view, owner, number(kind.ndim), number(1), dtype])
    called.context.nrt.decref(builder, kind, value)
    return made


def _block_test(comparison: str) -> Any:
    """Make an intrinsic that returns one bit for each of 64 signed bytes: whether *comparison* with zero holds."""

    @intrinsic
    def test(typing_context: Any, array: Any, position: Any) -> Any:  # noqa: ARG001 - Numba's protocol
        signature = types.uint64(array, types.intp)

        def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
            loaded = _block_at(context, builder, array, *arguments)
            return _mask_of(builder, builder.icmp_signed(comparison, loaded, ir.Constant(loaded.type, [0] * 64)))

        return signature, generate

    return test


_load_filled = _block_test("!=")
_load_high = _block_test("<")


ASCII_SYMBOLS = frozenset(b"!#$%&*+-/<=>@^|~")  # bytes


def _nibble_tables() -> tuple[bytes, bytes]:
    """Make the tables of low and high half-bytes: those of special bytes have a common bit."""
    rows = [sum(1 << byte % 16 for byte in ASCII_SYMBOLS if byte >> 4 == high) for high in range(8)] + [0xFFFF] * 8
    kinds = sorted({row for row in rows if row})
    high_table = bytes(1 << kinds.index(row) if row else 0 for row in rows)
    return bytes(sum(1 << bit for bit, row in enumerate(kinds) if row >> low & 1) for low in range(16)), high_table


def _special_by_tables(builder: Any, loaded: Any) -> Any:
    """Look up both halves of each of 32 bytes, 16 entries at a time, as AVX2 does in one instruction."""
    block = ir.VectorType(ir.IntType(8), 32)

    def look_up(table: bytes, halves: Any) -> Any:
        shuffle = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(block, [block, block]), "llvm.x86.avx2.pshuf.b"
        )
        return builder.call(shuffle, [ir.Constant(block, [*table, *table]), halves])

    low, high = _nibble_tables()
    lows = builder.and_(loaded, ir.Constant(block, [15] * 32))
    highs = builder.lshr(loaded, ir.Constant(block, [4] * 32))
    return builder.and_(look_up(low, lows), look_up(high, highs))


def _special_by_ranges(builder: Any, loaded: Any) -> Any:
    """Compare each of 32 bytes with the ends of every range of special bytes."""
    block = ir.VectorType(ir.IntType(8), 32)
    found = builder.and_(loaded, ir.Constant(block, [0x80] * 32))
    edges = sorted(byte for byte in ASCII_SYMBOLS if byte - 1 not in ASCII_SYMBOLS)
    for first in edges:
        number = next(count for count in range(1, 128) if first + count not in ASCII_SYMBOLS)
        inside = builder.icmp_unsigned(
            "<", builder.sub(loaded, ir.Constant(block, [first] * 32)), ir.Constant(block, [number] * 32)
        )
        found = builder.or_(found, builder.zext(inside, block))
    return found


def _has_avx2() -> bool:
    plain = config.CPU_NAME is None and config.CPU_FEATURES is None  # or Numba compiles for another processor
    return plain and bool(binding.get_host_cpu_features().get("avx2"))


@intrinsic
def _load_special(typing_context: Any, array: Any, position: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """One bit for each of 64 bytes: whether it is not ASCII or one of ``ASCII_SYMBOLS``."""
    signature = types.uint64(array, types.intp)

    def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        masks = []
        for begin in (0, 32):
            position = builder.add(arguments[1], _WORD(begin))
            loaded = _block_at(context, builder, array, arguments[0], position, 32)
            found = (_special_by_tables if _has_avx2() else _special_by_ranges)(builder, loaded)
            masks.append(_mask_of(builder, builder.icmp_unsigned("!=", found, ir.Constant(found.type, [0] * 32))))
        return builder.or_(masks[0], builder.shl(masks[1], _WORD(32)))

    return signature, generate


# Compiled code is kept for later processes, and that of several processes runs together in one. So a secret of this
# process must not be part of the code: the code has a symbol, whose address is the secret and is filled in on loading.
_SALT = "neardup_salt"
binding.add_symbol(_SALT, secrets.randbits(62) | 1)


@intrinsic
def process_salt(typing_context: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """Return an odd number that differs between processes and cannot be predicted."""

    def generate(_context: Any, builder: ir.IRBuilder, _: Any, _arguments: Any) -> Any:
        symbol = cgutils.add_global_variable(builder.module, ir.IntType(8), _SALT)
        return builder.ptrtoint(symbol, ir.IntType(64))

    return types.uint64(), generate


@intrinsic
def trailing_zeros(typing_context: Any, value: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """Count the zero bits below the lowest one; 64 for zero."""

    def generate(_context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def ones(typing_context: Any, value: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """Count the bits of a uint64 that are 1."""

    def generate(_context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _load_near(typing_context: Any, array: Any, position: Any, word: Any, most: Any) -> Any:  # noqa: ARG001 - the same
    """One bit for each of 16 words of 32 bits: whether it differs from *word* in at most *most* bits."""
    signature = types.uint64(array, types.intp, types.uint32, types.uint32)

    def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        loaded = _block_at(context, builder, array, *arguments[:2])
        number, block = ir.IntType(32), loaded.type
        undefined, places = ir.Constant(block, ir.Undefined), ir.Constant(block, [0] * 16)
        wanted, limit = (
            builder.shuffle_vector(builder.insert_element(undefined, value, number(0)), undefined, places)
            for value in arguments[2:]
        )
        differing = builder.xor(loaded, wanted)
        count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(block, [block]), "llvm.ctpop.v16i32")
        return _mask_of(builder, builder.icmp_unsigned("<=", builder.call(count, [differing]), limit))

    return signature, generate


@intrinsic
def _load_equal(typing_context: Any, array: Any, position: Any, other: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """One bit for each entry in 64 bytes from *position*: whether it equals that from *other*."""
    signature = types.uint64(array, types.intp, types.intp)

    def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        one, two = (_block_at(context, builder, array, arguments[0], place) for place in arguments[1:])
        return _mask_of(builder, builder.icmp_unsigned("==", one, two))

    return signature, generate


@intrinsic
def fetch_ahead(typing_context: Any, array: Any, position: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """Prefetch the memory of ``array[position]`` (one dimension, contiguous); this has no other effect."""
    signature = types.none(array, types.intp)

    def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        view = context.make_array(array)(context, builder, arguments[0])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        form = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
        builder.call(fetch, [address, number(0), number(3), number(1)])  # to read, soon again, data
        return context.get_dummy_value()

    return signature, generate


@njit(forceinline=True)
def _require(array, begin, size=64):
    """Raise ``IndexError`` for a block of *size* bytes outside its array, where bounds are checked."""
    if _CHECKED and (begin < 0 or (array.size - begin) * array.itemsize < size):
        raise IndexError("a block is read outside its array")


@njit
def word_at(array, position):
    """Read ``array[position : position + 8]`` (uint8) as one little-endian uint64, from any position."""
    _require(array, position, 8)
    return _load_word(array, position)


@njit
def last_word(array, begin, end):
    """Read ``array[begin:end]``, fewer than 8 bytes, as one little-endian uint64."""
    word = np.uint64(0)
    for place in range(begin, end):
        word |= np.uint64(array[place]) << np.uint64(8 * (place - begin))
    return word


@njit
def filled_at(array, position):
    """Return one bit per byte of ``array[position : position + 64]``, the first lowest: 1 unless it is zero."""
    _require(array, position)
    return _load_filled(array, position)


@njit
def high_at(array, position):
    """Return one bit per byte of ``array[position : position + 64]``, the first lowest: 1 unless it is ASCII."""
    _require(array, position)
    return _load_high(array, position)


@njit
def special_at(array, position):
    """Return one bit per byte of ``array[position : position + 64]``, the first lowest: 1 if it is special.

    Special bytes are those outside ASCII and ``! # $ % & * + - / < = > @ ^ | ~``.
    """
    _require(array, position)
    return _load_special(array, position)


@njit
def near_at(array, position, word, most):
    """Return one bit per entry of ``array[position : position + 16]``: 1 if at most *most* bits differ from *word*.

    Entries are uint32; the first entry has the lowest bit.
    """
    _require(array, position)
    return _load_near(array, position, word, most)


@njit
def equal_at(array, position, other):
    """Compare the entries in 64 bytes from two positions; return one bit each, the first lowest: 1 if equal."""
    _require(array, position)
    _require(array, other)
    return _load_equal(array, position, other)
