"""`sleuth compare`: the same model in two runtimes."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from sleuth.cli.outlet import Outlet
    from sleuth.cli.progress import Progress
    from sleuth.compare.verdict import Verdict, Wishes
    from sleuth.findings import Finding

SUMMARY = "compare a model with its port, its export or its deployments: do they agree, and where do they part first?"
EXAMPLE = "sleuth compare net.py:Net net.onnx"

_USAGE = """\
sleuth compare [options] A B
       sleuth compare [options] MODEL --as onnx,compile,bf16,int8
       sleuth compare [options] --weights A B"""

_EXAMPLES = """\
A and B are any of
  model.py:Net, package.module:name   a model, a class or function without arguments that makes one, or (model, inputs)
  model.py:Net+weights.pt             the same with these weights
  model.onnx, model.pt2, model.pt     ONNX; an exported program; TorchScript
  model.keras, keras-jax:model.keras  Keras, on the backend you name
  model.py:pair                       a JAX function with its parameters: (function, params)
  folder                              a TensorFlow SavedModel

--as takes onnx, onnx-int8, compile, bf16, fp16, autocast, int8, float64, cpu, cuda, channels_last, fused

examples:
  sleuth compare model.py:Net model.onnx                 the export against the model it came from
  sleuth compare model.py:Net+weights.pt port.keras      a port against the original, with its weights
  sleuth compare model.py:Net --as onnx,compile,bf16     one model against the forms in which it may be deployed
  sleuth compare model.py:Net model.onnx --inputs x.npz  on your own inputs
  sleuth compare model.py:Net port.py:Net --train        gradients and one step of the optimiser, too
  sleuth compare --weights a.npz b.safetensors           which weights are the same, and the code that converts them

There is no tolerance to choose: the noise of float32, or of the format that is compared, is the yardstick.
exit status: 0 they agree, 1 they do not, 2 they could not be compared
"""


def add_arguments(parser: ArgumentParser) -> None:
    from sleuth import options

    parser.usage = _USAGE
    parser.epilog = _EXAMPLES
    parser.add_argument("models", nargs="+", metavar="MODEL", help="the reference, and what is compared with it")
    parser.add_argument(
        "--as", dest="variants", metavar="NAMES", help="compare one model with these forms of it, separated by commas"
    )
    parser.add_argument("--weights", action="store_true", help="compare two files of weights, not what they compute")
    parser.add_argument("--train", action="store_true", help="compare gradients and one step of the optimiser, too")
    parser.add_argument("--inputs", metavar="FILE", help="what to compare on: .npz, .npy, .pt, or file.py:loader")
    parser.add_argument(
        "--rounds", type=int, default=None, metavar="N", help="how long to search for worse inputs (16)"
    )
    parser.add_argument("--seed", type=int, default=0, help="what the inputs are drawn with (default: 0)")
    parser.add_argument("--worst", metavar="FILE.npz", help="where the worst input goes (default: .sleuth/worst.npz)")
    parser.add_argument("--html", metavar="FILE", help="write a page with the error's growth along the network")
    parser.add_argument("--backend", choices=("torch", "jax", "tensorflow"), help="what Keras models run on")
    parser.add_argument("--trust", action="store_true", help="open pickles and Keras code, which can execute anything")
    parser.add_argument("--code", metavar="FILE.py", help="with --weights: write the code that converts them")
    options.add_arguments(parser)


def execute(args: Namespace) -> int:
    from sleuth import options
    from sleuth.cli.outlet import Outlet

    _check(args)
    chosen = options.resolve(args, "compare")
    outlet = Outlet(chosen)
    try:
        import numpy  # noqa: F401
        import torch  # noqa: F401
    except ModuleNotFoundError:
        raise Refusal(
            "this needs PyTorch and NumPy, which are not installed here: pip install 'sleuth-ml[onnx]'"
        ) from None
    from sleuth.compare.side import CannotCompare

    try:
        if args.weights:
            from sleuth.cli.compare_weights import compare_weights

            return compare_weights(args, outlet)
        return _compare(args, outlet, chosen.ignore)
    except CannotCompare as problem:
        raise Refusal(str(problem)) from None


def _check(args: Namespace) -> None:
    wanted = 1 if args.variants else 2
    if len(args.models) != wanted:
        what = "one model" if args.variants else "two models, or one and --as"
        raise Refusal(f"name {what}, not {len(args.models)}; see `sleuth compare --help`")
    if args.weights and (args.variants or args.train):
        raise Refusal("--weights compares two files; it goes with neither --as nor --train")
    if args.train and args.variants:
        raise Refusal("--train compares two models; it does not go with --as")
    if args.code and not args.weights:
        raise Refusal("--code goes with --weights")
    if args.rounds is not None and args.rounds < 0:
        raise Refusal(f"--rounds must be 0 or more, not {args.rounds}")
    if args.worst and not args.worst.endswith(".npz"):
        raise Refusal(f"--worst {args.worst}: it is written as .npz")


def _compare(args: Namespace, outlet: Outlet, ignore: frozenset[str]) -> int:
    import sys
    from contextlib import redirect_stdout

    from sleuth.cli import compare_told, streams
    from sleuth.cli.progress import Progress
    from sleuth.compare.verdict import compare_deployments, compare_two
    from sleuth.findings import Report
    from sleuth.program import silenced
    from sleuth.report import Aside

    # Standard output is the report's: what the user's models print there would spoil its JSON.
    with Progress("inputs compared") as progress, redirect_stdout(sys.stderr):
        wishes = _wishes(args, progress)
        if args.variants:
            names = [name.strip() for name in args.variants.split(",") if name.strip()]
            verdict = compare_deployments(args.models[0], names, wishes)
        else:
            first, second = args.models
            verdict = compare_two(first, second, wishes)
    found = tuple(finding for finding in verdict.findings if not silenced(finding, ignore))
    report = Report("compare", verdict.title, found)
    for line in compare_told.lines(verdict):
        streams.remark(line)
    if args.html:
        _write_page(args.html, verdict, found)
    _keep_worst(args, verdict)
    outlet.publish(report, Aside(more=compare_told.facts(verdict)))
    return report.exit


def _wishes(args: Namespace, progress: Progress) -> Wishes:
    from sleuth.cli import streams
    from sleuth.compare.verdict import ROUNDS, Wishes

    return Wishes(
        inputs=args.inputs,
        seed=args.seed,
        rounds=ROUNDS if args.rounds is None else args.rounds,
        trust=args.trust,
        backend=args.backend,
        train=args.train,
        progress=progress,
        told=lambda name: streams.note(f"comparing with {name} ..."),
    )


def _write_page(path: str, verdict: Verdict, found: tuple[Finding, ...]) -> None:
    from sleuth.cli import compare_told, files
    from sleuth.report import compare_page

    told = compare_told.facts(verdict)
    comparisons = [told["comparison"]] if "comparison" in told else told["comparisons"]
    files.write(path, compare_page.html(verdict.title, comparisons, found, told.get("deployments", ())))


def _keep_worst(args: Namespace, verdict: Verdict) -> None:
    """What the two differ on most can be looked at, and be compared on again."""
    from pathlib import Path

    from sleuth.cli import streams
    from sleuth.compare.inputs import save

    if verdict.session is None or (verdict.same and not args.worst):
        return
    path = Path(args.worst or ".sleuth/worst.npz")
    path.parent.mkdir(parents=True, exist_ok=True)
    names = [one.name for one in verdict.session.comparison.reference.inputs]
    save(verdict.session.worst.sample, path, names)
    streams.remark(f"  the worst input is kept: --inputs {path} compares on it again")
