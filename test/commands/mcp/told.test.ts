import { describe, expect, test } from 'vitest';
import { failure, programEnd, saidText, toldError, toldJson } from '../../../src/commands/mcp/told';

const ran = { status: 0, stdout: '', stderr: '' };
const toldOf = (stdout: string) => toldJson({ ...ran, stdout }).text;

describe('what is told of an object', () => {
  test('are known fields, and never a text that may be a secret', () => {
    const json = JSON.stringify({
      ...{ html_url: 'https://x/p/1#key', views_remaining: 2, expired: false, name: 'n\u001b' },
      ...{ payload: 's', note: 's', response: 's', passphrase: 's' },
      ...{ files: [{ url: 's' }], kind: { nested: 's' }, days_remaining: null, generated: 's' },
    });
    const told = { html_url: 'https://x/p/1#key', name: 'n\\x1b', views_remaining: 2 };
    expect(JSON.parse(toldOf(json))).toEqual({ ...told, expired: false });
    expect(JSON.parse(toldOf(`[${json}]`))).toHaveLength(1);
    expect(toldOf('null')).toBe('{}');
  });

  test('long texts are cut, and links are not', () => {
    const html_url = `https://x/${'p'.repeat(1000)}`;
    const json = JSON.stringify({ html_url, user_agent: 'x'.repeat(1000) });
    expect(JSON.parse(toldOf(json))).toEqual({ html_url, user_agent: 'x'.repeat(400) });
  });

  test('half an object is an error', () => {
    expect(() => toldOf('{"html_url":"htt')).toThrow('the response of the instance is too long');
  });

  test('is followed by what the command warned of', () => {
    const stderr = '{"warning":{"message":"plain http"}}\n';
    expect(toldJson({ ...ran, stdout: '{}', stderr }).text).toBe('{}\nwarning: plain http');
  });
});

test('errors are messages and hints, with the link of what was created', async () => {
  const error = { code: 'failed', message: 'no space', hint: 'try again', link: 'https://x/p/1' };
  expect(saidText(`${JSON.stringify({ error })}\n`)).toBe(
    'no space; try again; its link is https://x/p/1',
  );
  expect(saidText(JSON.stringify({ error: { ...error, expired: true } }))).toBe(
    'no space; try again',
  );
  const lines = '{"warning":{"message":"odd\\u001b"}}\npwpush: bad\nhint: good\n[1]';
  expect(saidText(lines)).toBe('warning: odd\\x1b\nbad\nhint: good\n[1]');
  expect(failure({ ...ran, status: 3 })).toMatchObject({ failed: true });
  expect(failure({ ...ran, status: 1 }).text).toBe('failed with status 1');
  expect((await toldError(new Error('secret'))).text).not.toContain('secret');
});

describe('of a program', () => {
  test('streams that are not empty, and what the command warned of before', () => {
    const told = programEnd({ ...ran, status: 7, stderr: 'a\u0007\tb\n' });
    expect(told).toEqual({ text: 'exit code 7\n\nstandard error:\na\\x07\tb\n' });
    const warning = '{"warning":{"message":"unused files: a"}}\n';
    expect(programEnd({ ...ran, stdout: 'x', stderr: `${warning}b` }).text).toBe(
      'exit code 0\nwarning: unused files: a\n\nstandard output:\nx\n\nstandard error:\nb',
    );
  });

  const error = (code: string) => `{"error":{"code":"${code}","message":"why"}}\n`;
  test.each([
    [
      'that was not started',
      { status: 6, stderr: error('expired') },
      { text: 'why', failed: true },
    ],
    ['that is not there', { status: 127, stderr: error('usage') }, { text: 'why', failed: true }],
  ])('%s, why', (_, end, told) => {
    expect(programEnd({ ...ran, ...end })).toEqual(told);
  });

  test.each([
    ['another status', { status: 1, stderr: error('expired') }],
    ['a code that is none of ours', { status: 1, stderr: error('E_AUTH') }],
    ['output', { status: 6, stdout: 'x', stderr: error('expired') }],
    ['more errors', { status: 6, stderr: `${error('expired')}x` }],
  ])('its own error with %s is its output', (_, end) => {
    expect(programEnd({ ...ran, ...end }).text).toMatch(/^exit code [16]\n/);
  });
});
