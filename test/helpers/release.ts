import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Listening, listening } from './listen';

// A release as `npm run release` makes it, for those who install: archives with a folder of their name, and their sums.

/** Packs a folder with the program, which may be large, and other files. */
export function archiveOf(within: string, name: string, files: Readonly<Record<string, string>>): Buffer {
  for (const [file, text] of Object.entries(files)) {
    const path = join(within, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: file === 'pwpush' ? 0o755 : 0o644 });
  }
  const options = { cwd: within, maxBuffer: 2 ** 30 };
  return execFileSync('sh', ['-c', 'tar -chf - "$0" | gzip -1', name], options);
}

export const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** The line of a file in `checksums.txt`. */
export const sumOf = (bytes: Buffer, name: string) => `${sha256Of(bytes)}  ${name}\n`;

/** What a server answers at a path: a file, the address of it elsewhere, or nothing. */
type Found = Buffer | { readonly location: string } | undefined;

/** Serves the files of releases; of those whose path has that word, the connection breaks after 50 bytes. */
export const offering = (find: (path: string) => Found, cut: string): Promise<Listening> =>
  listening(({ url: path = '' }, response) => {
    const found = find(path);
    if (!found) return response.writeHead(404).end('<html>');
    if ('location' in found) return response.writeHead(302, found).end();
    response.writeHead(200, { 'content-length': found.length });
    if (path.includes(cut)) return response.write(found.subarray(0, 50), () => response.destroy());
    return response.end(found);
  });
