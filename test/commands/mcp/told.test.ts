import { describe, expect, test } from 'vitest';
import {
  failure,
  programEnd,
  saidText,
  toldError,
  toldFields,
} from '../../../src/commands/mcp/told';

const ran = { status: 0, stdout: '', stderr: '', started: false };

describe('what is told of an object', () => {
  test('are known fields, and never a text that may be a secret', () => {
    const json = JSON.stringify({
      ...{ html_url: 'https://x/p/1#key', views_remaining: 2, expired: false, name: 'n\u001b' },
      ...{ payload: 's', note: 's', response: 's', passphrase: 's' },
      ...{ files: [{ url: 's' }], kind: { nested: 's' }, days_remaining: null, generated: 's' },
    });
    const told = { html_url: 'https://x/p/1#key', name: 'n\\x1b', views_remaining: 2 };
    expect(JSON.parse(toldFields(json).text)).toEqual({ ...told, expired: false });
    expect(JSON.parse(toldFields(`[${json}]`).text)).toHaveLength(1);
    expect(toldFields('null').text).toBe('{}');
  });

  test('long texts are cut, and links are not', () => {
    const html_url = `https://x/${'p'.repeat(1000)}`;
    const { text } = toldFields(JSON.stringify({ html_url, user_agent: 'x'.repeat(1000) }));
    expect(JSON.parse(text)).toEqual({ html_url, user_agent: 'x'.repeat(400) });
  });

  test('half an object is an error', () => {
    expect(() => toldFields('{"html_url":"htt')).toThrow(
      'the response of the instance is too long',
    );
  });
});

test('errors are messages and hints, with the link of what was created', () => {
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
  expect(toldError(new Error('secret')).text).not.toContain('secret');
});

test('of a program, streams that are not empty', () => {
  const told = programEnd({ ...ran, status: 7, stderr: 'a\u0007\tb\n' });
  expect(told).toEqual({ text: 'exit code 7\n\nstandard error:\na\\x07\tb\n' });
});
