// The one style sheet of the approval pages. No font, picture or script is loaded. Contrast is WCAG AA in
// both schemes; every control is at least 44 px high.
export const style = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --text: #1b1d21; --muted: #575c66; --line: #8a8f99; --soft: #f1f3f6;
  --main: #1d4ed8; --main-text: #ffffff; --danger: #b3261e; --old: #fde2e0; --new: #d9f2df; --note: #fff4d6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14161a; --text: #eceef1; --muted: #b0b6c1; --line: #7b828e; --soft: #20242a;
    --main: #2a5fe0; --main-text: #ffffff; --danger: #ff9d94; --old: #4a201d; --new: #173d23; --note: #40350f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.25rem 1rem 3rem; max-width: 44rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; }
h2 { font-size: 1.125rem; margin: 2rem 0 .5rem; }
.kicker { margin: 0; color: var(--muted); font-weight: 600; }
dl { margin: 0; }
dt { margin-top: .75rem; color: var(--muted); font-size: .9375rem; }
dd { margin: 0; }
.facts div { display: flex; flex-wrap: wrap; gap: 0 .5rem; padding: .25rem 0; }
.facts dt { margin: 0; min-width: 8rem; }
.arguments { border-inline-start: 3px solid var(--line); padding-inline-start: .875rem; }
.arguments dd, pre { white-space: pre-wrap; unicode-bidi: plaintext; }
pre { background: var(--soft); padding: .75rem; margin: .5rem 0 0; font-size: .875rem; border-radius: .375rem; }
del, ins { display: block; padding: .25rem .5rem; text-decoration: none; border-radius: .25rem; }
del { background: var(--old); } ins { background: var(--new); margin-top: .25rem; }
del::before { content: "\\2212  "; } ins::before { content: "+ "; }
.note, .fault { padding: .75rem 1rem; border-radius: .375rem; background: var(--note); margin: 0 0 1rem; }
.fault { border: 2px solid var(--danger); background: none; }
.error { color: var(--danger); font-weight: 600; margin: .25rem 0 0; }
.hint { color: var(--muted); margin: .125rem 0 .25rem; font-size: .9375rem; }
label { display: block; font-weight: 600; margin-top: 1rem; }
input, textarea, select {
  width: 100%; min-height: 44px; padding: .5rem .625rem; margin-top: .25rem; font: inherit; color: inherit;
  background: var(--ground); border: 1px solid var(--line); border-radius: .375rem;
}
.code { font-size: 1.5rem; letter-spacing: .25em; max-width: 12rem; }
.json { font-family: ui-monospace, monospace; font-size: .875rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.25rem; }
button, .button {
  min-height: 44px; padding: .625rem 1.25rem; font: inherit; font-weight: 600; border-radius: .375rem; cursor: pointer;
  border: 2px solid var(--main); background: var(--ground); color: var(--text); text-decoration: none; flex: 1 1 9rem;
  text-align: center;
}
.main { background: var(--main); color: var(--main-text); }
.danger { border-color: var(--danger); color: var(--danger); }
summary { cursor: pointer; min-height: 44px; padding: .625rem 0; font-weight: 600; }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
footer { margin-top: 2.5rem; color: var(--muted); font-size: .875rem; }
`;
