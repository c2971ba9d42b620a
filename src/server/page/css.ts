/** The style of all pages. Logical properties, for languages that are written from right to left. */
export const style = `
:root{
  color-scheme:light dark;
  --ground:#f2f5f3;--card:#fff;--tint:#f7f9f8;--line:#d5dedb;--edge:#6f807a;
  --text:#15201c;--quiet:#52615b;
  --accent:#0b6353;--accent-strong:#084c40;--on-accent:#fff;--glow:#e0f0ec;
  --alarm:#9c2418;--alarm-glow:#fcefec;
  --sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
  --mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace;
  --side:clamp(1.25rem,5vw,2.25rem);
}
@media (prefers-color-scheme:dark){
  :root{
    --ground:#0e1412;--card:#161e1b;--tint:#131a18;--line:#2c3834;--edge:#7f918a;
    --text:#e6eeea;--quiet:#a3b3ac;
    --accent:#6fd3bc;--accent-strong:#93e3d0;--on-accent:#05231c;--glow:#173029;
    --alarm:#ffb3a6;--alarm-glow:#341a16;
  }
}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scrollbar-gutter:stable}
body{
  margin:0 auto;min-height:100vh;min-height:100dvh;max-width:44rem;padding:min(5vh,2.5rem) 1rem 1.5rem;
  display:flex;flex-direction:column;
  background:var(--ground);color:var(--text);font:1rem/1.55 var(--sans);
}
header,footer{flex:none;color:var(--quiet);font-size:.875rem;padding:0 .25rem}
header{margin-bottom:1.25rem}
footer{margin-top:1.25rem;display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;justify-content:space-between}
footer p{margin:0;overflow-wrap:anywhere}
a{color:inherit}
.brand{display:inline-flex;align-items:center;gap:.6rem;font-size:1rem;font-weight:650;color:var(--text);overflow-wrap:anywhere}
.mark{flex:none;width:1.5rem;height:1.5rem;fill:var(--accent)}
.logo{flex:none;display:block;height:2rem;max-width:14rem;object-fit:contain}
main{
  background:var(--card);border:1px solid var(--line);border-radius:1rem;overflow:hidden;
  box-shadow:0 1px 2px rgb(10 30 24/.05),0 12px 32px -12px rgb(10 30 24/.14);
}
.body{padding:var(--side)}
.foot{padding:1.1rem var(--side);background:var(--tint);border-top:1px solid var(--line);font-size:.9375rem}
.top{display:flex;align-items:center;gap:1rem;margin-bottom:1rem}
.badge{
  flex:none;display:grid;place-items:center;width:3rem;height:3rem;border-radius:50%;
  background:var(--glow);color:var(--accent);font-size:1.2rem;
}
.badge.alarm{background:var(--alarm-glow);color:var(--alarm)}
h1{margin:0;font-size:1.5rem;line-height:1.25;font-weight:680;letter-spacing:-.012em;text-wrap:balance}
h1:not(.top *){margin-bottom:.6rem}
[dir=rtl] body{line-height:1.8}
[dir=rtl] h1{line-height:1.6;letter-spacing:0}
h2{margin:0;font-size:1rem;font-weight:650}
p{margin:0 0 1rem;text-wrap:pretty}
p:last-child,ul:last-child{margin-bottom:0}
.quiet{color:var(--quiet)}
.icon{
  flex:none;width:1.25em;height:1.25em;fill:none;
  stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round;
}
button,.button{
  display:inline-flex;align-items:center;justify-content:center;gap:.5rem;
  min-height:2.75rem;padding:.5rem 1.1rem;border:1px solid var(--line);border-radius:.6rem;
  background:var(--card);color:var(--text);font:600 1rem/1.3 var(--sans);
  text-decoration:none;text-align:center;cursor:pointer;
}
button:hover,.button:hover{border-color:var(--edge)}
.button:not([href]){color:var(--quiet);cursor:default;text-decoration:line-through;border-color:var(--line)}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.primary:hover{background:var(--accent-strong);border-color:var(--accent-strong)}
.wide{width:100%}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
.facts{list-style:none;margin:0;padding:0;display:grid;gap:.6rem}
.facts li{display:flex;gap:.7rem}
.facts .icon{margin-top:.15em;color:var(--quiet)}
.facts b{font-weight:650}
.facts span{color:var(--quiet)}
time,.left{font-variant-numeric:tabular-nums}
code,pre{font-family:var(--mono);font-size:.9375em}
code{overflow-wrap:anywhere;unicode-bidi:isolate;direction:ltr}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
.problem{
  display:flex;gap:.65rem;margin:1.25rem 0 0;padding:.75rem .9rem;border-radius:.6rem;border:1px solid transparent;
  background:var(--alarm-glow);color:var(--alarm);font-size:.9375rem;
}
.problem .icon,.note .icon{margin-top:.15em}
form{margin-top:1.5rem}
form+.quiet{margin:1.25rem 0 0;font-size:.9375rem}
label{display:block;margin-bottom:.4rem;font-weight:600}
.field{position:relative}
input,textarea{
  display:block;width:100%;min-height:2.75rem;padding:.5rem .85rem;
  border:1px solid var(--edge);border-radius:.6rem;background:var(--card);color:var(--text);
  font:1rem/1.4 var(--sans);
}
textarea{min-height:8rem;padding:.75rem .85rem;resize:vertical;font-family:var(--mono);font-size:.9375rem;line-height:1.55}
input:focus-visible,textarea:focus-visible{outline-offset:0;border-color:var(--accent)}
[aria-invalid]{border-color:var(--alarm)}
.eye{display:none;position:absolute;inset-block:0;inset-inline-end:0;width:2.75rem;padding:0;border:0;background:none;color:var(--quiet)}
.eye:focus-visible{outline-offset:-4px}
.scripted .eye{display:grid;place-items:center}
.scripted .field input{padding-inline-end:3rem}
.eye.on .icon:first-child,.eye:not(.on) .icon:last-child{display:none}
.row{margin-bottom:1.1rem}
.hint{margin:.4rem 0 0;color:var(--quiet);font-size:.875rem}
.wrong{margin:.4rem 0 0;color:var(--alarm);font-size:.9375rem;font-weight:600}
.pair{display:grid;grid-template:auto auto auto/1fr 1fr;gap:0 1rem}
.pair .row{display:grid;grid-row:span 3;grid-template-rows:subgrid}
.pair label{align-self:end}
input[type=file]{padding:.4rem;color:var(--quiet);font-size:.9375rem}
::file-selector-button{
  min-height:1.9rem;margin-inline-end:.8rem;padding:.25rem .8rem;border:1px solid var(--line);border-radius:.4rem;
  background:var(--tint);color:var(--text);font:600 .9375rem var(--sans);cursor:pointer;
}
.ways{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(16rem,100%),1fr));gap:1.25rem 2rem}
.ways h2{margin-bottom:.25rem}
.ways p{margin-bottom:.6rem;color:var(--quiet)}
.command{padding:.6rem .8rem;border:1px solid var(--line);border-radius:.6rem;background:var(--card);font-size:.8125rem;line-height:1.7}
.secret{margin-top:1.5rem}
.bar{display:flex;flex-wrap:wrap;align-items:center;gap:.6rem;margin-bottom:.6rem;min-height:2.75rem}
.bar h2{margin-inline-end:auto}
.bar button{min-height:2.5rem;padding:.35rem .9rem;font-size:.9375rem}
.secret button,.all{display:none}
.scripted .secret button,.scripted .all{display:inline-flex}
.scripted .secret:not(.open) [data-do=hide],.scripted .secret.open .veil{display:none}
.secret [data-do=copy] .done,.secret.copied [data-do=copy] .icon{display:none}
.secret.copied [data-do=copy] .done{display:inline}
.box{position:relative;display:grid;min-height:6.5rem;border:1px solid var(--line);border-radius:.75rem;background:var(--tint);overflow:hidden}
.link .box{min-height:0}
.link .value{user-select:all}
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
.link .address{color:var(--text)}
.address:focus-visible{outline-offset:-4px;border-radius:.7rem}
.address strong{color:var(--text)}
.leads{margin:.9rem 0 0;overflow-wrap:anywhere}
.leads strong{display:inline-block;max-width:100%;font-family:var(--mono);font-size:.9375em}
.go{margin:1rem 0 0}
.note{
  display:flex;gap:.65rem;margin:1rem 0 0;padding:.75rem .9rem;border:1px solid var(--line);border-radius:.6rem;
  background:var(--tint);font-size:.9375rem;
}
.note span,.problem span{min-width:0;overflow-wrap:anywhere}
.note+.note{margin-top:.6rem}
.status{margin:0;color:var(--quiet);font-size:.9375rem}
.said .status{min-height:1.55em;margin:.5rem 0 0}
.code{padding:1.25rem;text-align:center}
.code svg{display:block;width:min(100%,19rem);height:auto;margin:0 auto;border-radius:.5rem;forced-color-adjust:none}
.code.dense svg{width:min(100%,32rem)}
.code:focus-visible{outline-offset:-4px;border-radius:.7rem}
.plain{border-top:1px solid var(--line);text-align:start}
.plain summary{padding:.8rem 1.2rem}
.made .code{margin:1rem 0;padding:0}
.made .code svg{width:11rem}
summary{cursor:pointer;font-weight:600}
.files{list-style:none;margin:1.5rem 0 1rem;padding:0;border:1px solid var(--line);border-radius:.75rem;overflow:hidden}
.files li{display:flex;flex-wrap:wrap;align-items:center;gap:.6rem .9rem;padding:.8rem 1rem;background:var(--tint)}
.files li+li{border-top:1px solid var(--line)}
.files>li>.icon{color:var(--quiet);font-size:1.1rem}
.files div{flex:1;min-width:0}
.name{display:block;font-weight:600;overflow-wrap:anywhere}
.size{color:var(--quiet);font-size:.875rem}
.files .button{flex:none;min-height:2.5rem;padding:.35rem .9rem;font-size:.9375rem}
.delete{margin-top:1rem;padding-top:.8rem;border-top:1px solid var(--line)}
.delete summary{display:flex;align-items:center;gap:.6rem;width:fit-content;padding:.25rem 0;color:var(--quiet);list-style:none}
.delete summary::-webkit-details-marker{display:none}
.delete summary:hover,.delete[open] summary{color:var(--alarm)}
.delete form{margin:.5rem 0 0}
.delete button{border-color:var(--alarm);color:var(--alarm)}
.delete button:hover{background:var(--alarm-glow);border-color:var(--alarm)}
@media (max-width:26rem){
  .scripted .bar h2{flex-basis:100%}
  .bar button{flex:1;padding-inline:.4rem}
  .files .button,.go .button,.all{width:100%}
}
@media (prefers-reduced-motion:no-preference){
  button,.button{transition:background-color .12s,border-color .12s}
}
@media (forced-colors:active){
  .mark{fill:currentColor}
  .primary{forced-color-adjust:none;background:Highlight;color:HighlightText;border-color:Highlight}
  .box .veil{background:Canvas}
}
@media print{
  :root{color-scheme:light;--text:#000;--quiet:#333;--line:#999;--card:#fff;--tint:#fff;--ground:#fff}
  body{display:block;max-width:none;min-height:0;padding:0}
  main{border:0;box-shadow:none;overflow:visible}
  .body,.foot{padding:0}
  button,.button,header,footer,.foot,.badge{display:none}
  .scripted .secret button,.scripted .all,.secret .status,.go,.top+.quiet,.plain:not([open]),.files+p{display:none!important}
  .scripted .secret:not(.open) .content{visibility:visible}
  .scripted .secret:not(.open) .box,pre.value{max-height:none;overflow:visible}
  .box{border:1px solid #999;overflow:visible;min-height:0}
  .bar{min-height:0}
}
`.replace(/\n\s*/g, '');
