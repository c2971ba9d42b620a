import { PassThrough } from 'node:stream';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import type { Conditions, Outcome, Place } from './run';

/** The versions of the protocol. */
export const eras = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof eras)[number];

/** What a person does with a page that the client shows. */
export type ShowPage = (url: string) => Promise<'accept' | 'decline' | 'cancel'>;

/** A client of the SDK, connected to the program in process. */
export interface Connected {
  readonly client: Client;
  /** Every message, in both directions. */
  readonly transcript: string[];
  /** How the program ended. */
  readonly ended: Promise<Outcome>;
  /** Calls a tool and answers its text, with `! ` before it if it failed. */
  call(name: string, given?: Record<string, unknown>): Promise<string>;
  /** Closes the standard input of the program, and returns how it ended. */
  close(): Promise<Outcome>;
}

export interface Connecting {
  readonly era?: Era;
  readonly showPage?: ShowPage;
  readonly conditions?: Conditions;
}

export const clientFor = ({ era = eras[1], showPage }: Connecting): Client => {
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

/** Calls a tool and answers its text, with `! ` before it if it failed. */
export const callWith =
  (client: Client) =>
  async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = content;
    return `${isError ? '! ' : ''}${first?.type === 'text' ? first.text : ''}`;
  };

/** Runs `pwpush mcp` at a place, and connects a client to it. */
export async function connected(
  place: Pick<Place, 'under'>,
  words: readonly string[] = [],
  connecting: Connecting = {},
): Promise<Connected> {
  const arriving = new PassThrough();
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
  const conditions = { ...connecting.conditions, arriving, printed };
  const ended = place.under(conditions).run('mcp', ...words);
  const client = clientFor(connecting);
  await client.connect({
    start: async function (this: { onmessage?: (message: never) => void }) {
      read = (line) => this.onmessage?.(JSON.parse(line) as never);
    },
    send: async (message) => {
      const line = JSON.stringify(message);
      transcript.push(line);
      arriving.write(`${line}\n`);
    },
    close: async () => void arriving.end(),
  });
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
