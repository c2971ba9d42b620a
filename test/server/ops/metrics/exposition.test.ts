import { expect, test } from 'vitest';
import {
  counter,
  exposition,
  histogram,
  reading,
} from '../../../../src/server/ops/metrics/exposition';

test('counters and gauges, with labels, and nothing of what is not known', () => {
  const seen = counter('seen_total', 'Seen.', [{ by: 'owner' }]);
  seen.add({ by: 'viewer' }, 2);
  seen.add({ by: 'viewer' });
  const plain = counter('plain_total', 'Plain.', [{}]);
  const unused = counter('unused_total', 'Unused.');
  const heat = reading('gauge', 'heat', 'Heat.', () => 0.5, { at: 'core' });
  const unknown = reading('gauge', 'unknown', 'Unknown.', () => undefined);
  expect(exposition([seen, plain, unused, heat, unknown])).toBe(
    `# HELP seen_total Seen.
# TYPE seen_total counter
seen_total{by="owner"} 0
seen_total{by="viewer"} 3
# HELP plain_total Plain.
# TYPE plain_total counter
plain_total 0
# HELP heat Heat.
# TYPE heat gauge
heat{at="core"} 0.5
`,
  );
});

test('a histogram counts what is at most a bound, and everything', () => {
  const took = histogram('took_seconds', 'Took.', [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 1.25]) took.observe(value, { route: '/' });
  expect(exposition([took])).toBe(
    `# HELP took_seconds Took.
# TYPE took_seconds histogram
took_seconds_bucket{route="/",le="0.1"} 2
took_seconds_bucket{route="/",le="1"} 3
took_seconds_bucket{route="/",le="+Inf"} 4
took_seconds_sum{route="/"} 1.9
took_seconds_count{route="/"} 4
`,
  );
});

test('what would break a line or a label is escaped', () => {
  const odd = counter('odd_total', 'a\nb\\c "d"');
  odd.add({ label: 'a\nb\\c "d"' });
  expect(exposition([odd])).toBe(
    `# HELP odd_total a\\nb\\\\c "d"
# TYPE odd_total counter
odd_total{label="a\\nb\\\\c \\"d\\""} 1
`,
  );
});
