/** The style of every page: colours, layout, text and buttons. */
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

/** The style of messages and of the passphrase form. */
export const messageStyle = `
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

/** The style of a shown secret: its frame, the veil over it, and each kind of content. */
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

/**
 * What the pages do beyond HTML: a veil over the secret, and copying. It runs before anything is drawn, so that
 * nothing flashes up; until its last line has run, the page is the one without script.
 */
export const script = `'use strict';
(() => {
  const valueOf = (secret) => secret.querySelector('.value');

  // Emptied first: what a live region says already it does not say again.
  const say = (secret, words) => {
    const status = secret.querySelector('[role=status]');
    secret.classList.add('said');
    status.textContent = '';
    setTimeout(() => { status.textContent = words; }, 60);
  };

  const show = (secret) => {
    secret.classList.add('open');
    secret.querySelector('[tabindex]').focus({ preventScroll: true });
  };

  const hide = (secret) => {
    secret.classList.remove('open');
    secret.querySelector('.veil').focus();
  };

  // Where a page over plain http has no clipboard of its own.
  const copyByCommand = (text) => {
    let done = false;
    const give = (event) => {
      event.clipboardData.setData('text/plain', text);
      event.preventDefault();
      done = true;
    };
    document.addEventListener('copy', give);
    try {
      document.execCommand('copy');
    } finally {
      document.removeEventListener('copy', give);
    }
    return done;
  };

  const copyText = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyByCommand(text);
    }
  };

  const copy = async (secret) => {
    const value = valueOf(secret);
    if (await copyText(value.textContent)) {
      secret.classList.add('copied');
      setTimeout(() => secret.classList.remove('copied'), 2500);
      return say(secret, 'Copied to the clipboard.');
    }
    show(secret);
    for (const details of secret.querySelectorAll('details')) details.open = true;
    getSelection().selectAllChildren(value);
    say(secret, 'The browser did not copy it. It is selected now: copy it with the keyboard or the menu.');
  };

  const actions = { show, hide, copy };
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button[data-do]');
    if (button) actions[button.dataset.do](button.closest('.secret'));
  });
  document.documentElement.classList.add('scripted');
})();
`.replace(/^\s*(?:\/\/.*)?\n?/gm, '');
