import json
import subprocess
import sys

import pytest

from neardup.schemes import registry

USE = """
import importlib, json, pkgutil
from numba import types
import neardup.kernels
from neardup.pipeline import warm_up

signed, run = [], warm_up.dedup
warm_up.dedup = lambda texts, **given: signed.append(repr(given["scheme"])) or run(texts, **given)
warm_up.warm(processes=1)
kernels, arrays = {}, []


def has_array(kind):
    return type(kind) is types.Array or any(map(has_array, getattr(kind, "types", ())))


for module in pkgutil.iter_modules(neardup.kernels.__path__, "neardup.kernels."):
    for name, value in vars(importlib.import_module(module.name)).items():
        if hasattr(value, "py_func") and value.py_func.__module__ == module.name and value.stats.cache_path:
            kernels[f"{module.name}.{name}"] = bool(value.signatures)
            arrays += [name for each in value.nopython_signatures if has_array(each.return_type)]
followed = len(neardup.kernels.postings.follow.nopython_signatures)
print(json.dumps({"signed": signed, "kernels": kernels, "arrays": arrays, "followed": followed}))
"""


@pytest.fixture(scope="module")
def used():
    """What a process used that did nothing but warm up."""
    done = subprocess.run([sys.executable, "-c", USE], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def test_every_kind_of_scheme_is_warmed(used):
    assert {repr(variant) for kind in registry.kinds() for variant in kind.variants()} <= {*used["signed"]}


def test_every_kernel_is_used(used):
    assert len(used["kernels"]) > 100
    assert [name for name, is_used in used["kernels"].items() if not is_used] == []


def test_arrays_are_returned_without_code_in_python(used):
    assert used["arrays"] == []


def test_chains_of_keys_and_of_digests_need_one_machine_code(used):
    assert used["followed"] == 1
