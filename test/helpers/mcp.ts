import { mkdirSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { Client, type ClientOptions, type Transport } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import type { Instance } from './instance';
import { type Ended, type Running, start } from './program';
import type { Conditions, Outcome, Place } from './run';

/** The versions of the protocol. */
export const eras = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof eras)[number];

/** What a person does with a page that the client shows. */
export type ShowPage = (url: string) => Promise<'accept' | 'decline' | 'cancel'>;

/** A client of the SDK, connected to the program. */
export interface Connected<End = Outcome> {
  readonly client: Client;
  /** Every message, in both directions. */
  readonly transcript: string[];
  /** How the program ended. */
  readonly ended: Promise<End>;
  /** Calls a tool and answers its text, with `! ` before it if it failed. */
  call(name: string, given?: Record<string, unknown>): Promise<string>;
  /** Closes the standard input of the program, and returns how it ended. */
  close(): Promise<End>;
}

export interface Connecting {
  readonly era?: Era;
  readonly showPage?: ShowPage;
  readonly conditions?: Conditions;
}

const clientFor = ({ era = eras[1], showPage }: Connecting): Client => {
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
  return client;
};

const callWith =
  (client: Client) =>
  async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = content;
    return `${isError ? '! ' : ''}${first?.type === 'text' ? first.text : ''}`;
  };

/** A transport of lines, and what takes those of the other end. */
function lineTransport(write: (line: string) => void, end: () => void) {
  const transcript: string[] = [];
  let read = (_line: string) => {};
  let rest = '';
  const printed = (data: string) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      transcript.push(line);
      read(line);
    }
  };
  const transport: Transport = {
    start: async () => {
      read = (line) => transport.onmessage?.(JSON.parse(line));
    },
    send: async (message) => {
      const line = JSON.stringify(message);
      transcript.push(line);
      write(`${line}\n`);
    },
    close: async () => {
      end();
      transport.onclose?.();
    },
  };
  return { transport, transcript, printed };
}

/** Runs `pwpush mcp` at a place, and connects a client to it. */
export async function connected(
  place: Pick<Place, 'under'>,
  words: readonly string[] = [],
  connecting: Connecting = {},
): Promise<Connected<Outcome>> {
  const arriving = new PassThrough();
  const lines = lineTransport(
    (line) => arriving.write(line),
    () => arriving.end(),
  );
  const conditions = { ...connecting.conditions, arriving, printed: lines.printed };
  const ended = place.under(conditions).run('mcp', ...words);
  return connectedTo(lines, ended, connecting);
}

/** Marks a secret of tests of `pwpush mcp`. */
export const SECRET = 'marker-Xq7pLw2vT9';
/** As it would stand in what encodes it. */
const forms = (['utf8', 'base64', 'hex'] as const).map((one) => Buffer.from(SECRET).toString(one));

/**
 * The same with `root` in the place as its folder, until the test that runs ends. No form of `SECRET` stands in its
 * messages and errors then.
 */
export async function served(
  place: Pick<Place, 'under' | 'file'>,
  words: readonly string[] = [],
  connecting: Connecting = {},
): Promise<Connected> {
  mkdirSync(place.file('root'), { recursive: true });
  const made = await connected(place, ['--root', place.file('root'), ...words], connecting);
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

/** Starts the built program, and connects a client to it. */
export async function connectedProgram(
  words: readonly string[],
  options: Parameters<typeof start>[1],
  connecting: Connecting = {},
): Promise<Connected<Ended> & Running> {
  const running = start(['mcp', ...words], options);
  const { stdin, stdout } = running.child;
  const lines = lineTransport(
    (line) => stdin?.write(line),
    () => stdin?.end(),
  );
  stdout?.on('data', lines.printed);
  return { ...(await connectedTo(lines, running.ended, connecting)), ...running };
}

async function connectedTo<End>(
  { transport, transcript }: ReturnType<typeof lineTransport>,
  ended: Promise<End>,
  connecting: Connecting,
): Promise<Connected<End>> {
  const client = clientFor(connecting);
  await client.connect(transport);
  return {
    client,
    transcript,
    ended,
    call: callWith(client),
    close: async () => {
      await client.close();
      return ended;
    },
  };
}
