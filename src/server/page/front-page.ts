import { page } from './layout';
import { markup } from './markup';

/** What stands at the address itself: what this is, for who got a link and for who wants to send one. */
export function frontPage(base: string, anonymous: boolean): Response {
  const command = anonymous ? `pwpush push --url ${base}` : `pwpush login ${base}\npwpush push`;
  return page(
    'Password Pusher',
    markup`<div class="body front">
<h1>Secrets as links that stop working</h1>
<p>This is a Password Pusher instance. It keeps a secret sealed, hands it over by a link, and deletes it after a number of views or days.</p>
<h2>You were sent a link</h2>
<p>Open it as it was given to you. It begins with <code>${base}/p/</code>.</p>
<h2>You want to send a secret</h2>
<p>${anonymous ? 'The program asks for it and prints the link.' : 'Sign in with the token you were given. The program then asks for the secret and prints the link.'}</p>
<pre class="command">${command}</pre>
</div>`,
  );
}
