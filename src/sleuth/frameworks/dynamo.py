"""Keeping torch.compile from compiling Sleuth itself.

Dynamo inlines what a compiled function calls, and compiles what that calls in its eager parts. A listener of ours in
there would be compiled again for each of its states; and as its first compilation saw it while tracing, it would be
deaf for ever."""

from __future__ import annotations

from types import CodeType
from typing import Any

from sleuth.frameworks import torch_private


def uncompiled(original: Any, telling: Any) -> Any:
    """`telling`, which calls `original`; to Dynamo, `original` alone. Needs torch to be imported."""
    from torch.compiler import is_dynamo_compiling

    set_eval_frame = torch_private.get("torch._C._dynamo.eval_frame.set_eval_frame")

    def told(*args: Any, **kwargs: Any) -> Any:
        if is_dynamo_compiling():
            return original(*args, **kwargs)
        before = set_eval_frame(None)
        try:
            return telling(*args, **kwargs)
        finally:
            set_eval_frame(before)

    _never_compile(told.__code__)
    return told


def _never_compile(code: CodeType) -> None:
    """Run this code as it is, wherever Dynamo would compile it by itself."""
    evaluator = torch_private.get("torch._C._dynamo.eval_frame")
    if hasattr(evaluator, "skip_code"):
        evaluator.skip_code(code)
    elif hasattr(evaluator, "set_code_exec_strategy"):
        skip = evaluator._FrameAction.SKIP
        evaluator.set_code_exec_strategy(code, evaluator._FrameExecStrategy(skip, evaluator._FrameAction.DEFAULT))
