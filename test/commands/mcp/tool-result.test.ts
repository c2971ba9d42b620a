import { expect, test } from 'vitest';
import {
  errorResult,
  failure,
  jsonResult,
  messagesIn,
  programResult,
  SaveReport,
} from '../../../src/commands/mcp/tool-result';

const ran = { status: 0, stdout: '', stderr: '' };
const textOf = (object: unknown) => jsonResult({ ...ran, stdout: JSON.stringify(object) }).text;

test('of an object known fields are told, and never a text that may be a secret', () => {
  const object = {
    html_url: 'https://x/p/1#key',
    views_remaining: 2,
    expired: false,
    name: 'n\u001b',
    payload: 's',
    note: 's',
    response: 's',
    passphrase: 's',
    files: [{ url: 's' }],
    kind: { nested: 's' },
    days_remaining: null,
    generated: 's',
  };
  const told = { html_url: 'https://x/p/1#key', name: 'n\\x1b', views_remaining: 2 };
  expect(JSON.parse(textOf(object))).toEqual({ ...told, expired: false });
  expect([JSON.parse(textOf([object])).length, textOf(null)]).toEqual([1, '{}']);
  const html_url = `https://x/${'p'.repeat(1000)}`;
  const cut = { html_url, user_agent: 'x'.repeat(400) };
  expect(JSON.parse(textOf({ html_url, user_agent: 'x'.repeat(1000) }))).toEqual(cut);
  const half = () => jsonResult({ ...ran, stdout: '{"html_url":"htt' });
  expect(half).toThrow('output-too-long');
});

const error = { code: 'failed', message: 'no space', hint: 'try again', link: 'https://x/p/1' };
test.each([
  [JSON.stringify({ error }), 'no space; try again; its link is https://x/p/1'],
  [JSON.stringify({ error: { ...error, expired: true } }), 'no space; try again'],
  ['{"warning":{"message":"odd\\u001b"}}\npwpush: bad\nhint: good\n[1]', 'warning: odd\\x1b\nbad\nhint: good\n[1]'],
])('%j is told as %j', (stderr, text) => {
  expect(messagesIn(`${stderr}\n`).trimEnd()).toBe(text);
});

test('a failure is told without what may be a secret', async () => {
  expect(failure({ ...ran, status: 1 })).toEqual({ failed: true, text: 'failed with status 1' });
  const { text } = await errorResult(new Error('secret'));
  expect(text).toContain('this is a bug in pwpush');
  expect(text).not.toContain('secret');
});

test('what was saved is named as the caller typed it, also before a failure', () => {
  const report = new SaveReport('/real/root/new/', 'new/');
  report.add({ event: 'saved', path: '/real/root/new/a (2)\u001b', bytes: 2048, wanted: 'a' });
  report.add({ event: 'lost' });
  const stderr = 'pwpush: cannot write "/real/root/new/b"\n';
  expect(report.result({ ...ran, status: 1, stderr })).toEqual({
    text: 'saved new/a (2)\\x1b (2.0 KiB); a already existed\ncannot write "new/b"',
    failed: true,
  });
});

const own = (code: string) => `{"error":{"code":"${code}","message":"why"}}\n`;
const warning = '{"warning":{"message":"unused files: a"}}\n';
const why = { text: 'why', failed: true };
const warned = 'exit code 0\nwarning: unused files: a\n\nstandard output:\nx\n\nstandard error:\nb';
const seen = 'exit code 7\n\nstandard error:\na\\x07\tb\n';
test.each([
  ['its streams that are not empty', { status: 7, stderr: 'a\u0007\tb\n' }, { text: seen }],
  ['what the command warned of before', { stdout: 'x', stderr: `${warning}b` }, { text: warned }],
  ['why it was not started', { status: 6, stderr: own('expired') }, why],
])('of a program is told %s', (_what, end, told) => {
  expect(programResult({ ...ran, ...end })).toEqual(told);
});

test.each([
  ['another status', { status: 1, stderr: own('expired') }],
  ['a code that is none of ours', { status: 1, stderr: own('E_AUTH') }],
  ['output', { status: 6, stdout: 'x', stderr: own('expired') }],
])('an error of a program with %s is its output', (_what, end) => {
  expect(programResult({ ...ran, ...end }).text).toMatch(/^exit code [16]\n/);
});
