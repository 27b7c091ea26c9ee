"""What an analysis is given: the posts that ask something, what people said of them, and an engine to compute on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import ibis

from sleuth.study import engine
from sleuth.study.asked import is_asked
from sleuth.study.corpus import Corpus
from sleuth.study.published import Study
from sleuth.study.schemes import ROLES, Settled, of_one_source, role_of
from sleuth.study.years import year_of

STACK_OVERFLOW, GITHUB, FORUM = "Stack Overflow", "GitHub", "PyTorch forum"
_PLATFORMS = {
    STACK_OVERFLOW: ("stackoverflow", "stackoverflow.com"),
    GITHUB: ("github", "github.com"),
    FORUM: ("pytorch-forum", "discuss.pytorch.org"),
}
OTHER = "other"
# The first that a tag begins with is a post's framework, unless a study has an order of its own.
FRAMEWORKS = ("tensorflow", "pytorch", "keras", "theano", "caffe", "torch", "jax", "mxnet", "deeplearning4j")
# Tags of a framework that do not begin with its name.
_ALSO = {"pytorch": ("gpytorch", "libtorch", "torchvision", "torchtext", "torchaudio"), "deeplearning4j": ("dl4j",)}
DAY_MS = 86_400_000
HOUR_MS = 3_600_000
# The scheme of an analysis that takes the labels of any codebook.
ANY = "labels"


@dataclass(frozen=True)
class Material:
    """`subjects` and `labels` are Ibis tables, or None where there are none.

    subjects: key, platform, framework, year, views, score, accepted (a bool), wait_ms (until the accepted answer);
    answers are not among them. labels: key, scheme, item (0, 1, … where a post has several), label; all of them of
    posts in the corpus."""

    connection: Any
    subjects: Any = None
    labels: Any = None
    # How many labels each scheme has.
    schemes: Mapping[str, int] = field(default_factory=dict)
    funnel: tuple[Mapping[str, Any], ...] = ()
    # Whose figures go beside ours, whatever the labels are.
    study: Study | None = None
    # Labels of posts that the corpus does not hold.
    strangers: int = 0
    disputed: Mapping[str, int] = field(default_factory=dict)
    # Which scheme stands for which question in this run of an analysis.
    chosen: Mapping[str, str] = field(default_factory=dict)

    def choosing(self, chosen: Mapping[str, str]) -> Material:
        return replace(self, chosen=chosen)

    def scheme(self, role: str = ANY) -> str:
        return self.chosen[role]

    def labels_of(self, role: str = ANY) -> Any:
        """key, item and label of the scheme that was chosen for this role."""
        return self.labels.filter(self.labels.scheme == self.scheme(role)).select("key", "item", "label")

    def labelled(self, role: str = ANY) -> Any:
        """The posts that have a label in this role, one row a label."""
        return self.with_libraries(self.labels_of(role).inner_join(self.subjects, "key"), self.scheme(role))

    def with_libraries(self, posts: Any, scheme: str) -> Any:
        """Where those who gave the labels also wrote down the library, that counts, not the tags."""
        named = [each for each in self.filling("library") if of_one_source((each, scheme))]
        if not named:
            return posts
        libraries = self.labels.filter(self.labels.scheme == named[0])
        libraries = libraries.group_by(library_key=libraries.key).aggregate(library=libraries.label.min())
        joined = posts.left_join(libraries, posts.key == libraries.library_key)
        return joined.mutate(framework=ibis.coalesce(joined.library, joined.framework)).select(posts.columns)

    def filling(self, role: str) -> list[str]:
        """The schemes here that answer this question."""
        if role == ANY:
            return [scheme for scheme in self.schemes if role_of(scheme) != "library"]
        return [scheme for scheme in ROLES[role] if scheme in self.schemes]

    def frameworks(self) -> tuple[str, ...]:
        return self.study.frameworks if self.study else FRAMEWORKS


def gather(
    connection: Any,
    corpus: Corpus | None = None,
    settled: Settled | None = None,
    study: Study | None = None,
    posts: Any = None,
) -> Material:
    """The material in a corpus (or in a table of posts), with what was said of its posts.

    With a study whose own labels are here, the subjects are the posts that have them."""
    if corpus is not None:
        posts = engine.posts(connection, corpus)
    funnel = tuple(corpus.manifest.get("funnel", ())) if corpus else ()
    material = Material(connection, funnel=funnel, study=study)
    if settled is not None and settled.rows:
        material = _with_labels(material, settled, posts)
    if posts is None:
        return material
    subjects = _subjects(posts, study.frameworks if study else FRAMEWORKS)
    schemes = {scheme: n for scheme, n in material.schemes.items() if scheme in (_marks(material) or material.schemes)}
    material = replace(material, schemes=schemes)
    for scheme in _marks(material):
        subjects = material.with_libraries(subjects, scheme)
    return replace(material, subjects=_kept(connection, _of_study(subjects, material)))


def _with_labels(material: Material, settled: Settled, posts: Any) -> Material:
    labels = engine.small_table(material.connection, settled.table())
    if posts is not None:
        labels = _kept(material.connection, labels.semi_join(posts, "key"))
    counted = labels.group_by("scheme").aggregate(n=labels.count()).order_by("scheme").to_pyarrow().to_pylist()
    schemes = {row["scheme"]: row["n"] for row in counted}
    strangers = len(settled.rows) - sum(schemes.values())
    return replace(material, labels=labels, schemes=schemes, strangers=strangers, disputed=settled.disputed)


def _subjects(posts: Any, frameworks: Iterable[str]) -> Any:
    is_answer = posts.kind_of_post.fill_null(OTHER) == "answer"
    asked = posts.filter(is_asked(posts))
    answers = posts.filter(is_answer & posts.id.notnull())
    # One row an answer, even where a corpus has it twice: a join must not multiply the questions.
    answers = answers.group_by(answer_site=answers.site, answer_id=answers.id).aggregate(
        answered_ms=answers.created_ms.min()
    )
    joined = asked.left_join(answers, [asked.site == answers.answer_site, asked.accepted_answer == answers.answer_id])
    accepted_ms = ibis.coalesce(joined.accepted_ms, joined.answered_ms)
    wait_ms = accepted_ms - joined.created_ms
    return joined.select(
        key=joined.key,
        platform=_platform(joined),
        framework=_framework(joined, frameworks),
        year=year_of(joined.created_ms).cast("int64"),
        views=joined.views,
        score=joined.score,
        accepted=joined.accepted_answer.notnull() | accepted_ms.notnull(),
        # An answer before its question is a slip of the source, such as two questions that were merged.
        wait_ms=ibis.cases((wait_ms >= 0, wait_ms)),
    )


def _platform(posts: Any) -> Any:
    branches = [(posts.site.isin(sites), platform) for platform, sites in _PLATFORMS.items()]
    return ibis.cases(*branches, else_=posts.site.fill_null(OTHER))


def _framework(posts: Any, names: Iterable[str]) -> Any:
    """By the words that its tags and its repository begin or go on with: `tensorflow2.0`, but not `ajax` for jax."""
    tags = ibis.coalesce(posts.tags.join("|"), "")
    words = "|" + (tags + "|" + posts.key.replace(":", "|").replace("/", "|")).replace("-", "|").lower()
    branches = [(words.contains("|" + tag), name) for name in names for tag in (name, *_ALSO.get(name, ()))]
    return ibis.cases(*branches, else_=OTHER)


def _of_study(subjects: Any, material: Material) -> Any:
    marks = _marks(material)
    if not marks:
        return subjects
    return subjects.semi_join(material.labels.filter(material.labels.scheme.isin(marks)), "key")


def _marks(material: Material) -> list[str]:
    """The labels here that only posts of the study have."""
    return [scheme for scheme in (material.study.marks if material.study else ()) if scheme in material.schemes]


def _kept(connection: Any, expression: Any) -> Any:
    """Computed once, for all analyses. (`cache()` on DuckDB leaves a table that Ibis cannot drop at the end.)"""
    if engine.is_spark(connection):
        return expression.cache()
    return connection.create_table(ibis.util.gen_name("kept"), expression, temp=True)
