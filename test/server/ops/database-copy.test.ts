import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { backup } from '../../../src/server/ops/database-copy';
import { mountDisk, needsDisk } from '../../helpers/disk';
import { eachFault } from '../../helpers/faults';
import { folders } from '../../helpers/memory';
import { onLinux } from '../../helpers/needs';
import { testService } from '../../helpers/service';

const newFolder = folders();

test('a copy is on the disk before it has its name, or has none', onLinux, async () => {
  const [data, folder] = [await newFolder(), await newFolder()];
  await (await testService({ data })).close();
  const file = join(folder, 'copy.db');
  const failed = await eachFault(async (failing) => {
    const copying = () => backup({ data }, { file, force: false }, {});
    const made = await failing(folder, copying).then(
      () => ['copy.db'],
      () => [],
    );
    expect(readdirSync(folder)).toEqual(made);
    rmSync(file, { force: true });
  });
  const calls = failed.map((one) => one.replace(/\.[\da-f]{12}\.part$/, '.new'));
  // In this order: the empty draft is made, SQLite fills it, and it is named.
  expect(calls.slice(0, 6)).toEqual([
    'open copy.db.new',
    'fsync copy.db.new',
    'open copy.db.new',
    'fsync copy.db.new',
    'link copy.db.new',
    'fsync ',
  ]);
});

test('a copy for which the disk has no space is refused with that reason', needsDisk, async () => {
  const data = await newFolder();
  const disk = mountDisk(1);
  onTestFinished(() => disk.remove());
  const service = await testService({ data });
  await service.create({ payload: 'x'.repeat(1024 ** 2) });
  await service.close();
  const file = join(disk.folder, 'copy.db');
  const copying = backup({ data }, { file, force: false }, {});
  await expect(copying).rejects.toThrow(`cannot write the backup "${file}": the disk is full`);
});

test('a copy removes what killed ones have left of the same name, and nothing else', async () => {
  const [data, folder] = [await newFolder(), await newFolder()];
  await (await testService({ data })).close();
  const others = ['copy.db.202611281744', 'copy.db.part', 'other.db.d0a110408884.part'];
  const left = ['', '-journal'].map((end) => `copy.db.d0a110408884.part${end}`);
  const ofRunning = 'copy.db.5ae27c909c11.part';
  for (const name of [...others, ...left, ofRunning]) writeFileSync(join(folder, name), '');
  for (const name of left) utimesSync(join(folder, name), 0, Date.now() / 1000 - 600);
  utimesSync(join(folder, ofRunning), 0, Date.now() / 1000 - 570);
  await backup({ data }, { file: join(folder, 'copy.db'), force: false }, {});
  expect(readdirSync(folder)).toEqual(['copy.db', ofRunning, ...others].sort());
});
