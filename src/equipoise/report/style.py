"""How the page looks: one column of text, figures beside each other where there is room, light or dark."""

from __future__ import annotations

CSS = """
:root {
  color-scheme: light dark;
  --paper: #fdfdfb; --ink: #24292f; --soft: #57606a; --faint: #8a929b; --line: #dfe2e6; --wash: #f3f4f2;
  --model: #0072b2; --other: #d55e00; --rows: #b4bcc6; --warn: #8a4b00; --warn-wash: #fdf3e4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --ink: #dde1e5; --soft: #a2abb4; --faint: #7d8791; --line: #2c3238; --wash: #1c2025;
    --model: #4fa8dc; --other: #f08a3c; --rows: #5d6770; --warn: #f0b469; --warn-wash: #2a2218;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 17px/1.55 Charter, "Bitstream Charter", "Iowan Old Style", Palatino, Georgia, serif;
}
main { max-width: 56rem; margin: 0 auto; padding: 3.2rem 1.5rem 4rem; }
header { border-bottom: 1px solid var(--line); padding-bottom: 1.6rem; margin-bottom: 1.6rem; }
.kind {
  font: 600 0.72rem/1 system-ui, sans-serif; letter-spacing: 0.09em; text-transform: uppercase; color: var(--model);
  margin: 0 0 0.9rem;
}
h1 { font-size: 2.1rem; line-height: 1.18; font-weight: 600; margin: 0 0 0.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.3; font-weight: 600; margin: 3.2rem 0 0.5rem; }
p { margin: 0.5rem 0; max-width: 42rem; overflow-wrap: anywhere; }
.lead { font-size: 1.08rem; color: var(--soft); }
.mark {
  font: 600 0.72rem/1.6 system-ui, sans-serif; color: var(--soft); border: 1px solid var(--line); border-radius: 1em;
  padding: 0.1em 0.75em; display: inline-block; margin: 0.2rem 0 0.4rem;
}
.mark.good { color: var(--model); border-color: var(--model); }
.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 1.2rem 2rem;
  margin: 1.8rem 0 0;
}
.facts dt { font: 0.78rem/1.4 system-ui, sans-serif; color: var(--soft); }
.facts dd {
  margin: 0.1rem 0 0; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: lining-nums tabular-nums;
}
.facts small { display: block; font: 0.78rem/1.4 system-ui, sans-serif; color: var(--soft); }
.warnings {
  background: var(--warn-wash); border-left: 3px solid var(--warn); margin: 1.6rem 0; padding: 0.7rem 1.1rem;
}
.warnings h2 { margin: 0 0 0.2rem; font-size: 1rem; color: var(--warn); }
.warnings ul { margin: 0; padding-left: 1.1rem; }
.warnings li { margin: 0.3rem 0; max-width: 44rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font: 0.86rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
th, td {
  text-align: left; padding: 0.4rem 1.4rem 0.4rem 0; border-bottom: 1px solid var(--line);
  vertical-align: middle;
}
th { font-weight: 600; color: var(--soft); font-size: 0.76rem; vertical-align: bottom; }
td.t { overflow-wrap: break-word; min-width: 5.5rem; max-width: 22rem; }
.n { text-align: right; font-variant-numeric: lining-nums tabular-nums; white-space: nowrap; }
tr.faint td { color: var(--faint); }
tr:last-child td { border-bottom-color: transparent; }
.whisker { width: 9rem; height: 1rem; display: block; }
.figures {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 16rem), 1fr)); gap: 1.4rem 1.8rem;
  margin: 1.2rem 0;
}
figure { margin: 0; min-width: 0; }
figure svg { width: 100%; height: auto; display: block; overflow: visible; }
figure svg text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif !important; }
figcaption {
  font: 0.8rem/1.45 system-ui, sans-serif; color: var(--soft); margin-top: 0.3rem; overflow-wrap: anywhere;
}
.single { max-width: 30rem; margin: 1.2rem 0; }
.key {
  font: 0.8rem/1.5 system-ui, sans-serif; color: var(--soft); display: flex; flex-wrap: wrap;
  gap: 0.2rem 1.3rem; margin: 0.8rem 0 0; max-width: none;
}
.key span { white-space: nowrap; }
.key i { display: inline-block; width: 1.1em; height: 0.75em; margin-right: 0.45em; vertical-align: -0.03em; }
.key i.line { height: 0; border-top: 2px solid; vertical-align: 0.3em; }
.key i.dot { width: 0.5em; height: 0.5em; border-radius: 50%; vertical-align: 0.1em; }
footer {
  margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line);
  font: 0.8rem/1.5 system-ui, sans-serif; color: var(--soft);
}
@media (max-width: 480px) {
  body { font-size: 16px; }
  main { padding: 1.8rem 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  h2 { margin-top: 2.5rem; }
  .facts { grid-template-columns: 1fr 1fr; gap: 1rem; }
  .facts dd { font-size: 1.12rem; }
  th, td { padding-right: 0.9rem; }
  .whisker, th.whiskers, td.whiskers { display: none; }
}
@media print { body { font-size: 10pt; } main { max-width: none; padding: 0; } h2, figure { break-inside: avoid; } }
""".strip()
