import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { root } from './deploy';
import { memory } from './memory';
import { allOf, needsPrograms, needsRoot } from './needs';
import { type Ended, running } from './program';
import type { Plain } from './yaml';

// The image of deploy/Dockerfile, built by Buildah and run with namespaces and chroot: no container engine runs where CI
// does, and no registry of images can be reached.

const run = promisify(execFile);

export const needsImages = allOf(needsRoot, needsPrograms('buildah', 'unshare', 'setpriv'));

export const USER = 65532;

export interface Image {
  /** Its files. Nothing runs in them that could write there. */
  readonly files: string;
  readonly config: Plain;
  remove(): Promise<void>;
}

/** Builds the image for this architecture, on a base that has what distroless has of glibc for the executable. */
export async function buildImage(executable: string): Promise<Image> {
  const folder = await mkdtemp(join(memory, 'pwpush-image-'));
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  const buildah = async (...words: string[]) => {
    // Without overlayfs, which cannot be stacked on that of a container.
    const all = ['--storage-driver', 'vfs', ...storage, ...words];
    const { stdout } = await run('buildah', all, { cwd: root, maxBuffer: 2 ** 26 });
    return stdout.trim();
  };
  const base = join(folder, 'base');
  await makeBase(base, executable);
  const empty = await buildah('from', 'scratch');
  await buildah('add', empty, base, '/');
  await buildah('commit', '--quiet', empty, 'localhost/base');
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const own = ['--build-arg', 'BASE=localhost/base', '--build-arg', `TARGETARCH=${arch}`];
  const bud = ['bud', '--quiet', '--pull-never', '--isolation', 'chroot', '--format', 'docker'];
  await buildah(...bud, ...own, '--tag', 'localhost/image', '--file', 'deploy/Dockerfile', '.');
  const inspected = JSON.parse(await buildah('inspect', '--type', 'image', 'localhost/image'));
  const files = await buildah('mount', await buildah('from', '--pull-never', 'localhost/image'));
  // What a container engine adds.
  for (const point of ['proc', 'dev', 'run/secrets']) await mkdir(join(files, point), { recursive: true });
  await writeFile(join(files, 'etc/hosts'), '127.0.0.1 localhost database\n');
  return {
    files,
    config: inspected.Docker.config,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function makeBase(base: string, executable: string): Promise<void> {
  for (const name of ['etc', 'home/nonroot', 'tmp', 'var/lib']) await mkdir(join(base, name), { recursive: true });
  const home = join(base, 'home/nonroot');
  await chown(home, USER, USER);
  await chmod(home, 0o700);
  await chmod(join(base, 'tmp'), 0o1777);
  await writeFile(join(base, 'etc/passwd'), `nonroot:x:${USER}:${USER}::/home/nonroot:/none\n`);
  await writeFile(join(base, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  const libraries = execFileSync('ldd', [executable], { encoding: 'utf8' });
  for (const [path] of libraries.matchAll(/\/\S+(?= \()/g)) {
    await mkdir(dirname(join(base, path)), { recursive: true });
    await cp(path, join(base, path), { dereference: true });
  }
}

const enter = join(import.meta.dirname, 'enter-image.sh');

export interface Container {
  readonly url: string;
  stop(): Promise<Ended>;
}

export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly mode: 'ro' | 'rw';
}

interface ContainerOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mount[];
  readonly command?: readonly string[];
}

export function runContainer(image: Image, options: ContainerOptions): Promise<Ended> {
  return started(image, options).ended;
}

/** Starts one, which is killed when the test has ended, if it still runs. */
export async function startContainer(image: Image, options: ContainerOptions): Promise<Container> {
  const { child, ended, firstLine } = started(image, options);
  const url = await firstLine();
  const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  /** Its process 1, as this machine numbers it. */
  const pid = Number(children.trim());
  onTestFinished(async () => {
    if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
    await ended;
  });
  const stop = () => {
    if (child.exitCode === null) process.kill(pid, image.config.StopSignal);
    return ended;
  };
  return { url, stop };
}

function started({ files, config }: Image, { env: own, mounts = [], command = config.Cmd }: ContainerOptions) {
  const given = config.Env.map((line: string) => line.split(/=(.*)/s).slice(0, 2));
  const env = {
    PATH: process.env.PATH,
    HOME: '/home/nonroot',
    ...Object.fromEntries(given),
    ...own,
  };
  const namespaces = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
  const binds = mounts.flatMap(({ from, to, mode }) => [from, to, mode]);
  const words = [files, config.WorkingDir, `${USER}`, ...binds, '--', ...config.Entrypoint, ...command];
  const child = spawn('unshare', [...namespaces, 'sh', enter, ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return running(child);
}
