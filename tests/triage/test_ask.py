"""`sleuth.ask`: what it says of errors, of questions in plain words, and of texts about something else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sleuth
from sleuth import handbook
from sleuth.cli import COMMANDS
from sleuth.triage import KINDS, Answer, ask, kinds

TRACEBACK = """\
Traceback (most recent call last):
  File "/home/me/project/train.py", line 88, in <module>
    main()
  File "/home/me/project/net.py", line 23, in forward
    return self.fc({code})
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 117, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x1568 and 3136x10)
"""


def names(answer: Answer) -> list[str]:
    return [diagnosis.name for diagnosis in answer.diagnoses]


def commands(answer: Answer) -> list[str]:
    return [step.command for step in answer.next]


def test_an_error_is_recognised_with_its_numbers_its_line_and_what_to_run() -> None:
    answer = ask(TRACEBACK.format(code="x"))
    assert answer.kind == "program-crash"
    assert answer.signature is not None
    assert answer.signature.matched == "mat1 and mat2 shapes cannot be multiplied (64x1568 and 3136x10)"
    assert "3136" in answer.signature.why
    assert "1568" in answer.signature.why
    assert names(answer)[0] == "linear-size-mismatch"
    assert answer.place is not None
    assert (answer.place.path, answer.place.line) == ("/home/me/project/net.py", 23)
    assert commands(answer) == ["sleuth check /home/me/project/net.py", "sleuth dry /home/me/project/train.py"]


def test_the_code_around_an_error_decides_between_two_meanings() -> None:
    assert names(ask(TRACEBACK.format(code="x.flatten(1)")))[0] == "flatten-linear-mismatch"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("my loss is nan after 100 steps with softmax and log", "log-of-softmax"),
        ("Do I need a softmax layer before CrossEntropyLoss? The accuracy is bad", "softmax-before-cross-entropy"),
        ("My model overfits: training accuracy is high but validation accuracy is low", "overfitting"),
        ("With a learning rate that is too large the loss explodes", "learning-rate-too-high"),
        ("The network always predicts the same class for every image", "class-collapse"),
        ("I think I forgot zero_grad, the gradients accumulate between iterations", "missing-zero-grad"),
        ("GPU memory increases every iteration, I do total_loss += loss", "loss-keeps-graph"),
        ("dataloader workers all draw the same random numbers from numpy", "numpy-seed-in-workers"),
        ("clip_grad_norm_ before scaler.unscale_ in AMP training is bad?", "clip-before-unscale"),
        ("dying relu: most of my relu units output zero, they are dead", "dead-units"),
    ],
)
def test_a_question_in_plain_words_finds_its_page(question: str, expected: str) -> None:
    answer = ask(question)
    assert expected in names(answer)[:2]
    found = next(diagnosis for diagnosis in answer.diagnoses if diagnosis.name == expected)
    assert found.why
    assert found.page == f"sleuth explain {expected}"


@pytest.mark.parametrize(
    "question",
    [
        "How do I slice a tensor by another tensor?",
        "What does global_step mean in TensorFlow?",
        "How to read several CSV files in batches",
        "How can I run my model on Android?",
        "Is there a GRU with attention in Keras?",
        "Which book on deep learning is the best?",
        "the cat sat on the mat",
        "How to save the best model checkpoint in Keras",
        "hello",
        "????",
    ],
)
def test_a_question_about_something_else_gets_no_diagnosis(question: str) -> None:
    assert ask(question).diagnoses == ()


def test_a_nan_without_detail_leads_to_a_run_under_watch() -> None:
    answer = ask("My loss is NaN. Help!")
    assert answer.diagnoses == ()
    assert commands(answer) == ["sleuth run train.py"]


@pytest.mark.parametrize(
    "text",
    ["loss: nan", "Epoch 3 - loss: nan - accuracy: 0.1", "the loss becomes NaN", "loss = tensor(nan)", "nan loss"],
)
def test_a_nan_is_seen_in_a_log_and_in_a_sentence(text: str) -> None:
    answer = ask(text)
    assert answer.signature is not None
    assert answer.signature.name == "nan-loss"


@pytest.mark.parametrize(
    ("text", "symptom", "diagnosis"),
    [
        ("step 7 IDLoss=nan lr=0.1", "nan-loss", None),
        (
            "In fp16 mode train_loss and valid_loss are nan, in float32 they are not",
            "nan-in-half",
            "half-precision-overflow",
        ),
        ("I got the nan issue after 6000 steps. The dtype is float16.", "nan-in-half", "half-precision-overflow"),
        ("The validation loss falls at first and then keeps rising", "overfits", "overfitting"),
        ("It just predicts one class for all the pictures", "one-prediction", "class-collapse"),
        ("The results fluctuate although the random seed is set", "not-reproducible", "unseeded-despite-determinism"),
        ("I get different training results with the same seeds", "not-reproducible", "unseeded-despite-determinism"),
        ("I train on my own data and the loss never goes down", "not-learning", None),
        ("The GPU is mostly idling while I train", "low-utilisation", None),
        ("The RAM usage goes up with every epoch", "memory-grows", "loss-keeps-graph"),
        ("I converted the model to CoreML and its predictions are wrong", "port-differs", "models-part"),
        ("The outputs of the exported network do not match those of PyTorch", "port-differs", "models-part"),
    ],
)
def test_a_complaint_is_understood(text: str, symptom: str, diagnosis: str | None) -> None:
    answer = ask(text)
    assert answer.signature is not None
    assert answer.signature.name == symptom
    assert diagnosis is None or diagnosis in names(answer)
    assert all(one.score <= 0.8 for one in answer.diagnoses)


@pytest.mark.parametrize(
    "text",
    [
        "How do I convert a Keras model to TensorFlow Lite?",
        "How to export a model with several outputs to ONNX",
        "How can I train in fp16 with torch.autocast?",
        "How to predict one class at a time with a sliding window",
        "How do I get different predictions from an exported model for each user?",
        "I want to compare the outputs of my ONNX model for different values of the opset",
        "The classifier predicts a single class label per image, how can I predict several?",
        "nan problem in pandas: how to fill the nan values of a column",
    ],
)
def test_a_wish_is_no_complaint(text: str) -> None:
    assert ask(text).signature is None
    assert ask(text).diagnoses == ()


def test_a_port_that_differs_is_to_be_compared() -> None:
    assert commands(ask("The converted ONNX model gives different results than PyTorch"))[0].startswith(
        "sleuth compare "
    )


def test_jit_in_the_words_of_jax_does_not_speak_of_numpy() -> None:
    message = "Abstract tracer value encountered where concrete value is expected: while tracing f for jit"
    assert names(ask(f"ConcretizationTypeError: {message}")) == ["python-branch-on-tracer"]


def test_an_error_behind_an_error_is_the_one_to_believe() -> None:
    text = """\
RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 11 GiB total capacity)
Traceback (most recent call last):
  File "/venv/bin/torchrun", line 8, in <module>
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
"""
    answer = ask(text)
    assert answer.signature is not None
    assert answer.signature.name == "out-of-memory"
    assert names(answer)[0] == "does-not-fit-the-card"


def test_the_last_error_of_a_text_counts() -> None:
    text = "KeyError: 'a'\n\nTraceback (most recent call last):\nIndexError: Target 7 is out of bounds.\n"
    answer = ask(text)
    assert answer.signature is not None
    assert answer.signature.name == "target-out-of-bounds"


def test_an_error_on_the_way_to_onnx_is_a_matter_of_migration() -> None:
    error = "RuntimeError: The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 1"
    assert ask(error).kind == "program-crash"
    assert ask(f"torch.onnx.export(model, x, 'm.onnx') fails:\n{error}").kind == "model-migration"


def test_an_unknown_error_with_a_traceback_is_still_a_crash() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nmylib.OddError: boom\n'
    answer = ask(text)
    assert answer.kind == "program-crash"
    assert commands(answer) == ["sleuth dry a.py"]


def test_a_message_in_the_midst_of_a_sentence_weighs_less_than_the_error_itself() -> None:
    message = "index out of range in self"
    stated = ask(f"IndexError: {message}").probabilities["program-crash"]
    mentioned = ask(
        "How can I write a test for my own layer that expects the words "
        f"{message} to be raised, and is there a way to do this for several layers at once with pytest?"
    ).probabilities["program-crash"]
    assert mentioned < stated


def test_an_installation_is_asked_about_its_versions() -> None:
    answer = ask("import torch\nImportError: libcudart.so.11.0: cannot open shared object file: No such file")
    assert answer.kind == "installation"
    assert commands(answer) == ["python -m torch.utils.collect_env"]


def test_a_library_of_tensorflow_is_not_looked_for_with_torch() -> None:
    answer = ask("import tensorflow\nImportError: libcudnn.so.7: cannot open shared object file: No such file")
    assert [command for command in commands(answer) if "torch" in command] == []
    assert commands(answer)[0].startswith('python -c "import tensorflow')


def test_what_is_to_be_run_is_the_script_and_not_a_file_that_it_imports() -> None:
    error = 'File "/home/me/data.py", line 4, in __getitem__\nIndexError: Target 7 is out of bounds.\n'
    assert "sleuth dry train.py" in commands(ask(f"Original Traceback (most recent call last):\n  {error}"))
    whole = f'Traceback (most recent call last):\n  File "fit.py", line 9, in <module>\n  {error}'
    assert "sleuth dry fit.py" in commands(ask(whole))


def test_a_command_that_is_not_of_sleuth_names_the_users_script_too() -> None:
    traceback = 'Traceback (most recent call last):\n  File "my nets/fit.py", line 9, in <module>\n'
    answer = ask(f"{traceback}RuntimeError: CUDA error: device-side assert triggered\n")
    assert 'CUDA_LAUNCH_BLOCKING=1 python "my nets/fit.py"' in commands(answer)


@pytest.mark.parametrize("path", ["/tmp/ipykernel_33/8577.py", r"~\AppData\Local\Temp\ipykernel_72\288.py"])
def test_the_file_of_a_cell_is_not_one_to_run(path: str) -> None:
    text = f"IndexError      Traceback (most recent call last)\n{path} in <module>\n----> 3 fit()\n\nIndexError: "
    assert set(commands(ask(text + "index out of range in self\n"))) == {
        "sleuth check notebook.ipynb",
        "jupyter nbconvert --to script notebook.ipynb && sleuth dry notebook.py",
    }


def test_nothing_starts_a_notebook_as_if_it_were_a_program() -> None:
    text = "RuntimeError      Traceback (most recent call last)\nCell In[3], line 7\n----> 7 fit()\n\nRuntimeError: "
    for error in ("CUDA error: device-side assert triggered", "CUDA out of memory. Tried to allocate 2.00 GiB"):
        for command in commands(ask(f"{text}{error}\n")):
            started = command.rpartition("&& ")[2]
            assert started.startswith("sleuth check ") or not started.endswith(".ipynb")


def test_a_program_that_the_system_killed_has_nothing_to_do_with_the_card() -> None:
    answer = ask("Epoch 3 loss 0.41\nKilled\n")
    assert answer.kind == "program-crash"
    assert answer.diagnoses == ()
    assert commands(answer)[0].startswith("dmesg")


@pytest.mark.parametrize(
    ("shapes", "diagnosis"),
    [
        ("(None, 1) and (None, 10)", "index-into-categorical-loss"),
        ("(32,) and (32, 10)", "index-into-categorical-loss"),
        ("(None, 10) and (None, 1)", "target-size-mismatch"),
        ("(None, 8) and (None, 7)", "target-size-mismatch"),
        ("(None, None) and (None, 7, 7, 67)", "target-size-mismatch"),
        ("(165888, 4096) and (25088, 4096)", "shape-mismatch"),
        ("(4, 50, 300) and ()", "shape-mismatch"),
    ],
)
def test_the_shapes_tell_what_does_not_fit(shapes: str, diagnosis: str) -> None:
    assert names(ask(f"ValueError: Shapes {shapes} are incompatible"))[0] == diagnosis


@pytest.mark.parametrize(
    ("given", "weight", "diagnosis"),
    [
        ("torch.FloatTensor", "torch.cuda.FloatTensor", "batch-left-on-cpu"),
        ("torch.cuda.FloatTensor", "torch.FloatTensor", "device-mismatch"),
        ("torch.cuda.FloatTensor", "torch.cuda.HalfTensor", "dtype-mismatch"),
        ("torch.DoubleTensor", "torch.FloatTensor", "dtype-mismatch"),
        ("MPSFloatType", "torch.FloatTensor", "device-mismatch"),
    ],
)
def test_the_types_tell_places_from_numbers(given: str, weight: str, diagnosis: str) -> None:
    text = f"RuntimeError: Input type ({given}) and weight type ({weight}) should be the same"
    assert names(ask(text))[0] == diagnosis


def test_the_more_telling_of_two_complaints_is_the_one() -> None:
    answer = ask("The accuracy does not improve. The network always predicts the same class for every picture.")
    assert names(answer)[0] == "class-collapse"


def test_chinese_without_spaces_is_read() -> None:
    answer = ask("训练不到一个epoch时候loss变为nan，减小学习率也不行")
    assert answer.signature is not None
    assert answer.signature.name == "nan-loss"


@pytest.mark.parametrize(
    "text",
    ["It does not learn, even with four samples, which it should be able to overfit", "dropout to avoid overfitting"],
)
def test_overfitting_that_is_wished_for_or_warded_off_is_none(text: str) -> None:
    assert "overfitting" not in names(ask(text))


def test_below_the_threshold_no_kind_is_named() -> None:
    even = dict.fromkeys(KINDS, 1 / len(KINDS))
    assert kinds.kind_of(even) is None
    assert kinds.kind_of({**even, "performance": kinds.SURE}) == "performance"


def test_the_public_function_is_the_same() -> None:
    assert sleuth.ask is ask


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200))
def test_any_text_gets_an_answer_that_holds_together(text: str) -> None:
    answer = ask(text)
    assert set(answer.probabilities) == set(KINDS)
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert answer.kind is None or answer.kind in KINDS
    assert set(names(answer)) <= set(handbook.names())
    assert all(0 < diagnosis.score <= 1 for diagnosis in answer.diagnoses)
    for command in commands(answer):
        first, _, rest = command.partition(" ")
        assert first != "sleuth" or rest.split()[0] in COMMANDS
