// How long short runs take, to a Node.js that does nothing: in turns, to a server that keeps nothing.
import { median, script } from './processes.mjs';
import { withStandIn } from './stand-in.mjs';

const onNode = [process.execPath, script];

/**
 * Returns, for each kind of run, the median over the rounds of its time to that of `node -e 0` in the same round.
 * @param kinds some of `push` (piped), `get`, `help` and `version`
 */
export const starts = (kinds, rounds, program = onNode) =>
  withStandIn(async ({ url, run }) => {
    const words = {
      push: ['push'],
      get: ['get', `${url}/p/abc`],
      help: ['--help'],
      version: ['--version'],
    };
    const ratios = Object.fromEntries(kinds.map((kind) => [kind, []]));
    // The first two rounds warm the caches: the program's own and that of the file system.
    for (let round = -2; round < rounds; round++) {
      const bare = await run([process.execPath, '-e', '0']);
      for (const kind of kinds) {
        const ours = await run([...program, ...words[kind]], 'secret');
        if (round >= 0) ratios[kind].push(ours.milliseconds / bare.milliseconds);
      }
    }
    return Object.fromEntries(Object.entries(ratios).map(([kind, list]) => [kind, median(list)]));
  });
