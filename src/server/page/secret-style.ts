/** The look of a secret that is shown: its frame, the veil over it, and each kind of content. */
export const secretStyle = `
.secret{margin-top:1.5rem}
.bar{display:flex;flex-wrap:wrap;align-items:center;gap:.6rem;margin-bottom:.6rem;min-height:2.75rem}
.bar h2{margin-right:auto}
.bar button{min-height:2.5rem;padding:.35rem .9rem;font-size:.9375rem}
.secret button{display:none}
.scripted .secret button{display:inline-flex}
.scripted .secret:not(.open) [data-do=hide],.scripted .secret.open .veil{display:none}
.secret [data-do=copy] .done,.secret.copied [data-do=copy] .icon{display:none}
.secret.copied [data-do=copy] .done{display:inline}
.box{position:relative;display:grid;min-height:6.5rem;border:1px solid var(--line);border-radius:.75rem;background:var(--tint);overflow:hidden}
.scripted .secret:not(.open) .box{max-height:15rem}
.scripted .secret:not(.open) .content{visibility:hidden}
.content{min-width:0;align-self:center}
.box .veil{
  position:absolute;inset:0;width:100%;border:0;border-radius:.7rem;
  background:radial-gradient(circle,var(--line) 3px,transparent 3.5px) center/16px 26px var(--tint);
}
.veil:focus-visible{outline-offset:-4px}
.veil span{
  display:inline-flex;align-items:center;gap:.5rem;padding:.55rem 1.1rem;border-radius:2rem;
  background:var(--card);border:1px solid var(--line);box-shadow:0 2px 10px rgb(10 30 24/.1);
}
.veil:hover span{border-color:var(--edge)}
pre.value{max-height:min(60vh,32rem);overflow:auto;padding:1.1rem 1.2rem;font-size:.9rem;line-height:1.6;tab-size:4}
pre.short{font-size:1.25rem}
pre.value:focus-visible{outline-offset:-4px;border-radius:.7rem}
.address{padding:1.1rem 1.2rem;margin:0;font-family:var(--mono);font-size:.9375em;overflow-wrap:anywhere;color:var(--quiet)}
.address:focus-visible{outline-offset:-4px;border-radius:.7rem}
.address strong{color:var(--text)}
.leads{margin:.9rem 0 0;overflow-wrap:anywhere}
.leads strong{display:inline-block;max-width:100%;font-family:var(--mono);font-size:.9375em}
.go{margin:1rem 0 0}
.note{
  display:flex;gap:.65rem;margin:1rem 0 0;padding:.75rem .9rem;border:1px solid var(--line);border-radius:.6rem;
  background:var(--tint);font-size:.9375rem;
}
.note .icon{margin-top:.15em}
.note+.note{margin-top:.6rem}
.status{margin:0;color:var(--quiet);font-size:.9375rem}
.said .status{min-height:1.55em;margin:.5rem 0 0}
.code{padding:1.25rem;text-align:center}
.code svg{display:block;width:min(100%,19rem);height:auto;margin:0 auto;border-radius:.5rem;forced-color-adjust:none}
.code.dense svg{width:min(100%,32rem)}
.code:focus-visible{outline-offset:-4px;border-radius:.7rem}
.plain{border-top:1px solid var(--line);text-align:left}
.plain summary{padding:.8rem 1.2rem}
summary{cursor:pointer;font-weight:600}
.files{list-style:none;margin:1.5rem 0 1rem;padding:0;border:1px solid var(--line);border-radius:.75rem;overflow:hidden}
.files li{display:flex;flex-wrap:wrap;align-items:center;gap:.6rem .9rem;padding:.8rem 1rem;background:var(--tint)}
.files li+li{border-top:1px solid var(--line)}
.files>li>.icon{color:var(--quiet);font-size:1.1rem}
.files div{flex:1;min-width:0}
.name{display:block;font-weight:600;overflow-wrap:anywhere}
.size{color:var(--quiet);font-size:.875rem}
.files .button{flex:none;min-height:2.5rem;padding:.35rem .9rem;font-size:.9375rem}
.delete{margin-top:1rem;padding-top:1rem;border-top:1px solid var(--line)}
.delete summary{color:var(--alarm);width:fit-content;padding:.25rem 0}
.delete form{margin:.75rem 0 0}
.delete button{border-color:var(--alarm);color:var(--alarm)}
.delete button:hover{background:var(--alarm-glow);border-color:var(--alarm)}
@media (max-width:26rem){
  .scripted .bar h2{flex-basis:100%}
  .bar button{flex:1;padding-inline:.4rem}
  .files .button{width:100%}
  .go .button{width:100%}
}
@media (forced-colors:active){
  .box .veil{background:Canvas}
}
@media print{
  .scripted .secret button,.secret .status,.go,h1+.quiet,.plain:not([open]),.files+p{display:none!important}
  .scripted .secret:not(.open) .content{visibility:visible}
  .scripted .secret:not(.open) .box,pre.value{max-height:none;overflow:visible}
  .box{border:1px solid #999;overflow:visible;min-height:0}
  .bar{min-height:0}
}
`;
