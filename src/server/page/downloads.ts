import { LINK_TIME } from '../rules/claim';
import type { PushRow } from '../store/push-rows';
import { icon } from './icons';
import { type Markup, markup } from './markup';
import { clockTime, duration } from './remaining';

export interface ShownFile {
  readonly name: string;
  readonly size: number;
  readonly url: string;
}

/** Files with a button each, and how long those work. */
export function downloadList(files: readonly ShownFile[], push: PushRow, now: number): Markup {
  const time = Math.min(LINK_TIME, push.expires_at - now);
  return markup`<ul class="files">
${files.map(item)}</ul>
<p>The download buttons work for ${duration(time)}, until ${clockTime(now + time)}. A download that has begun goes on.</p>
`;
}

function item({ name, size, url }: ShownFile): Markup {
  return markup`<li>${icon('file')}<div><bdi class="name" translate="no">${name}</bdi><span class="size">${sizeOf(size)}</span></div>
<a class="button" href="${url}" download="${name}" rel="noreferrer" aria-label="Download ${name}">${icon('download')}Download</a></li>
`;
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.5 MiB (1,600,000 bytes)`. */
function sizeOf(size: number): string {
  const exact = `${String(size).replace(/\B(?=(\d{3})+$)/g, ',')} ${size === 1 ? 'byte' : 'bytes'}`;
  if (size < 1024) return exact;
  const power = Math.min(4, Math.floor(Math.log2(size) / 10));
  return `${Number((size / 1024 ** power).toFixed(1))} ${units[power]} (${exact})`;
}
