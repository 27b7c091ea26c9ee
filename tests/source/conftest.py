"""The pretend engine, for tests of everything around the real one."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sleuth import program

# How long an example takes says more about the machine than about the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture
def pretend(monkeypatch, tmp_path):
    """The pretend engine in place of the real one, in an empty folder where the command would run."""
    spec = importlib.util.spec_from_file_location("pretend_engine", Path(__file__).with_name("pretend_engine.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.install(monkeypatch.setattr)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(program, "_started_in", os.getcwd)
    monkeypatch.setenv("EXAMINED", str(tmp_path / "examined"))
    return folder


@pytest.fixture
def examined(tmp_path):
    """The files examined since it was last asked."""

    def read():
        log = tmp_path / "examined"
        files = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return sorted(files)

    return read
