/** The look of every page: colours, the card in the middle, what is said and pressed in it. */
export const pageStyle = `
:root{
  color-scheme:light dark;
  --ground:#f2f5f3;--card:#fff;--tint:#f7f9f8;--line:#d5dedb;--edge:#6f807a;
  --text:#15201c;--quiet:#52615b;
  --accent:#0b6353;--accent-strong:#084c40;--on-accent:#fff;--glow:#e0f0ec;
  --alarm:#9c2418;--alarm-glow:#fcefec;
  --sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
  --mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace;
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
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{
  margin:0 auto;min-height:100vh;min-height:100dvh;max-width:32rem;padding:1.5rem 1rem;
  display:flex;flex-direction:column;
  background:var(--ground);color:var(--text);font:1rem/1.55 var(--sans);
}
body.broad{max-width:48rem}
header,footer{flex:none;color:var(--quiet);font-size:.875rem;padding:0 .25rem}
header{margin-bottom:1.25rem}
footer{margin-top:1.25rem}
footer p{margin:0}
.brand{display:inline-flex;align-items:center;gap:.6rem;font-size:1rem;font-weight:650;color:var(--text)}
.mark{width:1.5rem;height:1.5rem;fill:var(--accent)}
main{
  background:var(--card);border:1px solid var(--line);border-radius:1rem;overflow:hidden;
  box-shadow:0 1px 2px rgb(10 30 24/.05),0 12px 32px -12px rgb(10 30 24/.14);
}
.body{padding:clamp(1.25rem,5vw,2.25rem)}
.foot{padding:1.1rem clamp(1.25rem,5vw,2.25rem);background:var(--tint);border-top:1px solid var(--line);font-size:.9375rem}
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25;font-weight:680;letter-spacing:-.012em;text-wrap:balance}
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
.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.primary:hover{background:var(--accent-strong);border-color:var(--accent-strong)}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
.facts{list-style:none;margin:0;padding:0;display:grid;gap:.6rem}
.facts li{display:flex;gap:.7rem}
.facts .icon{margin-top:.15em;color:var(--quiet)}
.facts b{font-weight:650}
.facts span{color:var(--quiet)}
time{white-space:nowrap}
code,pre{font-family:var(--mono);font-size:.9375em}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
@media (prefers-reduced-motion:no-preference){
  button,.button{transition:background-color .12s,border-color .12s}
}
@media (forced-colors:active){
  .mark{fill:currentColor}
  .primary{forced-color-adjust:none;background:Highlight;color:HighlightText;border-color:Highlight}
}
@media print{
  :root{color-scheme:light;--text:#000;--quiet:#333;--line:#999;--card:#fff;--tint:#fff;--ground:#fff}
  body{display:block;max-width:none;min-height:0;padding:0}
  main{border:0;box-shadow:none;overflow:visible}
  .body,.foot{padding:0}
  button,.button,header,footer,.foot{display:none}
}
`;
