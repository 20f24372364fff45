"""What programs leave out; each test starts one."""

import pickle
import subprocess
import sys
from importlib import import_module

import pytest
from json_lines import write_lines

from neardup.engines.startup import with_short_start

pytest.importorskip("pandas")

pytest.importorskip("cffi")

pytest.importorskip("yaml")

LOADED = "import sys; print(sorted({'cffi', 'pandas', 'numba', 'pyarrow', 'yaml'} & sys.modules.keys()))"


def printed(code, *arguments):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_kernels_run_without_cffi_also_where_numba_is_switched_off(monkeypatch):
    code = "import neardup; print(len(neardup.dedup(['one two three']).decisions));" + LOADED
    loaded = "['cffi', 'numba', 'pandas', 'pyarrow', 'yaml']"  # or there is nothing to leave out
    assert printed(code + "; import pandas; print('there')") == ["1", loaded, "there"]
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    shortened = "from neardup.engines.startup import shorten_start; shorten_start();" + code
    needed = "; import yaml; print('yaml')"  # by the library that reads hf://
    assert printed(shortened + needed) == ["1", "['numba', 'pyarrow']", "yaml"]


def test_commands_load_neither_pandas_nor_cffi_nor_settings_of_numba(tmp_path, monkeypatch):
    documents = write_lines(
        tmp_path / "documents.jsonl", [{"id": name, "text": "a rose is a rose is a rose"} for name in "ab"]
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")  # which another user may have left
    code = "from neardup.__main__ import main; main();" + LOADED
    *_, loaded = printed(
        code, "dedup", documents, "--out", tmp_path / "kept.parquet", "--report", tmp_path / "why.jsonl"
    )
    assert loaded == "['numba', 'pyarrow']"


def test_a_process_that_unpickles_a_call_leaves_pandas_out_before_it_loads_the_function(tmp_path, monkeypatch):
    listing = (
        "import sys, pyarrow\npyarrow.array(['one'])\ndef loaded(*names): return sorted({*names} & sys.modules.keys())"
    )
    (tmp_path / "listing.py").write_text(listing)
    monkeypatch.syspath_prepend(tmp_path)
    call = pickle.dumps(with_short_start(import_module("listing").loaded, "pandas", "pyarrow"))
    code = f"import pickle, sys; sys.path.insert(0, {str(tmp_path)!r}); print(pickle.loads({call!r})())"
    assert printed(code) == ["['pyarrow']"]
