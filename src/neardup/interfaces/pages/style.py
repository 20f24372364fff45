"""How pages look: light and dark as the reader's system is, readable on a phone."""

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --ground: #fff; --panel: #f6f7f9; --ink: #1c2128; --soft: #57606a; --line: #d5dae0;
  --accent: #0b5cad; --kept: #1a7f37; --dropped: #b35900; --mark: #ffe3c2; --mark-ink: #5c2b00; }
@media (prefers-color-scheme: dark) { :root { --ground: #12161b; --panel: #1b2027; --ink: #e3e7ec; --soft: #98a2ad;
  --line: #333b45; --accent: #6cb0ff; --kept: #56d364; --dropped: #ffa657; --mark: #5a3510; --mark-ink: #ffe0bd; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
main, header, footer { max-width: 72rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.5rem; }
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 2.2rem 0 .6rem; font-size: 1.2rem; }
h3 { margin: 0 0 .3rem; font-size: .85rem; color: var(--soft); }
p { margin: .4rem 0; }
header p, footer, .note { color: var(--soft); }
footer { padding-top: 1rem; padding-bottom: 2rem; font-size: .85rem; }
.wide { overflow-x: auto; }
.wide td { overflow-wrap: normal; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; border-top: 1px solid var(--line); }
th { font-weight: 600; overflow-wrap: normal; }
.yes, .no { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.yes { color: var(--kept); font-weight: 600; }
.no { color: var(--dropped); font-weight: 600; }
.texts { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
@media (max-width: 44rem) { .texts { grid-template-columns: 1fr; } }
.text { white-space: pre-wrap; border: 1px solid var(--line); border-radius: .5rem; background: var(--panel);
  padding: .6rem .8rem; min-width: 0; unicode-bidi: isolate; }
.text a { color: inherit; text-decoration: none; }
.text a:hover, .text a:focus { outline: 1px solid var(--accent); }
.text :target { background: var(--line); }
mark { background: var(--mark); color: var(--mark-ink); border-radius: .2rem; }
.omitted { color: var(--soft); font-style: italic; }
"""
