import { find } from './dom';
import { timeOptions } from './formats';

/*
 * Adds to the pages: a veil over the secret, copying, times in the reader's time zone, a countdown, and a button that
 * shows a passphrase. The script runs before anything is drawn, so that no secret flashes up; until its last line sets
 * `scripted`, CSS shows the page as without script. Its texts are attributes of the page, so that its hash is the same
 * in all languages.
 */

const root = document.documentElement;
const all = <T extends HTMLElement>(selector: string) => document.querySelectorAll<T>(selector);

/** Empties the live region first, as screen readers do not repeat an unchanged text. */
function announce(secret: HTMLElement, words = ''): void {
  const status = find(secret, '[role=status]');
  secret.classList.add('said');
  status.textContent = '';
  setTimeout(() => {
    status.textContent = words;
  }, 60);
}

function uncover(secret: HTMLElement): void {
  secret.classList.add('open');
  find(secret, '[tabindex]').focus({ preventScroll: true });
}

/** Copies a text over plain http, where `navigator.clipboard` is missing. */
function copyByCommand(text: string): boolean {
  let done = false;
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    done = true;
  };
  document.addEventListener('copy', fill);
  try {
    document.execCommand('copy');
  } finally {
    document.removeEventListener('copy', fill);
  }
  return done;
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

async function copy(secret: HTMLElement): Promise<void> {
  const value = find(secret, '.value');
  if (await copyText(value.textContent ?? '')) {
    secret.classList.add('copied');
    setTimeout(() => secret.classList.remove('copied'), 2500);
    return announce(secret, secret.dataset.copied);
  }
  uncover(secret);
  for (const details of secret.querySelectorAll('details')) details.open = true;
  getSelection()?.selectAllChildren(value);
  announce(secret, secret.dataset.failed);
}

function peek(button: HTMLElement): void {
  const input = button.previousElementSibling as HTMLInputElement;
  const { other = '' } = button.dataset;
  button.dataset.other = button.getAttribute('aria-label') ?? '';
  button.setAttribute('aria-label', other);
  input.type = button.classList.toggle('on') ? 'text' : 'password';
}

const secretOf = (button: HTMLElement) => button.closest('.secret') as HTMLElement;

const actions: Readonly<Record<string, (button: HTMLElement) => unknown>> = {
  show: (button) => uncover(secretOf(button)),
  hide(button) {
    const secret = secretOf(button);
    secret.classList.remove('open');
    find(secret, '.veil').focus();
    // This HTTP request keeps the service from showing the secret if the previous form is sent again.
    const body = secret.closest<HTMLElement>('[data-hide]')?.dataset.hide;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const request = { method: 'POST', headers, keepalive: true };
    if (body) fetch(location.href, { ...request, body }).catch(() => {});
  },
  copy: (button) => copy(secretOf(button)),
  peek,
  // Browsers drop downloads that begin at the same time.
  all() {
    for (const [index, link] of all('.files a[href]').entries())
      setTimeout(() => link.click(), 700 * index);
  },
};
document.addEventListener('click', ({ target }) => {
  const button = (target as Element).closest<HTMLElement>('button[data-do]');
  if (button) actions[button.dataset.do ?? '']?.(button);
});

// The second click of a double click would ask for the secret again, and take another view.
let sent = Number.NEGATIVE_INFINITY;
document.addEventListener('submit', (event) => {
  if (event.timeStamp - sent < 5000) return event.preventDefault();
  sent = event.timeStamp;
  // The next page needs the key in the fragment to decrypt the secret.
  if (location.hash) (event.target as HTMLFormElement).action = location.href;
  // Hides passphrases again, as a browser would remember the value of a text field.
  all('.eye.on').forEach(peek);
});

document.addEventListener('change', (event) => {
  const target = event.target as HTMLInputElement;
  const { most, bytes, many = '', large = '' } = target.dataset;
  if (!most) return;
  const files = [...(target.files ?? [])];
  const tooLarge = files.some(({ size }) => size > Number(bytes));
  target.setCustomValidity(files.length > Number(most) ? many : tooLarge ? large : '');
  target.reportValidity();
});

// Removes the secret, as browsers keep pages for the Back button despite `no-store`.
addEventListener('pagehide', () => {
  for (const body of all('[data-once]')) {
    body.remove();
    addEventListener('pageshow', () => location.reload());
  }
});

function countDown(line: HTMLElement): void {
  const { left, words = '', over = '' } = line.dataset;
  const end = Date.now() + Number(left);
  const tick = () => {
    const seconds = Math.ceil((end - Date.now()) / 1000);
    if (seconds > 0) {
      const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
      line.textContent = words.replace('{time}', clock);
      setTimeout(tick, 1000);
      return;
    }
    line.textContent = over;
    for (const button of all<HTMLButtonElement>('.files a, .all')) {
      button.removeAttribute('href');
      button.setAttribute('aria-disabled', 'true');
      button.disabled = true;
    }
  };
  tick();
}

document.addEventListener('DOMContentLoaded', () => {
  // Without the page's language, the browser would write the times in another one, so they stay in UTC.
  if (Intl.DateTimeFormat.supportedLocalesOf(root.lang).length > 0)
    for (const time of all<HTMLTimeElement>('[data-time]')) {
      const options = timeOptions[time.dataset.time as keyof typeof timeOptions];
      const format = new Intl.DateTimeFormat(root.lang, options);
      time.textContent = format.format(new Date(time.dateTime));
    }
  all('[data-left]').forEach(countDown);
});
root.classList.add('scripted');
