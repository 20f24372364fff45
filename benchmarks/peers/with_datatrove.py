"""datatrove, run in an environment of its own: `with_datatrove.py dedup SOURCE FOLDER`, all four stages, one task."""

import sys
import time

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import ParquetWriter
from measuring import answer


def main(source, folder):
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


if __name__ == "__main__":
    main(*sys.argv[2:])
