import bz2
import gzip
import io
import lzma
import os
import threading
import tracemalloc
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import DataError
from neardup.sources import compression
from neardup.sources.compression import GzipError, compressed, inflater, load

CAP = 1 << 30
PLAIN = b'{"text": "some words"}\n' * 1000
PACKED = {
    "gzip": gzip.compress(PLAIN),
    "zstd": zstandard.compress(PLAIN),
    "bzip2": bz2.compress(PLAIN),
    "xz": lzma.compress(PLAIN),
}
ENDING = {"gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2", "xz": ".xz"}
BOTH = pytest.mark.parametrize("compression", list(PACKED))


@pytest.fixture
def loaded(tmp_path):
    def loaded(data, compression=None, cap=CAP):
        path = tmp_path / ("x.jsonl" + ENDING.get(compression, ""))
        path.write_bytes(data)
        return bytes(load(str(path), compression, cap).data)

    return loaded


@given(
    st.binary(max_size=300).map(lambda some: some * 40), st.binary(max_size=30), st.integers(1, 60), st.integers(0, 9)
)
def test_gzip_is_expanded_as_by_zlib(data, rest, step, level):
    for bits in (31, 15, -15):
        packer = zlib.compressobj(level, wbits=bits)
        packed = packer.compress(data) + packer.flush()
        all_bytes, found, at = packed + rest, b"", 0
        expander = inflater(bits)
        while not expander.eof:
            found += expander.decompress(all_bytes[at : at + step])
            at += step
        assert found == data
        assert min(at, len(all_bytes)) - len(expander.unused_data) == len(packed)


def test_each_flipped_bit_of_a_gzip_member_is_noticed_or_changes_nothing():
    packed = PACKED["gzip"]
    for bit in range(8 * len(packed)):
        damaged = bytearray(packed)
        damaged[bit >> 3] ^= 1 << (bit & 7)
        expander = inflater()
        try:
            found = expander.decompress(bytes(damaged))
        except GzipError:
            continue
        assert found == PLAIN or not expander.eof


@given(st.binary(max_size=300), st.sampled_from([*PACKED, None]))
def test_what_is_compressed_expands_to_itself(data, compression):
    packed = io.BytesIO()
    with compressed(packed, compression) as file:
        file.write(data)
    expand = {
        "gzip": gzip.decompress,
        "zstd": zstandard.ZstdDecompressor().stream_reader,
        "bzip2": bz2.decompress,
        "xz": lzma.decompress,
        None: bytes,
    }[compression]
    got = expand(packed.getvalue())
    assert (got if isinstance(got, bytes) else got.read()) == data


@BOTH
def test_the_same_bytes_compress_to_the_same_bytes(compression):
    outputs = []
    for _ in range(2):
        packed = io.BytesIO()
        with compressed(packed, compression) as file:
            file.write(PLAIN)
        outputs.append(packed.getvalue())
    assert outputs[0] == outputs[1]


def test_a_plain_file_is_its_bytes(loaded):
    assert loaded(PLAIN) == PLAIN
    assert loaded(b"") == b""


@BOTH
def test_a_compressed_file_expands(loaded, compression):
    assert loaded(PACKED[compression], compression) == PLAIN


@BOTH
def test_members_follow_each_other(loaded, compression):
    assert loaded(PACKED[compression] * 3, compression) == PLAIN * 3


def test_frames_of_metadata_are_skipped(loaded):
    skipped = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    assert loaded(skipped + PACKED["zstd"] + skipped, "zstd") == PLAIN


def test_long_distance_frames_expand(loaded):
    parameters = zstandard.ZstdCompressionParameters(window_log=31, enable_ldm=True)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    assert loaded(packed.compress(PLAIN) + packed.flush(), "zstd") == PLAIN


@BOTH
def test_every_truncation_is_noticed(loaded, compression):
    packed = PACKED[compression]
    for length in {*range(0, len(packed), 7), len(packed) - 1}:
        with pytest.raises(DataError, match=r"end too early|first bytes are not those"):
            loaded(packed[:length], compression)
    with pytest.raises(DataError, match="end too early"):
        loaded(packed + packed[:-1], compression)


@BOTH
def test_rubbish_after_the_end_is_noticed(loaded, compression):
    with pytest.raises(DataError, match="the data after its compressed data"):
        loaded(PACKED[compression] + b"rubbish", compression)
    with pytest.raises(DataError, match="the data after its compressed data"):
        loaded(PACKED[compression] + b"a longer piece of rubbish, than any header is", compression)


def test_a_damaged_file_is_noticed(loaded):
    packed = bytearray(PACKED["gzip"])
    packed[-6] ^= 1  # in the checksum
    with pytest.raises(DataError, match="is corrupt"):
        loaded(bytes(packed), "gzip")


@BOTH
def test_a_bomb_is_stopped_at_the_cap(loaded, compression):
    pack = {"gzip": gzip.compress, "zstd": zstandard.compress, "bzip2": bz2.compress, "xz": lzma.compress}[compression]
    bomb = pack(bytes(1 << 24))
    assert len(bomb) < 50_000
    with pytest.raises(DataError, match=r"more than 1,000,000 bytes"):
        loaded(bomb, compression, 1_000_000)


@BOTH
def test_the_cap_is_what_still_passes(loaded, compression):
    assert loaded(PACKED[compression], compression, len(PLAIN)) == PLAIN
    with pytest.raises(DataError, match="it expands to more than"):
        loaded(PACKED[compression], compression, len(PLAIN) - 1)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (PACKED["gzip"], "gzip"),
        (PACKED["zstd"], "zstd"),
        (bz2.compress(PLAIN), "bzip2"),
        (b"PK\x03\x04....", "zip"),
        (b"PAR1....", "Parquet"),
        (PLAIN.decode().encode("utf-16"), "UTF-16 text"),
        *((PLAIN.decode().encode(name), f"{name.upper()} text") for name in ("utf-32", "utf-32le", "utf-32be")),
    ],
)
def test_a_plain_name_of_compressed_data_is_refused(loaded, data, name):
    with pytest.raises(DataError, match=f"should be plain UTF-8 text, but its first bytes are those of {name}"):
        loaded(data)


@BOTH
def test_a_compressed_name_of_other_data_is_refused(loaded, compression):
    other = "zstd" if compression == "gzip" else "gzip"
    for data in (PLAIN, PACKED[other]):
        with pytest.raises(DataError, match=f"its ending is that of {compression}, but"):
            loaded(data, compression)


@BOTH
def test_data_that_was_compressed_twice_is_refused(loaded, compression):
    packed = io.BytesIO()
    with compressed(packed, compression) as file:
        file.write(PACKED[compression])
    with pytest.raises(DataError, match="should be plain UTF-8 text"):
        loaded(packed.getvalue(), compression)


def test_a_pipe_is_read_to_its_end(tmp_path):
    path = tmp_path / "x.jsonl"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(PLAIN,))
    writer.start()
    assert bytes(load(str(path), None, CAP).data) == PLAIN
    writer.join()


def test_standard_input_is_read_up_to_the_cap(piped):
    piped(PLAIN)
    assert bytes(load("-", None, CAP).data) == PLAIN
    piped(PLAIN)
    with pytest.raises(DataError, match="<stdin>: it expands to more than 100 bytes"):
        load("-", None, 100)
    piped(PACKED["gzip"])
    with pytest.raises(DataError, match="should be plain UTF-8 text"):
        load("-", None, CAP)


def test_a_folder_cannot_be_read_as_a_file(tmp_path):
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        load(str(tmp_path), None, CAP)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(PLAIN + b"more\n"),
        lambda path: (path.with_name("y").write_bytes(PLAIN), path.with_name("y").replace(path)),
        lambda path: path.unlink(),
    ],
    ids=["shorter", "longer", "replaced", "removed"],
)
def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path, change):
    path = tmp_path / "x.jsonl"
    path.write_bytes(PLAIN)
    contents = load(str(path), None, CAP)
    contents.read(0, 0)
    change(path)
    for use in (lambda: contents.read(0, 0), lambda: contents.read(0, 5), lambda: contents.data):
        with pytest.raises(DataError, match="it was changed or removed while it was read") as caught:
            use()
        assert caught.value.code == "changed"


def test_a_file_that_shrinks_between_two_reads_of_the_system_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "x.jsonl"
    path.write_bytes(PLAIN)
    contents = load(str(path), None, CAP)
    then = path.stat()
    monkeypatch.setattr(compression.os, "fstat", lambda _: then)  # it looked the same, a moment before
    path.write_bytes(PLAIN[:100])
    with pytest.raises(DataError, match="it was changed or removed while it was read"):
        contents.read(50, 500)
    assert bytes(contents.read(50, 100)) == PLAIN[50:100]


@BOTH
def test_zeros_may_follow_where_the_format_says_so(loaded, compression):
    padded = PACKED[compression] + bytes(40_000)
    if compression in {"gzip", "bzip2", "xz"}:
        assert loaded(padded, compression) == PLAIN
        assert loaded(padded + PACKED[compression], compression) == PLAIN * 2
    else:
        with pytest.raises(DataError, match="the data after its compressed data"):
            loaded(padded, compression)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be"])
def test_other_encodings_are_recognised_with_and_without_their_mark(loaded, encoding):
    with pytest.raises(DataError, match=f"first bytes are those of {encoding.upper()} text") as caught:
        loaded(PLAIN.decode().encode(encoding))
    assert caught.value.code == encoding


@pytest.mark.parametrize("form", ["bzip2", "xz"])
def test_a_bomb_is_expanded_some_bytes_at_a_time(tmp_path, form):
    content = {"bzip2": bz2.compress, "xz": lzma.compress}[form](bytes(1 << 26))
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="expands to more than"):
            load(str(path), form, 1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 3 << 24
    finally:
        tracemalloc.stop()
    assert len(load(str(path), form, 1 << 26)) == 1 << 26
