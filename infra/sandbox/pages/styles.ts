export const styles = `
:root{--ground:#f4f5f7;--card:#fff;--ink:#15181e;--soft:#5a6372;--line:#dfe3e9;--accent:#1f5eff;
--accent-ink:#fff;--tint:#eef3ff;--good:#0a7a4b;--bad:#b3261e;--bad-tint:#fdeceb}
@media (prefers-color-scheme:dark){:root{--ground:#0f1217;--card:#181c23;--ink:#eef1f5;
--soft:#a2acba;--line:#2c333e;--accent:#7ea4ff;--accent-ink:#0b1430;--tint:#1d2740;--good:#5fd3a0;
--bad:#ff9d95;--bad-tint:#3a1f1e}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;background:var(--ground);
color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1,h2,p,dl,dd,ul{margin:0;padding:0}
.top,footer{width:100%;max-width:60rem;margin:0 auto;padding:1rem 1.25rem}
.top{display:flex;justify-content:space-between;align-items:center}
.brand{font-weight:650}.brand span{color:var(--accent)}
.mode{font-size:.8rem;padding:.15rem .6rem;border:1px solid var(--line);border-radius:1rem;
color:var(--soft)}
main{width:100%;max-width:60rem;margin:0 auto;padding:0 1.25rem;flex:1}
footer{color:var(--soft);font-size:.8rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:1rem;padding:1.25rem}
.checkout{display:grid;grid-template-columns:minmax(0,1fr);gap:1rem;align-items:start}
.amount{font-size:1.85rem;overflow-wrap:anywhere;line-height:1.2;font-weight:700;letter-spacing:-.02em;
font-variant-numeric:tabular-nums}
.label{color:var(--soft);font-size:.9rem}
.facts{display:grid;gap:.75rem 1rem;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));margin-top:1.1rem;padding-top:1.1rem;
border-top:1px solid var(--line)}
.facts dt{color:var(--soft);font-size:.85rem}.facts dd{overflow-wrap:anywhere}
.mono{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.9rem}
.alert{background:var(--bad-tint);color:var(--bad);border-radius:.75rem;padding:.75rem 1rem;
margin-bottom:1rem}
h2{font-size:1.1rem;margin-bottom:.9rem}
fieldset{border:0;margin:0 0 1.1rem;padding:0;min-width:0}
legend,summary{padding:0;font-size:.85rem;font-weight:600;color:var(--soft);margin-bottom:.5rem}
summary{cursor:pointer;padding:.35rem 0}
.options{display:grid;gap:.5rem;grid-template-columns:repeat(auto-fill,minmax(12.5rem,1fr))}
.option{display:flex;gap:.7rem;align-items:center;min-height:3rem;padding:.55rem .85rem;
border:1px solid var(--line);border-radius:.75rem;cursor:pointer}
.option:hover{border-color:var(--accent)}
.option:has(:checked){border-color:var(--accent);background:var(--tint);
box-shadow:inset 0 0 0 1px var(--accent)}
.option:has(:focus-visible){outline:3px solid var(--accent);outline-offset:2px}
.option input{flex:none;width:1.1rem;height:1.1rem;margin:0;accent-color:var(--accent)}
.option small{display:block;color:var(--soft);line-height:1.35}
.option.off{cursor:not-allowed;border-style:dashed;color:var(--soft)}
.option.off:hover{border-color:var(--line)}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;position:sticky;bottom:0;background:var(--card);
margin:0 -1.25rem -1.25rem;padding:1rem 1.25rem;border-top:1px solid var(--line);
border-radius:0 0 1rem 1rem}
button,.button{flex:1 1 auto;display:inline-block;min-height:3rem;padding:.7rem .9rem;border-radius:.75rem;
border:1px solid var(--line);background:transparent;color:var(--ink);font:inherit;font-weight:600;
text-align:center;text-decoration:none;cursor:pointer}
button.main,.button.main{flex:3 1 auto;background:var(--accent);border-color:var(--accent);
color:var(--accent-ink)}
button:focus-visible,.button:focus-visible,summary:focus-visible,a:focus-visible{
outline:3px solid var(--accent);outline-offset:2px}
.leave{display:block;margin-top:1rem;font-size:.9rem;color:var(--soft)}
.notice{max-width:30rem;margin:2rem auto;text-align:center;padding:2rem 1.5rem}
.notice h1{font-size:1.4rem;margin-bottom:.5rem}
.notice .facts,.narrow .facts{text-align:left;grid-template-columns:1fr}.notice .button{margin-top:1.5rem;width:100%}
.sign{display:grid;place-items:center;width:3.5rem;height:3.5rem;margin:0 auto 1rem;
border-radius:50%;font-size:1.6rem;background:var(--tint);color:var(--accent)}
.good .sign{color:var(--good)}.bad .sign{background:var(--bad-tint);color:var(--bad)}
.narrow{max-width:30rem;margin:1rem auto}
.narrow h1{font-size:1.4rem;margin-bottom:.5rem}
.stack{display:grid;gap:.75rem;margin-top:1.25rem}
@media (min-width:52rem){main{padding-top:1rem}
.checkout{grid-template-columns:19rem minmax(0,1fr);gap:1.5rem}.summary{position:sticky;top:1.5rem}.summary .facts{grid-template-columns:1fr}
.card{padding:1.5rem}.actions{margin:0 -1.5rem -1.5rem;padding:1rem 1.5rem}}
`
