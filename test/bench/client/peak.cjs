// Writes down, at its end, how much memory a process took at most, in KiB.
const { writeFileSync } = require('node:fs');

process.once('exit', () => {
  writeFileSync(process.env.BENCH_PEAK, String(process.resourceUsage().maxRSS));
});
