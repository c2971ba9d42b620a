/** Prints a line of figures; `base` is the rate it is compared with. */
export function row(name, connections, { rate, p50, p99, processor }, base) {
  const ratio = base ? (rate / base).toFixed(2) : '';
  console.log(
    [
      name.padEnd(20),
      `${connections}`.padStart(3),
      `${rate.toFixed(0).padStart(7)}/s`,
      ratio.padStart(6),
      `p50 ${p50.toFixed(2).padStart(7)} ms`,
      `p99 ${p99.toFixed(2).padStart(7)} ms`,
      processor === undefined ? '' : `${processor.toFixed(0).padStart(5)} µs`,
    ].join('  '),
  );
}
