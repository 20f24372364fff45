"""The decorator ``kernel``, and processor instructions that NumPy does not have."""

import secrets
import sys
from typing import Any

from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from neardup.kernels.machine_code import kernel as kernel  # noqa: PLC0414 - all of kernels comes from here
from neardup.kernels.machine_code import njit as njit  # noqa: PLC0414 - the same

_CHECKED = bool(config.BOUNDSCHECK)


@intrinsic
def _load_word(typing_context: Any, array: Any, position: Any) -> Any:  # noqa: ARG001 - Numba's protocol
    """Eight bytes from any position, the first byte lowest."""
    signature = types.uint64(array, types.intp)

    def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        view = context.make_array(array)(context, builder, arguments[0])
        word = ir.IntType(64)
        address = builder.gep(view.data, [arguments[1]])
        loaded = builder.load(builder.bitcast(address, word.as_pointer()), align=1, typ=word)
        return builder.bswap(loaded) if sys.byteorder == "big" else loaded

    return signature, generate


def _block_test(comparison: str) -> Any:
    """Make an intrinsic that returns one bit for each of 64 signed bytes: whether *comparison* with zero holds."""

    @intrinsic
    def test(typing_context: Any, array: Any, position: Any) -> Any:  # noqa: ARG001 - Numba's protocol
        signature = types.uint64(array, types.intp)

        def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
            view = context.make_array(array)(context, builder, arguments[0])
            block, word = ir.VectorType(ir.IntType(8), 64), ir.IntType(64)
            address = builder.bitcast(builder.gep(view.data, [arguments[1]]), block.as_pointer())
            loaded = builder.load(address, align=1, typ=block)
            mask = builder.bitcast(builder.icmp_signed(comparison, loaded, ir.Constant(block, [0] * 64)), word)
            return builder.bitreverse(mask) if sys.byteorder == "big" else mask

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
        view = context.make_array(array)(context, builder, arguments[0])
        block, word = ir.VectorType(ir.IntType(8), 32), ir.IntType(64)
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), block.as_pointer())
        masks = []
        for half in range(2):
            loaded = builder.load(builder.gep(address, [ir.IntType(64)(half)]), align=1, typ=block)
            found = (_special_by_tables if _has_avx2() else _special_by_ranges)(builder, loaded)
            bits = builder.bitcast(builder.icmp_unsigned("!=", found, ir.Constant(block, [0] * 32)), ir.IntType(32))
            masks.append(builder.zext(builder.bitreverse(bits) if sys.byteorder == "big" else bits, word))
        return builder.or_(masks[0], builder.shl(masks[1], word(32)))

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
        view = context.make_array(array)(context, builder, arguments[0])
        number = ir.IntType(32)
        block = ir.VectorType(number, 16)
        undefined, places = ir.Constant(block, ir.Undefined), ir.Constant(block, [0] * 16)
        wanted, limit = (
            builder.shuffle_vector(builder.insert_element(undefined, value, number(0)), undefined, places)
            for value in arguments[2:]
        )
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), block.as_pointer())
        differing = builder.xor(builder.load(address, align=4, typ=block), wanted)
        count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(block, [block]), "llvm.ctpop.v16i32")
        holds = builder.icmp_unsigned("<=", builder.call(count, [differing]), limit)
        mask = builder.bitcast(holds, ir.IntType(16))
        return builder.zext(builder.bitreverse(mask) if sys.byteorder == "big" else mask, ir.IntType(64))

    return signature, generate


def _equality_test(bits: int, lanes: int) -> Any:
    """Make an intrinsic that returns one bit per entry of *bits* bits (*lanes* of them): 1 if equal."""

    @intrinsic
    def test(typing_context: Any, array: Any, position: Any, other: Any) -> Any:  # noqa: ARG001 - Numba's protocol
        signature = types.uint64(array, types.intp, types.intp)

        def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
            view = context.make_array(array)(context, builder, arguments[0])
            block, mask = ir.VectorType(ir.IntType(bits), lanes), ir.IntType(lanes)
            one, two = (
                builder.load(builder.bitcast(builder.gep(view.data, [place]), block.as_pointer()), align=1, typ=block)
                for place in arguments[1:]
            )
            equal = builder.bitcast(builder.icmp_unsigned("==", one, two), mask)
            ordered = builder.bitreverse(equal) if sys.byteorder == "big" else equal
            return ordered if lanes == 64 else builder.zext(ordered, ir.IntType(64))

        return signature, generate

    return test


_equal_64 = _equality_test(8, 64)
_equal_8 = _equality_test(64, 8)


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


@njit(nogil=True)
def word_at(array, position):
    """Read ``array[position : position + 8]`` (uint8) as one little-endian uint64, from any position."""
    if _CHECKED and (position < 0 or position + 8 > array.size):
        raise IndexError("a word is read outside its array")
    return _load_word(array, position)


@njit(nogil=True)
def filled_at(array, position):
    """Return one bit per byte of ``array[position : position + 64]``, the first lowest: 1 unless it is zero."""
    if _CHECKED and (position < 0 or position + 64 > array.size):
        raise IndexError("a block is read outside its array")
    return _load_filled(array, position)


@njit(nogil=True)
def high_at(array, position):
    """Return one bit per byte of ``array[position : position + 64]``, the first lowest: 1 unless it is ASCII."""
    if _CHECKED and (position < 0 or position + 64 > array.size):
        raise IndexError("a block is read outside its array")
    return _load_high(array, position)


@njit(nogil=True)
def special_at(array, position):
    """Return one bit per byte of ``array[position : position + 64]``, the first lowest: 1 if it is special.

    Special bytes are those outside ASCII and ``! # $ % & * + - / < = > @ ^ | ~``.
    """
    if _CHECKED and (position < 0 or position + 64 > array.size):
        raise IndexError("a block is read outside its array")
    return _load_special(array, position)


@njit(nogil=True)
def near_at(array, position, word, most):
    """Return one bit per entry of ``array[position : position + 16]``: 1 if at most *most* bits differ from *word*.

    Entries are uint32; the first entry has the lowest bit.
    """
    if _CHECKED and (position < 0 or position + 16 > array.size):
        raise IndexError("a block is read outside its array")
    return _load_near(array, position, word, most)


@njit(nogil=True)
def equal_at(array, position, other):
    """Compare 64 bytes from *position* with 64 bytes from *other*; return one bit each, the first lowest."""
    if _CHECKED and (min(position, other) < 0 or max(position, other) + 64 > array.size):
        raise IndexError("a block is read outside its array")
    return _equal_64(array, position, other)


@njit(nogil=True)
def equal_words_at(array, position, other):
    """Compare 8 uint64 from *position* with 8 from *other*; return one bit each, the first lowest."""
    if _CHECKED and (min(position, other) < 0 or max(position, other) + 8 > array.size):
        raise IndexError("a block is read outside its array")
    return _equal_8(array, position, other)
