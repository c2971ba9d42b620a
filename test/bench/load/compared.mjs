// Services beside each other, in turns.
import { median } from '../client/processes.mjs';
import { startClient } from './processes.mjs';

/**
 * Returns, for each service by its name, the medians of what it did a second: of `create`, `view` and `last` (the view
 * that ends a push) those that are jobs. The first round, in which programs compile, does not count.
 * @param sides by name: the port of a service, and its kind in `kinds.mjs` if it is not ours
 */
export async function compared(sides, { jobs, connections, rounds, seconds }) {
  const all = Object.entries(sides).map(([name, { port, kind }]) => ({
    name,
    port,
    rates: Object.fromEntries(jobs.map((what) => [what, []])),
    client: startClient(kind),
  }));
  const job = { connections, seconds };
  for (let round = 0; round <= rounds; round++) {
    for (const what of jobs) {
      // Whoever comes second may find the disk busy, or the processor warm.
      for (const { port, client, rates } of round % 2 === 0 ? all : all.toReversed()) {
        if (what === 'view') {
          await client.run('create', { ...job, port, views: 100, count: 1000 });
        }
        const { rate } = await client.run(what, { ...job, port, views: 1 });
        if (round > 0) rates[what].push(rate);
      }
    }
  }
  for (const { client } of all) await client.stop();
  return Object.fromEntries(
    all.map(({ name, rates }) => [
      name,
      Object.fromEntries(Object.entries(rates).map(([what, list]) => [what, median(list)])),
    ]),
  );
}
