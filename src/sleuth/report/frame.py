"""What every self-contained page of ours starts from: colours for day and night, cards, tables, and no script."""

from __future__ import annotations

from html import escape

_STYLE = """
:root { color-scheme: light dark;
  --ground: #f5f6f8; --panel: #fff; --ink: #171b21; --soft: #5d6673; --line: #e6e9ed; --bar: #d5e2f8;
  --error: #c2341d;  --k0: #2c6fd6; --k1: #d9622b; --k2: #16906a; --k3: #8e4fbf; --k4: #b07d00; --k5: #7b6a55; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #0e1116; --panel: #161a21; --ink: #e7eaee; --soft: #98a2b0; --line: #252b34; --bar: #24395c;
  --error: #ff7a66;  --k0: #6ea3f7; --k1: #f08a55; --k2: #47c299; --k3: #bd8cea; --k4: #dbb13d; --k5: #b3a28c; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem clamp(.75rem, 3vw, 2.5rem); background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 75rem; margin: 0 auto; }
h1 { font-size: 1.3rem; margin: 0 0 .25rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; color: var(--soft); }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: .6rem; padding: .75rem 1rem;
  margin: .75rem 0; }
table { width: 100%; border-collapse: collapse; background: var(--panel); border: 1px solid var(--line);
  font-size: .9rem; }
th { position: sticky; top: 0; background: var(--panel); text-align: left; color: var(--soft); font-weight: 600;
  box-shadow: 0 1px var(--line); }
th, td { padding: .3rem .7rem; vertical-align: top; }
td { border-top: 1px solid var(--line); font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; }
.key { display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: 0; padding: 0; list-style: none; }
.key li::before { content: ""; display: inline-block; width: .7em; height: .7em; border-radius: .15em;
  margin-right: .4em; background: var(--c); }
@media (max-width: 44rem) {
  body { padding: 1rem .6rem; }
  thead { position: absolute; clip-path: inset(50%); }
  table, tbody { display: block; }
  tr { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .45rem .7rem; border-top: 1px solid var(--line); }
  td { display: block; border: 0; padding: 0; text-align: left; }
  td:empty { display: none; }
  td::before { content: attr(data-label) " "; color: var(--soft); font-size: .8rem; }
}
"""


def page(title: str, style: str, body: str) -> str:
    """A whole page around a body that is markup already."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>{_STYLE}{style}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
{body}
</main>
</body>
</html>
"""
