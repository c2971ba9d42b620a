// How much memory a run takes at most, beside a Node that does nothing, and how a long listing adds to it.
import { table } from './processes.mjs';

/** Needs the pushes that `many` left. */
export function memory({ node, peak, pwpush }) {
  const bare = peak([node, '-e', '0']);
  const push = peak(pwpush('push'), 'secret');
  const page = peak(pwpush('list'));
  const all = peak(pwpush('list', '--all'));
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
