// How much memory a run takes at most, beside a Node that does nothing, and how a long listing adds to it.
import { table } from './processes.mjs';

/** Needs the pushes that `many` left. */
export function memory({ peak, pwpush }) {
  const ours = (words, input) => peak(pwpush(...words).slice(1), input);
  const bare = peak([]);
  const push = ours(['push'], 'secret');
  const page = ours(['list']);
  const all = ours(['list', '--all']);
  const row = (name, mib) => [name, mib.toFixed(0), (mib / bare).toFixed(2)];
  return `Peak memory:\n\n${table(
    ['', 'MiB', 'to `node -e 0`'],
    [
      row('`node -e 0`', bare),
      row('`pwpush push`, piped', push),
      row('`pwpush list`, one page', page),
      row('`pwpush list --all`, 10,000 pushes', all),
    ],
  )}`;
}
