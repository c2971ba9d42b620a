// The executable beside the program on Node, in turns: start and whole calls, memory.
import { resolve } from 'node:path';
import { timed } from './calls.mjs';
import { table } from './processes.mjs';

export function executable(service, path, runs) {
  const onNode = service.pwpush();
  const binary = [resolve(path)];
  return [
    `Medians of ${runs} interleaved runs, to an instance on the same machine:`,
    wholeCalls(service, onNode, binary, runs),
    'Peak memory:',
    peaks(service, onNode, binary),
  ].join('\n\n');
}

function wholeCalls({ node, url, token, run }, onNode, binary, runs) {
  const link = run([...onNode, 'push', '--views', '1000000'], 'secret').stdout;
  const variables = { PWPUSH_URL: url, PWPUSH_TOKEN: token, PWPUSH_CONFIG_DIR: '/nonexistent' };
  const cases = { 'node -e 0': [[node, '-e', '0']] };
  for (const [name, program] of [
    ['pwpush', onNode],
    ['executable', binary],
  ]) {
    cases[`${name} --version`] = [[...program, '--version']];
    cases[`${name} push --help`] = [[...program, 'push', '--help']];
    cases[`${name} push, piped`] = [[...program, 'push'], 'secret', variables];
    cases[`${name} get`] = [[...program, 'get', link], '', variables];
  }
  const api = `${url}/api/v2/pushes`;
  cases['curl, the same push'] = [['curl', '-sSf', '--json', '{"push":{"payload":"secret"}}', api]];
  return timed(cases, run, runs);
}

function peaks({ node, peak }, onNode, binary) {
  const bare = peak([node, '-e', '0']);
  const row = (name, mib) => [name, mib.toFixed(0), (mib / bare).toFixed(2)];
  const of = (name, program) => [
    row(`\`${name} push\`, piped`, peak([...program, 'push'], 'secret')),
    row(`\`${name} list\`, one page`, peak([...program, 'list'])),
  ];
  const rows = [row('`node -e 0`', bare), ...of('pwpush', onNode), ...of('executable', binary)];
  return table(['', 'MiB', 'to `node -e 0`'], rows);
}
