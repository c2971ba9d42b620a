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
