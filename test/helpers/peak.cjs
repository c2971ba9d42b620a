// Loaded before the program: at its end it writes down how much memory it took at most, in KiB (proc_pid_status(5)).
const { readFileSync, writeFileSync } = require('node:fs');

process.once('exit', () => {
  const [, peak] = /^VmHWM:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'));
  writeFileSync(process.env.PEAK_FILE, peak);
});
