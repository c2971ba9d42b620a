import base from './vitest.config.mts';

const t = (base as any).test;
for (const p of t.projects) {
  p.test.setupFiles = ['/tmp/h/f2/setup.ts'];
  if (process.env.F2_PROF) p.test.execArgv = ['--cpu-prof', `--cpu-prof-dir=${process.env.F2_PROF}`];
}
t.reporters = [...t.reporters, '/tmp/h/f2/rep.ts', ...(process.env.F2_JSON ? ['json'] : [])];
t.outputFile = process.env.F2_JSON;
export default base;
