"""Small dumps of posts for tests, and what an ordinary XML parser reads from them."""

import random
from html import escape
from io import BytesIO

from lxml import etree

from sleuth.study.ingest import dump, dump_row
from sleuth.study.ingest.choice import Choice, Chooser

SITE = "ai.stackexchange"
HEAD = b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>\n<posts>\n'
WORDS = 'how can the loss be nan when learning rate is small tensor Gödel naïve 数据 <3 a&b "quoted" it\'s'.split()


def escaped(value):
    return escape(str(value), quote=False).replace('"', "&quot;").replace("\n", "&#xA;").replace("\r", "&#xD;")


def row(**cells):
    """As a dump writes it; what is None is missing."""
    written = " ".join(f'{name}="{escaped(value)}"' for name, value in cells.items() if value is not None)
    return f"  <row {written} />\n".encode()


def whole(rows, head=HEAD):
    return head + b"".join(rows) + b"</posts>"


def rows(count, seed=0, bars=False):
    """Questions and answers with all that bodies usually hold."""
    chance = random.Random(seed)
    return [_row(chance, number, bars) for number in range(1, count + 1)]


def _row(chance, number, bars):
    asked = number == 1 or chance.random() < 0.4
    tags = chance.sample(["python", "tensorflow", "pytorch", "keras", "c++", ".net"], chance.randint(1, 3))
    return row(
        Id=number,
        PostTypeId=1 if asked else 2,
        ParentId=None if asked else chance.randint(1, number - 1),
        AcceptedAnswerId=number + 1 if asked and chance.random() < 0.5 else None,
        CreationDate=f"20{chance.randint(10, 24)}-02-{chance.randint(1, 28):02}T11:12:13.{number % 1000:03}",
        Score=chance.randint(-5, 300),
        ViewCount=chance.randint(1, 10**9) if asked else None,
        Body=body(chance),
        OwnerUserId=chance.randint(1, 9999) if chance.random() < 0.9 else None,
        OwnerDisplayName=chance.choice([None, "a & b", "ann"]),
        LastActivityDate="2024-02-29T23:59:59.999",
        Title=_sentence(chance) if asked else None,
        Tags=(f"|{'|'.join(tags)}|" if bars else "".join(f"<{tag}>" for tag in tags)) if asked else None,
        AnswerCount=chance.randint(0, 9) if asked else None,
        CommentCount=chance.randint(0, 9),
        ClosedDate="2020-01-01T00:00:00.000" if chance.random() < 0.1 else None,
        ContentLicense="CC BY-SA 4.0" if bars else None,
    )


def _sentence(chance):
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(2, 9)))


def body(chance):
    parts = []
    for _ in range(chance.randint(1, 4)):
        text = escape(_sentence(chance), quote=False)
        parts.append(
            chance.choice(
                [
                    f"<p>{text}</p>\n\n",
                    f'<p>{text} <code>x &lt; {text}</code>, <a href="http://x.org/?a=1&amp;b=2">{text}</a></p>\n\n',
                    f"<pre><code>{text}\n  if a &lt; b &amp;&amp; c:\n</code></pre>\n\n",
                    f'<pre class="lang-py"><code>{text}</code></pre>\n',
                    f"<ul>\n<li><p>{text}</p></li>\n<li>{text}</li>\n</ul>\n",
                    f"<blockquote>\n  <p>{text}</p>\n</blockquote>\n\n",
                    f"<p>{text}<br>{text}&nbsp;&hellip;<strong>{text}</strong></p><p>{text}</p>\n",
                ]
            )
        )
    return "".join(parts)


def read_by_lxml(data, site):
    """The posts that lxml's attributes make."""
    found = []
    for _, element in etree.iterparse(BytesIO(data), tag="row"):
        found.append(dump_row.post_of(dict(element.attrib), site))
        element.clear()
    return found


class Stream(BytesIO):
    done = 0


def read(data, choice=None):
    """What Sleuth reads from it: the posts, and what it puts aside."""
    chooser = Chooser(choice or Choice())
    posts, aside = [], []
    for batch in dump.read(Stream(data), 0, SITE, chooser):
        posts += chooser.chosen(batch.posts).to_pylist()
        aside += batch.aside
    return posts, aside
