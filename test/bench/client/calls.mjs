// Start and whole calls: interleaved runs, medians, as ratios to `node -e 0` of the same Node.
import { median, table } from './processes.mjs';

export function calls({ node, url, token, run, pwpush }, runs) {
  const link = run(pwpush('push', '--views', '1000000'), 'secret').stdout;
  const api = `${url}/api/v2/pushes`;
  const urlToken = new URL(link).pathname.split('/')[2];
  const curl = (...words) => ['curl', '-sSf', ...words];
  const profile = [];
  const variables = { PWPUSH_URL: url, PWPUSH_TOKEN: token, PWPUSH_CONFIG_DIR: '/nonexistent' };
  const cases = {
    'node -e 0': [[node, '-e', '0']],
    'pwpush --version': [pwpush('--version')],
    'pwpush --help': [pwpush('--help')],
    'pwpush push --help': [pwpush('push', '--help')],
    'pwpush push, piped': [pwpush('push'), 'secret', variables],
    'curl, the same': [curl('--json', '{"push":{"payload":"secret"}}', api)],
    'pwpush preview': [pwpush('preview', link), '', variables],
    'curl, the same ': [curl(`${api}/${urlToken}/preview`)],
    'pwpush get': [pwpush('get', link), '', variables],
    'curl, the same  ': [curl(`${api}/${urlToken}`)],
    'pwpush get, from a stored profile': [pwpush('get', link), '', profile],
  };
  return `Medians of ${runs} interleaved runs, to an instance on the same machine:\n\n${timed(cases, run, runs)}`;
}

/** Runs all cases in turns; returns a table of the medians, as ratios to the first. */
export function timed(cases, run, runs) {
  const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  // The first two rounds warm the caches of the file system.
  for (let round = -2; round < runs; round++) {
    for (const [name, arguments_] of Object.entries(cases)) {
      const { milliseconds } = run(...arguments_);
      if (round >= 0) times[name].push(milliseconds);
    }
  }
  const bare = median(times['node -e 0']);
  const rows = Object.entries(times).map(([name, list]) => {
    const ms = median(list);
    return [`\`${name.trim()}\``, ms.toFixed(1), (ms / bare).toFixed(2)];
  });
  return table(['', 'ms', 'to `node -e 0`'], rows);
}
