/** The look of pages that say a few sentences or ask for a passphrase. */
export const fewWordsStyle = `
.narrow header{margin-top:min(9vh,5rem)}
.badge{
  display:grid;place-items:center;width:3rem;height:3rem;margin-bottom:1.25rem;border-radius:50%;
  background:var(--glow);color:var(--accent);font-size:1.2rem;
}
.badge.alarm{background:var(--alarm-glow);color:var(--alarm)}
.problem{
  display:flex;gap:.65rem;margin:1.25rem 0 0;padding:.75rem .9rem;border:1px solid transparent;border-radius:.6rem;
  background:var(--alarm-glow);color:var(--alarm);font-size:.9375rem;
}
.problem .icon{margin-top:.15em}
.wide{width:100%}
form{margin-top:1.5rem}
label{display:block;margin-bottom:.4rem;font-weight:600}
input{
  display:block;width:100%;min-height:2.75rem;margin-bottom:1rem;padding:.5rem .85rem;
  border:1px solid var(--edge);border-radius:.6rem;background:var(--card);color:var(--text);
  font:1rem/1.4 var(--sans);
}
input:focus-visible{outline-offset:0;border-color:var(--accent)}
input[aria-invalid]{border-color:var(--alarm)}
.command{margin:0 0 1rem;padding:.85rem 1rem;border:1px solid var(--line);border-radius:.6rem;background:var(--tint)}
.front h2{margin:1.75rem 0 .4rem}
@media print{
  .badge{display:none}
}
`;
