"""Words to stems by the functions of libstemmer, called without the interpreter."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from neardup.kernels.compile import kernel


@intrinsic
def _stem(typing_context, stem, length, stemmer, source, begin, size, target, out, room):  # type: ignore[no-untyped-def]  # noqa: ARG001 - Numba's protocol
    """Stem ``source[begin : begin + size]`` to ``target[out:]``; returns its bytes, none are written beyond *room*."""
    words = (stem, length, stemmer)
    signature = types.intp(*words, source, types.intp, types.intp, target, types.intp, types.intp)

    def generate(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        whole = arguments[5].type

        def place(kind: Any, array: Any, position: Any) -> Any:
            view = context.make_array(kind)(context, builder, array)
            return builder.gep(view.data, [position])

        def function(address: Any, form: ir.FunctionType) -> Any:
            return builder.inttoptr(address, form.as_pointer())

        handle = builder.inttoptr(arguments[2], byte)
        stemming = function(arguments[0], ir.FunctionType(byte, [byte, byte, number]))
        measuring = function(arguments[1], ir.FunctionType(number, [byte]))
        word = place(source, arguments[3], arguments[4])
        found = builder.call(stemming, [handle, word, builder.trunc(arguments[5], number)])
        measured = builder.sext(builder.call(measuring, [handle]), whole)
        with builder.if_then(builder.icmp_signed("<=", measured, arguments[8])):
            cgutils.raw_memcpy(builder, place(target, arguments[6], arguments[7]), found, measured, 1)
        return measured

    return signature, generate


@kernel
def stem_words(folded, starts, stem, length, stemmer, stems):
    """Stem the zero-ended words at *starts* of *folded*, in order, to zero-ended words in *stems* (uint8).

    *stem* and *length* (uint64) are the addresses of libstemmer's ``sb_stemmer_stem`` and ``sb_stemmer_length``,
    *stemmer* is one of its stemmers, used by no other thread. A word without a stem stays as it is.
    Returns how many bytes were written, or -1 if there is no room.
    """
    out = 0
    for start in starts:
        end = start
        while folded[end] != 0:
            end += 1
        room = stems.size - out - 1
        found = _stem(stem, length, stemmer, folded, start, end - start, stems, out, room)
        if found <= 0 and end - start <= room:
            found = end - start
            for step in range(found):
                stems[out + step] = folded[start + step]
        if found > room or found <= 0:
            return -1
        out += found
        stems[out] = 0
        out += 1
    return out


@kernel
def keep_changing(folded, starts, positions, count, endings):
    """Keep, in place, of the first *count* positions those of words whose last byte is among *endings* (bool[256]).

    Word *i* is at ``starts[positions[i]]`` of *folded*, zero-ended. Returns how many are kept.
    """
    kept = 0
    for entry in range(count):
        end = starts[positions[entry]]
        while folded[end] != 0:
            end += 1
        if endings[folded[end - 1]]:
            positions[kept] = positions[entry]
            kept += 1
    return kept
