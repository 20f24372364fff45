"""DuckDB, run in the peers' environment: `with_duckdb.py groups KEYS FOLDER MEGABYTES`."""

import sys
import time

import duckdb
import numpy as np
import pyarrow as pa
from measuring import answer

GROUPS = "FROM keys GROUP BY place, key HAVING count(*) > 1"
WAYS = {
    "smallest and number": f"CREATE TABLE numbers AS SELECT place, key, min(document), count(*) {GROUPS}",
    "members": f"CREATE TABLE members AS SELECT place, key, list(document) {GROUPS}",
}


def main(_, path, folder, megabytes):
    keys = np.load(path, mmap_mode="r")
    connection = duckdb.connect(f"{folder}/keys.duckdb")
    connection.execute(f"SET memory_limit = '{megabytes}MB'; SET threads = 1; SET temp_directory = '{folder}/spilled'")
    connection.execute("CREATE TABLE keys (place UTINYINT, key UBIGINT, document INTEGER)")
    documents = pa.array(np.arange(keys.shape[1], dtype=np.int32))
    for place, column in enumerate(keys):
        part = pa.table({"key": pa.array(column), "document": documents})
        connection.register("part", part)
        connection.execute("INSERT INTO keys SELECT ?, key, document FROM part", [place])
    connection.execute("CHECKPOINT")
    for way, query in WAYS.items():
        begin = time.process_time()
        connection.execute(query)
        answer(way=way, processor=time.process_time() - begin)


if __name__ == "__main__":
    main(*sys.argv[1:])
