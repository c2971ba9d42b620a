/** `pwpush help security`. */
export const text = `Security

What pwpush does

  Arguments    No option takes a token or passphrase: other users can read the
               arguments of a program. Pipe secrets in, or type them when asked.
  Limits       Days, views and the rest that the instance granted are compared
               with what was asked. Looser ones: the push is expired at once.
  Repeating    What creates a push or takes a view is never sent twice.
  Tokens       A token is sent to its own address alone, and not over plain http
               except to this machine. Redirects to another origin end the run.
  Terminals    Control characters from a server are made visible. In a pipe the
               bytes are exact.
  Variables    A secret does not set what programs load and run or whom they
               trust, nor replace a variable, unless you name it: --only takes
               just the names that you expect, --allow lets others through.
  Losses       A secret or link that cannot be written is saved to a file of
               mode 0600; pwpush doctor tells whether one lies about.
  Logs         --debug names no secret, passphrase, token or query string.

What it cannot do

  The instance sees the secret, unless you encrypt it before: it has the text
  and its own key. Choose one you trust, or be one with pwpush serve.
  Whoever has the link has the secret until it expires. Ask for few views, add a
  passphrase and tell it on another way; --passphrase asks for one.
  What was seen stays seen: a copy, a screenshot, a mail scanner that follows
  links. --retrieval-step keeps scanners from taking the view.
  A program that got a secret from pwpush run can pass it on.
  While pwpush serve is down, another user of the machine can listen on its port
  and be sent the token of profile local.

  pwpush-security(7) names attack, promise and test of all that.

Habits that help

  $ pwgen 24 1 | pwpush push --views 1 --days 1
  $ pwpush push --from id_ed25519 --passphrase
  $ pwpush audit abc123def456
  $ pwpush expire abc123def456
`;
