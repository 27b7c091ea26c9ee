"""Are the same things asked about every framework?"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from sleuth.study.correlation import pearson, spearman
from sleuth.study.material import OTHER, Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, collect

TITLE = "Correlation of the frameworks' counts"
NEEDS = ("posts", "labels")
STUDIES = ("islam", "liu")


def analyse(material: Material) -> Result:
    posts = material.labelled()
    met = collect(posts.group_by("framework", "label").aggregate(n=posts.count()))
    counts = {(row["framework"], row["label"]): row["n"] for row in met if row["framework"] != OTHER}
    labels = sorted({label for _, label in counts})
    sizes: Counter[str] = Counter()
    for (framework, _), n in sorted(counts.items()):
        sizes[framework] += n
    order = [name for name, _ in sizes.most_common()]
    if len(order) < 2 or len(labels) < 3:
        raise CannotAnswer("it takes two frameworks and three labels")
    rows = []
    for first, second in combinations(order, 2):
        one, other = ([counts.get((name, label), 0) for label in labels] for name in (first, second))
        linear, by_rank = pearson(one, other), spearman(one, other)
        rows.append((f"{first} ~ {second}", first, second, linear.value, linear.p, by_rank.value, by_rank.p))
    return Result(
        name="framework_correlation",
        title=TITLE,
        columns=("pair", "one", "other", "Pearson", "Pearson p", "Spearman", "Spearman p"),
        rows=tuple(rows),
        figure=Figure("heatmap", x="one", y="other", value="Pearson"),
        note=f"Over {len(labels)} labels.",
    )
