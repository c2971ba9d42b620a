import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { siteOf } from '../../src/server/site-identity';
import { folders } from '../helpers/memory';
import { defaults, opened } from '../helpers/service';

const newFolder = folders();

const PNG = Buffer.from('89504e470d0a1a0a0000000d', 'hex');
const SVG = '\ufeff<?xml version="1.0"?>\n<!-- a > b -->\n<!DOCTYPE svg PUBLIC "x" "y">\n<svg onload="alert(1)"/>';

async function file(content: string | Buffer): Promise<string> {
  const path = join(await newFolder(), 'logo');
  writeFileSync(path, content);
  return path;
}

describe('a logo', () => {
  test.each([
    ['image/png', PNG],
    ['image/svg+xml', Buffer.from(SVG)],
    ['image/png', Buffer.concat([PNG, Buffer.alloc(64 * 1024 - PNG.length)])],
  ])('is %s by its content', async (type, content) => {
    const { logo } = await siteOf({ ...defaults, logo: await file(content) });
    expect(logo).toBe(`data:${type};base64,${content.toString('base64')}`);
  });

  test.each<[string, string | Buffer, RegExp]>([
    ['a page', '<!doctype html><svg></svg>', /SVG/],
    ['large', Buffer.concat([PNG, Buffer.alloc(64 * 1024 + 1 - PNG.length)]), /64 KiB/],
  ])('that is %s is refused', async (_, content, message) => {
    const settings = { ...defaults, logo: await file(content) };
    await expect(siteOf(settings)).rejects.toThrow(message);
  });
});

test.each([
  ['it@acme.example', 'mailto:it@acme.example'],
  ['https://acme.example/help?a=1', 'https://acme.example/help?a=1'],
  ['https://user@acme.example/', undefined],
  ['javascript:alert(1)', undefined],
  ['the help desk, room 12', undefined],
])('the contact %s links to %s', async (contact, href) => {
  expect((await siteOf({ ...defaults, contact })).contact).toEqual({ text: contact.trim(), href });
});

test.each([
  ['title', 60],
  ['contact', 200],
])('a %s of one line has at most %i characters', async (name, most) => {
  await siteOf({ ...defaults, [name]: 'x'.repeat(most) });
  for (const text of ['x'.repeat(most + 1), 'a\nb', ' '])
    await expect(siteOf({ ...defaults, [name]: text })).rejects.toThrow(`the ${name} must have 1 to ${most} printable`);
});

test('all pages name who serves them, and previews of a link tell no secret', async () => {
  const logo = await file(SVG);
  const service = await opened({ title: 'A & B', logo, contact: 'it@acme.example' });
  for (const path of ['/', '/p/neverwas']) {
    const { text, headers } = await service.call('GET', path);
    expect(text).toMatch(/<title>[^<]+ · A &amp; B<\/title>/);
    expect(text).toContain('<meta property="og:site_name" content="A &amp; B">');
    expect(text).toContain(`<img class="logo" src="data:image/svg+xml;base64,`);
    expect(text).toContain('<a href="mailto:it@acme.example" ');
    expect(text).not.toContain('neverwas');
    expect(headers.get('content-security-policy')).toContain('; img-src data:; ');
  }
});
