import pyarrow as pa
import pytest
from msgspec.structs import replace

from neardup import dedup_files
from neardup.model.errors import StorageDamaged
from neardup.pipeline.spilled.earlier import mapped_table
from neardup.pipeline.spilled.state import State

TEXT = "the harbour was quiet at dawn and the pilots who came in early went home"


@pytest.fixture
def forged(tmp_path):
    """Return a function that changes a file of a state, with the right checksums, and one that uses the state."""
    lines = [f'{{"id": "d{n}", "text": "{TEXT} {n} {m}"}}\n' for n, m in enumerate("aaaabbbb")]
    lines += [f'{{"id": "e{n}", "text": "{"other words " * (n + 5)} {n}"}}\n' for n in range(3)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    place = tmp_path / "state"
    dedup_files([tmp_path / "in.jsonl"], state=place)

    def change(name, made):
        path = next(place.glob(f"segment-*/{name}"))
        if name == "texts.json":
            path.write_bytes(made(path.read_bytes()))
        else:
            table = mapped_table(path)
            content = pa.BufferOutputStream()
            made = made(pa.Table.from_pydict(table.to_pydict(), table.schema))
            with pa.ipc.new_file(content, made.schema) as writer:
                writer.write_table(made)
            path.write_bytes(content.getvalue())
        with State.open(place, write=True) as state:
            parts = [replace(part, digests=state._digests(part.name)) for part in state.segments]
            state._replace(replace(state.header, segments=tuple(parts)))

    return change, lambda: dedup_files([tmp_path / "in.jsonl"], against=place)


def having(name, value, row=-1):
    """Return a function that changes a value of a column: in the last row, unless another is named."""

    def change(table):
        column = table.column(name).to_pylist()
        column[row] = value
        place = table.column_names.index(name)
        return table.set_column(place, name, pa.array(column, table.schema.field(name).type))

    return change


def no_utf8(table):
    wrong = pa.array([b"\xff"] * len(table), pa.large_binary())
    return pa.table({"id": pa.Array.from_buffers(pa.large_string(), len(table), wrong.buffers())})


def other_type(table):
    place = table.column_names.index("representative")
    return table.set_column(place, "representative", table.column("representative").cast(pa.int64()))


def narrow(table):
    place = table.column_names.index("row")
    return table.set_column(place, "row", pa.array([b"12345678"] * len(table), pa.binary(8)))


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("leaders.arrow", having("representative", 1 << 30, 1)),
        ("leaders.arrow", having("representative", -2)),
        ("leaders.arrow", having("representative", None)),
        ("leaders.arrow", having("representative", 2, 1)),
        ("leaders.arrow", other_type),
        ("leaders.arrow", narrow),
        ("leaders.arrow", lambda table: table.drop(["row"])),
        ("kept.arrow", having("position", 1000)),
        ("kept.arrow", lambda table: table.slice(1)),
        ("dropped.arrow", having("size", None)),
        ("dropped.arrow", lambda table: pa.concat_tables([table, table])),
        ("ids.arrow", no_utf8),
        ("ids.arrow", lambda table: table.rename_columns(["other"])),
        ("texts.json", lambda _: b"[" * 100_000),
        ("texts.json", lambda content: content.replace(b'"edges"', b'"wedges"')),
        ("texts.json", lambda content: content.replace(b'"edges":[0', b'"edges":[null')),
        ("texts.json", lambda _: b'["\xff"]'),
    ],
)
def test_a_forged_segment_with_the_right_checksums_is_refused(forged, name, made):
    change, used = forged
    assert used().result.summary.known
    change(name, made)
    with pytest.raises(StorageDamaged, match=name):
        used()


def test_names_of_segments_are_not_paths(tmp_path):
    (tmp_path / "in.jsonl").write_text(f'{{"text": "{TEXT}"}}\n')
    dedup_files([tmp_path / "in.jsonl"], state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        own = state.header
        (part,) = own.segments
        (tmp_path / "state" / "segment-x").mkdir()
        state._replace(replace(own, segments=(replace(part, name=f"x/../segment-{part.name}"),)))
    with pytest.raises(StorageDamaged, match=r"state\.json"):
        State.open(tmp_path / "state")
