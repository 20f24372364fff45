import io
from contextlib import suppress

import pyarrow as pa
import pytest

from neardup.text.arrow_files import open_arrow

TABLE = pa.table({"number": range(1_000), "word": pa.array(["a", "b"] * 500).dictionary_encode()})


def written(table, compression=None, batches=3):
    stream = io.BytesIO()
    with pa.ipc.new_file(stream, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        for _ in range(batches):
            writer.write_table(table)
    return stream.getvalue()


@pytest.mark.parametrize("table", [TABLE, TABLE.select(["number"]), TABLE.slice(0, 0), pa.table({})])
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_files_are_read(table, batches):
    found = open_arrow(pa.BufferReader(written(table, batches=batches))).read_all()
    assert found.equals(pa.concat_tables([table] * batches) if batches else table.slice(0, 0))


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@pytest.mark.parametrize("table", [TABLE, TABLE.select(["number"]), TABLE.select(["word"])])
def test_compressed_batches_are_refused(table, compression):
    with pytest.raises(ValueError, match="its batches are compressed"):
        open_arrow(pa.BufferReader(written(table, compression)))


def test_changed_bytes_never_hide_that_batches_are_compressed():
    content = written(TABLE.slice(0, 20), "zstd", 1)
    for place in range(len(content)):
        for bit in range(8):
            changed = bytearray(content)
            changed[place] ^= 1 << bit
            with suppress(ValueError, OSError, pa.ArrowException):
                found = open_arrow(pa.BufferReader(bytes(changed))).read_all()
                assert found.get_total_buffer_size() <= len(content)
    for size in range(len(content)):
        with pytest.raises((ValueError, OSError)):
            open_arrow(pa.BufferReader(content[:size]))
