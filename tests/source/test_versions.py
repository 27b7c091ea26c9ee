"""What versions of a library a project allows, from whatever it declares."""

from __future__ import annotations

import os

import pytest

from sleuth.source.targets import Targets
from sleuth.source.versions import NEWEST, Allowed, release, specifier


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2.1.0", (2, 1)), ("1.13.1+cu117", (1, 13, 1)), ("2.0rc1", (2,)), ("v0.4", (0, 4)), ("1!3.2", (3, 2)), ("x", ())],
)
def test_a_version_is_its_numbers_without_trailing_zeros(text, numbers):
    assert release(text) == numbers


def test_versions_compare_as_people_read_them():
    assert release("1.13") > release("1.9")
    assert release("2.0.0") == release("2")
    assert release("0.4.1") > release("0.4")


@pytest.mark.parametrize(
    ("text", "lowest", "highest", "below"),
    [
        ("==2.1.0", (2, 1), (2, 1), False),
        ("==1.4.*", (1, 4), (1, 5), True),
        (">=1.8", (1, 8), NEWEST, False),
        (">=1.8,<2", (1, 8), (2,), True),
        (">= 1.8, <= 2.1", (1, 8), (2, 1), False),
        ("~=1.4.2", (1, 4, 2), (1, 5), True),
        ("~=2.0", (2,), (3,), True),
        ("<2", (), (2,), True),
        ("!=1.9", (), NEWEST, False),
        ("", (), NEWEST, False),
        (">=2.0 ; python_version < '3.9'", (2,), NEWEST, False),
    ],
)
def test_a_specifier_is_a_range(text, lowest, highest, below):
    assert specifier(text) == Allowed(lowest, highest, below)


def test_an_excluded_end_is_not_reached():
    assert not specifier("<2.0").reaches((2,))
    assert specifier("<=2.0").reaches((2,))
    assert specifier("<2.0.1").reaches((2,))


def test_a_range_is_shown_as_one_would_write_it():
    assert str(specifier(">=1.8,<2")) == ">=1.8,<2.0"
    assert str(specifier("==2.1")) == "2.1"
    assert str(Allowed()) == "the newest"


def allowed(folder, library="torch", **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Targets(str(folder)).of(library, str(folder / "train.py"))


def test_nothing_said_is_the_newest(tmp_path):
    assert allowed(tmp_path) == Allowed()
    assert allowed(tmp_path).lowest == NEWEST


def test_a_bare_name_is_the_newest_too(tmp_path):
    found = allowed(tmp_path, requirements_DOT_txt="numpy\ntorch\n")
    assert (found.lowest, found.highest) == (NEWEST, NEWEST)
    assert found.where.endswith("requirements.txt")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("requirements_DOT_txt", "# the framework\ntorch==1.13.1  # pinned\n-r other.txt\n", "1.13.1"),
        ("requirements_DOT_txt", "torch==2.0.1 \\\n    --hash=sha256:0\n", "2.0.1"),
        (
            "requirements_DOT_txt",
            "torch @ https://example.org/whl/torch-1.9.0%2Bcu111-cp38-cp38-linux_x86_64.whl\n",
            "1.9",
        ),
        ("requirements__base_DOT_txt", "torch>=2.1\n", ">=2.1"),
        ("requirements-dev_DOT_txt", "Torch[extra]~=2.2.0\n", ">=2.2,<2.3"),
        ("constraints_DOT_txt", "torch==2.3\n", "2.3"),
        ("pyproject_DOT_toml", '[project]\ndependencies = ["torch>=1.10,<2.1"]\n', ">=1.10,<2.1"),
        ("pyproject_DOT_toml", '[project.optional-dependencies]\ngpu = ["torch>=2"]\n', ">=2.0"),
        ("pyproject_DOT_toml", '[dependency-groups]\ntrain = ["torch==2.4", {include-group = "x"}]\n', "2.4"),
        ("pyproject_DOT_toml", '[tool.poetry.dependencies]\ntorch = "^1.12"\n', ">=1.12,<2.0"),
        ("pyproject_DOT_toml", '[tool.poetry.dependencies]\ntorch = {version = "~2.1", source = "x"}\n', ">=2.1,<2.2"),
        ("pyproject_DOT_toml", '[tool.poetry.group.dev.dependencies]\ntorch = "2.0.*"\n', ">=2.0,<2.1"),
        ("setup_DOT_cfg", "[options]\ninstall_requires =\n    numpy\n    torch>=1.7\n", ">=1.7"),
        (
            "setup_DOT_py",
            "from setuptools import setup\nR = ['torch<2']\nsetup(install_requires=R + ['numpy'])\n",
            "<2.0",
        ),
        ("setup_DOT_py", "R = ['torch<2']\nfrom setuptools import setup\nsetup(install_requires=R)\n", "<2.0"),
        ("environment_DOT_yml", "dependencies:\n  - python=3.8\n  - pytorch=1.4=py3.8_cuda10\n", ">=1.4,<1.5"),
        ("environment_DOT_yml", "dependencies:\n  - pytorch::pytorch>=2.1\n", ">=2.1"),
        ("environment_DOT_yml", "dependencies:\n  - pip\n  - pip:\n    - torch==2.2.1\n", "2.2.1"),
        ("Pipfile", '[packages]\ntorch = "==1.11"\n', "1.11"),
        ("pixi_DOT_toml", '[dependencies]\npytorch = ">=2.2"\n', ">=2.2"),
    ],
)
def test_every_way_to_declare_is_read(tmp_path, name, text, expected):
    assert str(allowed(tmp_path, **{name: text})) == expected


def test_a_broken_declaration_says_nothing(tmp_path):
    found = allowed(
        tmp_path, pyproject_DOT_toml="[project\n", setup_DOT_py="def (", setup_DOT_cfg="no section", Pipfile="= 1"
    )
    assert found == Allowed()


def test_several_files_narrow_each_other(tmp_path):
    found = allowed(
        tmp_path, pyproject_DOT_toml='[project]\ndependencies = ["torch>=1.8"]\n', requirements_DOT_txt="torch==2.1\n"
    )
    assert str(found) == "2.1"


def test_statements_that_exclude_each_other_are_alternatives(tmp_path):
    text = '[project.optional-dependencies]\nold = ["torch<1.9"]\nnew = ["torch>=2.0"]\n'
    found = allowed(tmp_path, pyproject_DOT_toml=text)
    assert str(found) == "any"
    assert found.reaches((2,))
    assert not found.always_has((0, 1))


def test_lines_for_different_pythons_are_alternatives(tmp_path):
    text = 'torch==1.13 ; python_version < "3.8"\ntorch==2.1 ; python_version >= "3.8"\n'
    assert str(allowed(tmp_path, requirements_DOT_txt=text)) == ">=1.13,<=2.1"


def test_a_lock_file_speaks_where_nothing_else_does(tmp_path):
    lock = '[[package]]\nname = "torch"\nversion = "2.3.1"\n'
    bare = allowed(tmp_path / "a", pyproject_DOT_toml='[project]\ndependencies = ["torch"]\n', uv_DOT_lock=lock)
    assert str(bare) == "2.3.1"
    promised = allowed(tmp_path / "b", pyproject_DOT_toml='[project]\ndependencies = ["torch>=2"]\n', uv_DOT_lock=lock)
    assert str(promised) == ">=2.0"


def test_the_nearest_folder_wins(tmp_path):
    (tmp_path / "requirements.txt").write_text("torch>=1.8\n")
    inner = tmp_path / "examples" / "one"
    inner.mkdir(parents=True)
    (inner / "requirements.txt").write_text("torch==2.2\n")
    targets = Targets(str(tmp_path))
    assert str(targets.of("torch", str(inner / "train.py"))) == "2.2"
    assert str(targets.of("torch", str(tmp_path / "examples" / "x.py"))) == ">=1.8"


def test_nothing_above_the_project_is_read(tmp_path):
    (tmp_path / "requirements.txt").write_text("torch==1.0\n")
    project = tmp_path / "project"
    project.mkdir()
    assert Targets(str(project)).of("torch", str(project / "a.py")) == Allowed()


def test_a_script_may_say_itself_what_it_needs(tmp_path):
    (tmp_path / "requirements.txt").write_text("torch==1.0\n")
    script = '# /// script\n# requires-python = ">=3.10"\n# dependencies = ["torch>=2.4"]\n# ///\nimport torch\n'
    assert str(Targets(str(tmp_path)).of("torch", str(tmp_path / "a.py"), script)) == ">=2.4"


def test_what_the_user_says_wins(tmp_path):
    (tmp_path / "requirements.txt").write_text("torch==1.0\n")
    targets = Targets(str(tmp_path), {"torch": "==2.1", "numpy": "1.26", "PyTorch_Lightning": ">=2"})
    assert str(targets.of("torch", str(tmp_path / "a.py"))) == "2.1"
    assert str(targets.of("numpy", str(tmp_path / "a.py"))) == "1.26"
    assert str(targets.of("lightning", str(tmp_path / "a.py"))) == ">=2.0"


def test_a_change_of_a_declaration_is_seen(tmp_path):
    declaration = tmp_path / "requirements.txt"
    declaration.write_text("torch==1.0\n")
    targets = Targets(str(tmp_path))
    assert str(targets.of("torch", str(tmp_path / "a.py"))) == "1.0"
    declaration.write_text("torch==2.0.1\n")
    os.utime(declaration, ns=(1, 1))
    assert str(targets.of("torch", str(tmp_path / "a.py"))) == "2.0.1"


@pytest.mark.parametrize(
    ("torch", "vision"),
    [("torch==1.13.1", "0.14"), ("torch>=2.1", ">=0.16"), ("torch<2.0", "<0.15"), ("torch", "the newest")],
)
def test_torchvision_goes_with_torch(tmp_path, torch, vision):
    assert str(allowed(tmp_path, "torchvision", requirements_DOT_txt=torch)) == vision


@pytest.mark.parametrize(
    ("tensorflow", "keras"),
    [
        ("tensorflow==2.10", "2.10"),
        ("tensorflow-gpu==1.15", "2.2"),
        ("tensorflow>=2.16", ">=3.0"),
        ("tensorflow<2.16", "<3.0"),
        ("tensorflow>=2.4\nkeras==2.15", "2.15"),
    ],
)
def test_keras_goes_with_tensorflow(tmp_path, tensorflow, keras):
    assert str(allowed(tmp_path, "keras", requirements_DOT_txt=tensorflow)) == keras
