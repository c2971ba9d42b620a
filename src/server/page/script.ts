import { timeOptions } from './language';

/**
 * Repairs a link that does not work: mail gateways write %23 for the # before the key of an encrypted secret, and append
 * parameters to links. It stays at this origin: a path may begin with two slashes.
 */
export const repairScript = `'use strict';
(() => {
  const [whole, path, key] =
    /^(.*\\/[pr]\\/[\\w-]+(?:\\/r)?)(?:%(?:25)?23([\\w-]{22}|age1[a-z0-9]{58}))?(?:[^\\w\\/-].*)?$/.exec(location.pathname) || [];
  if (whole && path !== whole) location.replace(location.origin + path + (key ? '#' + key : location.hash));
})();
`;

/**
 * What the pages do beyond HTML: a veil over the secret, copying, times of the reader's time zone, a countdown, and a
 * passphrase that can be shown. It runs before anything is drawn, so that nothing flashes up; until its last line has
 * run, the page is the one without script. Its words are attributes of the page: its hash is the same in all languages.
 */
export const script = `'use strict';
(() => {
  const root = document.documentElement;
  const all = (selector) => document.querySelectorAll(selector);

  // Emptied first: what a live region says already it does not say again.
  const say = (secret, words) => {
    const status = secret.querySelector('[role=status]');
    secret.classList.add('said');
    status.textContent = '';
    setTimeout(() => { status.textContent = words; }, 60);
  };

  const uncover = (secret) => {
    secret.classList.add('open');
    secret.querySelector('[tabindex]').focus({ preventScroll: true });
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

  const actions = {
    show: (button) => uncover(button.closest('.secret')),
    hide: (button) => {
      const secret = button.closest('.secret');
      secret.classList.remove('open');
      secret.querySelector('.veil').focus();
    },
    copy: async (button) => {
      const secret = button.closest('.secret');
      const value = secret.querySelector('.value');
      if (await copyText(value.textContent)) {
        secret.classList.add('copied');
        setTimeout(() => secret.classList.remove('copied'), 2500);
        return say(secret, secret.dataset.copied);
      }
      uncover(secret);
      for (const details of secret.querySelectorAll('details')) details.open = true;
      getSelection().selectAllChildren(value);
      say(secret, secret.dataset.failed);
    },
    peek: (button) => {
      const input = button.previousElementSibling;
      const { other } = button.dataset;
      button.dataset.other = button.getAttribute('aria-label');
      button.setAttribute('aria-label', other);
      input.type = button.classList.toggle('on') ? 'text' : 'password';
    },
    // One after another: browsers drop downloads that begin at once.
    all: () => all('.files a[href]').forEach((link, at) => setTimeout(() => link.click(), 700 * at)),
  };
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button[data-do]');
    if (button) actions[button.dataset.do](button);
  });

  // The second click of a double click would ask for the secret again, and take another view.
  let sent = -Infinity;
  document.addEventListener('submit', (event) => {
    if (event.timeStamp - sent < 5000) return event.preventDefault();
    sent = event.timeStamp;
    // The key of an encrypted secret, for the next page.
    if (location.hash) event.target.action = location.href;
    // A browser would remember what is in a field of plain text.
    all('.eye.on').forEach(actions.peek);
  });

  document.addEventListener('change', ({ target }) => {
    const { most, bytes, many, large } = target.dataset;
    if (!most) return;
    const files = [...target.files];
    const tooLarge = files.some(({ size }) => size > Number(bytes));
    target.setCustomValidity(files.length > Number(most) ? many : tooLarge ? large : '');
    target.reportValidity();
  });

  // Browsers keep pages for the Back button, no-store or not: nobody is to find a secret there.
  addEventListener('pagehide', () => all('[data-once]').forEach((one) => {
    one.remove();
    addEventListener('pageshow', () => location.reload());
  }));
  const countDown = (line) => {
    const { left, words, over } = line.dataset;
    const end = Date.now() + Number(left);
    const tick = () => {
      const seconds = Math.ceil((end - Date.now()) / 1000);
      if (seconds > 0) {
        const clock = Math.floor(seconds / 60) + ':' + String(seconds % 60).padStart(2, '0');
        line.textContent = words.replace('{time}', clock);
        return setTimeout(tick, 1000);
      }
      line.textContent = over;
      all('.files a, .all').forEach((one) => {
        one.removeAttribute('href');
        one.setAttribute('aria-disabled', 'true');
        one.disabled = true;
      });
    };
    tick();
  };

  const formats = ${JSON.stringify(timeOptions)};
  document.addEventListener('DOMContentLoaded', () => {
    // Of another language than the page's, times in UTC are better than those.
    if (Intl.DateTimeFormat.supportedLocalesOf(root.lang).length > 0)
      all('[data-time]').forEach((time) => {
        const format = new Intl.DateTimeFormat(root.lang, formats[time.dataset.time]);
        time.textContent = format.format(new Date(time.dateTime));
      });
    all('[data-left]').forEach(countDown);
  });
  root.classList.add('scripted');
})();
`.replace(/^\s*(?:\/\/.*)?\n?/gm, '');
