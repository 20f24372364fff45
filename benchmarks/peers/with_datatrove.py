"""datatrove, run in an environment of its own, one task.

`with_datatrove.py dedup SOURCE FOLDER` runs all four stages, and `with_datatrove.py contamination SOURCE FOLDER ITEMS
WORDS` its filter by n-grams. Its own index of these asks for a collection of tests, so the script makes the same file.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.decont import NGramsDecontConfig, NGramsDecontFilter
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import ParquetWriter
from datatrove.utils.text import ngrams, simplify_text
from measuring import answer


def dedup(source, folder):
    config = MinhashConfig()  # 5-grams, 14 buckets of 8 hashes, as in FineWeb
    place, name = source.rsplit("/", 1)

    def reader():
        return ParquetReader(place, glob_pattern=name)

    signatures, buckets, removed = (f"{folder}/{stage}" for stage in ("signatures", "buckets", "removed"))
    stages = (
        (1, reader(), MinhashDedupSignature(signatures, config)),
        (config.num_buckets, MinhashDedupBuckets(signatures, buckets, config=config)),
        (1, MinhashDedupCluster(buckets, removed, config)),
        (1, reader(), MinhashDedupFilter(removed), ParquetWriter(f"{folder}/kept")),
    )
    for number, (tasks, *steps) in enumerate(stages):
        LocalPipelineExecutor(pipeline=steps, tasks=tasks, workers=1, logging_dir=f"{folder}/log{number}").run()
    answer(processor=time.process_time())  # since the start of the program


def contamination(source, folder, items, words):
    config = NGramsDecontConfig(n_grams=int(words), find_query_ngrams=True)
    index = f"{folder}/index"
    search = NGramsDecontFilter(index, config)
    hashes = set()
    for text in pq.read_table(items)["text"].to_pylist():
        tokens = search.tokenizer.word_tokenize(simplify_text(text, config.norm_config))
        hashes |= {search.hash_func(" ".join(gram)) for gram in ngrams(tokens, config.n_grams)}
    Path(index).mkdir()
    np.array([*hashes], config.hash_config.np_descr).tofile(f"{index}/items.index.hashes")
    place, name = source.rsplit("/", 1)
    steps = [ParquetReader(place, glob_pattern=name), search, ParquetWriter(f"{folder}/clean")]
    LocalPipelineExecutor(pipeline=steps, tasks=1, workers=1, logging_dir=f"{folder}/log").run()
    answer(processor=time.process_time())


if __name__ == "__main__":
    {"dedup": dedup, "contamination": contamination}[sys.argv[1]](*sys.argv[2:])
