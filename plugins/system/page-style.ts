/** The style sheet of the page; light or dark as the reader's system is. */
export const pageStyle = `:root {
  color-scheme: light dark;
  --ground: #f7f6f3; --card: #ffffff; --ink: #22252a; --soft: #6b7078; --line: #e4e2dc; --accent: #9a5b13;
  --good: #1f7a4d; --fair: #9a6700; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #17191c; --card: #1f2226; --ink: #e6e4df; --soft: #9aa0a8; --line: #32363c; --accent: #e0a458;
    --good: #5bc08a; --fair: #e0b04c; --bad: #f2857c;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2.5rem 1.25rem; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.25rem; margin-bottom: 1.5rem; }
h1 { margin: 0; font-size: 1.7rem; letter-spacing: -.01em; }
h2 { margin: 0 0 .75rem; font-size: .8rem; font-weight: 600; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); }
.meta { margin: 0; color: var(--soft); }
.dot { display: inline-block; width: .55rem; height: .55rem; margin-right: .45rem; border-radius: 50%; background: var(--good); }
nav { margin-left: auto; }
nav a { margin-left: 1rem; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
section { margin-bottom: 1rem; padding: 1.25rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .5rem .75rem .5rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
th { border-top: 0; padding-top: 0; font-size: .85rem; font-weight: 500; color: var(--soft); }
.name { font-weight: 600; white-space: nowrap; }
.badge { font-size: .85rem; font-weight: 600; }
.badge.ok { color: var(--good); }
.badge.stale { color: var(--fair); }
.badge.broken, .error { color: var(--bad); }
.empty, .hint { margin: 0; color: var(--soft); }
.hint { margin-top: .75rem; }
.warning { margin: 0 0 1rem; padding: .7rem 1rem; border-left: .25rem solid var(--fair); border-radius: .3rem; background: var(--card); }
ul { margin: 0; padding: 0; list-style: none; }
li { padding: .25rem 0; }
li code { float: right; color: var(--soft); }
code, pre { font: .875rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { margin: 0; padding: .9rem 1rem; overflow-x: auto; background: var(--ground); border: 1px solid var(--line); border-radius: .4rem; }
`;
