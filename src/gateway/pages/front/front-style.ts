/** Styles of the status page, light and dark. */
export const FRONT_STYLE = `
:root {
  --paper: #fbfaf8; --card: #ffffff; --ink: #1c1b19; --dim: #6d6a64; --line: #e5e2dc; --accent: #2f6f5e; --soft: #e4efeb;
  --warm: #b4632a; --bad: #b3362b; --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #161615; --card: #1f1f1d; --ink: #ecebe7; --dim: #9b978f; --line: #33322f; --accent: #74c3ab; --soft: #24332e;
    --warm: #e0a072; --bad: #ef8a80;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 28px 20px 64px; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 6px 14px; margin-bottom: 22px; }
h1 { font-size: 24px; letter-spacing: -0.02em; margin: 0; }
h2 { font-size: 13px; letter-spacing: 0.06em; text-transform: uppercase; color: var(--dim); margin: 34px 0 10px; }
.dim { color: var(--dim); }
.bad { color: var(--bad); }
.warm { color: var(--warm); }
.push { margin-left: auto; }
.pill { display: inline-block; padding: 1px 9px; border-radius: 99px; background: var(--soft); color: var(--accent); font-size: 13px; }
.pill.bad { background: transparent; border: 1px solid var(--bad); color: var(--bad); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 14px 16px; }
.card b { display: block; font-size: 24px; font-weight: 600; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.list { background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
.row { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: baseline; padding: 11px 16px; border-top: 1px solid var(--line); }
.row:first-child { border-top: 0; }
.row > .wide { flex: 1 1 320px; min-width: 0; overflow-wrap: anywhere; }
.row > .news { flex: 1 1 100%; min-width: 0; overflow-wrap: anywhere; font-size: 13px; }
.number { font-variant-numeric: tabular-nums; }
code, pre { font-family: var(--mono); font-size: 13px; }
pre { margin: 0; padding: 12px 14px; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
progress { appearance: none; width: 100%; height: 8px; border: 0; border-radius: 4px; overflow: hidden; background: var(--line); }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--accent); }
progress::-moz-progress-bar { background: var(--accent); }
progress.full::-webkit-progress-value { background: var(--warm); }
progress.full::-moz-progress-bar { background: var(--warm); }
form { display: flex; gap: 8px; }
input { flex: 1; min-width: 0; padding: 9px 12px; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
button { padding: 8px 14px; font: inherit; color: var(--accent); background: var(--soft); border: 0; border-radius: 8px; cursor: pointer; }
button:focus-visible, input:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
button:disabled { opacity: 0.5; cursor: default; }
details { border-top: 1px solid var(--line); }
details:first-child { border-top: 0; }
summary { padding: 11px 16px; cursor: pointer; }
details > div { padding: 0 16px 14px; overflow-wrap: anywhere; }
summary > .row { display: inline-flex; width: calc(100% - 20px); padding: 0; vertical-align: top; }
details p { margin: 4px 0; }
details ul { margin: 4px 0; padding-left: 20px; }
.hit { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 9.2em; overflow: auto; }
[hidden] { display: none !important; }
`;
