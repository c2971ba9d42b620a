import fc from 'fast-check';
import { expect, test } from 'vitest';
import { osc52 } from '../../src/platform/clipboard';

const text = fc.string({ unit: 'binary', maxLength: 3000 });
const ESC = '\u001b';
const BEL = '\u0007';

const decoded = (sequence: string) => {
  const base64 = sequence.slice(`${ESC}]52;c;`.length, -BEL.length);
  expect(sequence).toBe(`${ESC}]52;c;${base64}${BEL}`);
  expect(base64).toMatch(/^[A-Za-z0-9+/=]*$/);
  return Buffer.from(base64, 'base64').toString('utf8');
};

test('any text comes back from the sequence', () => {
  fc.assert(fc.property(text, (one) => decoded(osc52(one, {})) === one));
});

test('in tmux it goes bare, and wrapped for the terminal outside', () => {
  fc.assert(
    fc.property(text, (one) => {
      const bare = osc52(one, {});
      const told = osc52(one, { TMUX: '/tmp/tmux-0/default,1,0' });
      expect(told.slice(0, bare.length)).toBe(bare);
      const wrapped = told.slice(bare.length);
      const inner = wrapped.slice(`${ESC}Ptmux;`.length, -`${ESC}\\`.length);
      expect(wrapped).toBe(`${ESC}Ptmux;${inner}${ESC}\\`);
      expect(inner.replaceAll(ESC + ESC, ESC)).toBe(bare);
    }),
  );
});

test('in screen it goes in pieces that screen hands on', () => {
  fc.assert(
    fc.property(text, (one) => {
      const told = osc52(one, { STY: '1.pts-0.host' });
      const pieces = told.split(`${ESC}\\`).slice(0, -1);
      expect(pieces.every((piece) => piece.startsWith(`${ESC}P`) && piece.length < 768)).toBe(true);
      expect(decoded(pieces.map((piece) => piece.slice(2)).join(''))).toBe(one);
    }),
  );
});
