// The executable beside the program on Node, in turns: start and whole calls, memory, one large file each way, and the
// service.
import { join, resolve } from 'node:path';
import { transfers } from '../files-client.mjs';
import { folder, memory, startClient, startServiceOf } from '../load/processes.mjs';
import { timed } from './calls.mjs';
import { median, table } from './processes.mjs';

const MEBIBYTES = 1024;
const RUNS = 5;
const CONNECTIONS = 16;
const SECONDS = 3;

export async function executable(service, path, runs) {
  const onNode = service.pwpush();
  const binary = [resolve(path)];
  return [
    `Medians of ${runs} interleaved runs, to an instance on the same machine:`,
    wholeCalls(service, onNode, binary, runs),
    'Peak memory:',
    peaks(service, onNode, binary),
    `One file over loopback, medians of ${RUNS} interleaved runs:`,
    await transfers(MEBIBYTES, RUNS, binary[0]),
    `\`serve\` on SQLite, ${CONNECTIONS} connections, medians of ${RUNS} interleaved runs of ${SECONDS} s:`,
    await rates(onNode, binary),
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

async function rates(onNode, binary) {
  const sides = [];
  for (const [at, program] of [onNode, binary].entries()) {
    const service = await startServiceOf(program, '--data', join(folder, `executable-${at}`));
    sides.push({ service, client: startClient(), create: [], view: [], last: [] });
  }
  const job = { connections: CONNECTIONS, seconds: SECONDS };
  for (let round = 0; round <= RUNS; round++) {
    for (const side of sides) {
      const { client } = side;
      const { port } = side.service;
      const keep = async (what, more) => {
        const { rate } = await client.run(what, { ...job, port, ...more });
        // The first round compiles.
        if (round > 0) side[what].push(rate);
      };
      await keep('create', { views: 1 });
      await client.run('create', { ...job, port, views: 100, count: 1000 });
      await keep('view');
      await keep('last');
    }
  }
  const row = (name, what, digits = 0) => {
    const [node, other] = sides.map(what);
    return [name, node.toFixed(digits), other.toFixed(digits), (other / node).toFixed(2)];
  };
  const rows = [
    row('creations a second', ({ create }) => median(create)),
    row('views a second', ({ view }) => median(view)),
    row('last views a second', ({ last }) => median(last)),
    row('MiB at most', ({ service }) => memory(service).peak),
  ];
  for (const { service, client } of sides) {
    await service.stop();
    client.stop();
  }
  return table(['', 'Node.js', 'executable', 'ratio'], rows);
}
