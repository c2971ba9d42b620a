import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { expect, onTestFinished } from 'vitest';
import type { Instance } from './instance';
import { start } from './program';
import type { Conditions, Outcome, Place } from './run';

export const eras = ['2025-11-25', '2026-07-28'] as const;

export type ShowPage = (url: string) => Promise<'accept' | 'decline' | 'cancel'>;

export type Connected = Awaited<ReturnType<typeof connectedTo<Outcome>>>;

export interface Connecting {
  readonly era?: (typeof eras)[number];
  readonly showPage?: ShowPage;
  readonly conditions?: Conditions;
}

export const SECRET = 'marker-Xq7pLw2vT9';
/** As it would stand in what encodes it. */
const forms = (['utf8', 'base64', 'hex'] as const).map((one) => Buffer.from(SECRET).toString(one));

/**
 * Runs `pwpush mcp` with `root` in the place as its folder, until the test that runs ends, and connects a client to it. No
 * form of `SECRET` stands in its messages and errors then.
 */
export async function served(
  place: Pick<Place, 'under' | 'file'>,
  words: readonly string[] = [],
  connecting: Connecting = {},
): Promise<Connected> {
  const root = place.file('root');
  mkdirSync(root, { recursive: true });
  const [arriving, printed] = [new PassThrough(), new PassThrough()];
  const ended = place
    .under({ ...connecting.conditions, arriving, printed: (data) => void printed.write(data) })
    .run('mcp', '--root', root, ...words);
  const made = await connectedTo(printed, arriving, ended, connecting);
  onTestFinished(async () => {
    const { stderr } = await made.close();
    const said = `${made.transcript.join('\n')}${stderr}`;
    for (const form of forms) expect(said).not.toContain(form);
  });
  return made;
}

/** The same for the owner of an instance. */
export function serving(
  here: Instance,
  words: readonly string[] = [],
  connecting: Connecting = {},
): Promise<Connected> {
  const env = { ...here.admin, ...connecting.conditions?.env };
  const conditions = { ...connecting.conditions, env };
  return served(here, words, { ...connecting, conditions });
}

export async function connectedProgram(
  words: readonly string[],
  options: Parameters<typeof start>[1],
  connecting: Connecting = {},
) {
  const running = start(['mcp', ...words], options);
  const { stdin, stdout } = running.child;
  // Bytes, where those who wait for lines have text.
  const printed = (stdout as Readable).pipe(new PassThrough());
  const made = await connectedTo(printed, stdin as Writable, running.ended, connecting);
  return { ...made, ...running };
}

async function connectedTo<End>(
  from: Readable,
  to: Writable,
  ended: Promise<End>,
  { era = eras[1], showPage }: Connecting,
) {
  const options: ClientOptions = {
    versionNegotiation: { mode: era === eras[0] ? 'legacy' : 'auto' },
    capabilities: showPage ? { elicitation: { url: {} } } : {},
  };
  const client = new Client({ name: 'test', version: '1' }, options);
  if (showPage)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if (params.mode !== 'url') throw new Error('not a page');
      return { action: await showPage(params.url) };
    });
  const transcript: string[] = [];
  createInterface({ input: from }).on('line', (line) => transcript.push(line));
  // Each end of a pair of streams speaks in the same way.
  const transport = new StdioServerTransport(from, to);
  const send = transport.send.bind(transport);
  transport.send = (message) => {
    transcript.push(JSON.stringify(message));
    return send(message);
  };
  await client.connect(transport);
  return {
    client,
    transcript,
    ended,
    /** Calls a tool and answers its text, with `! ` before it if it failed. */
    call: async (name: string, given: Record<string, unknown> = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const [first] = content;
      return `${isError ? '! ' : ''}${first?.type === 'text' ? first.text : ''}`;
    },
    close: async () => {
      await client.close();
      to.end();
      return ended;
    },
  };
}
