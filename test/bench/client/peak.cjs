// Runs the program that is named, or nothing, and writes down at its end how much memory it took at most, in KiB. As the
// main script, since a Node with options of its own keeps no compiled code.
const { writeFileSync } = require('node:fs');

process.once('exit', () => {
  writeFileSync(process.env.BENCH_PEAK, String(process.resourceUsage().maxRSS));
});
process.argv.splice(1, 1);
if (process.argv[1] !== undefined) require(process.argv[1]);
