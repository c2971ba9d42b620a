import { randomUUID } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  McpServer,
  type ServerContext,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { failedError, phrase, usageError } from '../../platform/errors';
import { aborted } from '../../platform/files/abort';
import { actions, type Page } from './ask';
import type { McpSession } from './mcp-session';
import { schemas, type ToolName } from './tool-arguments';
import { errorResult, type ToolResult } from './tool-result';
import { type Tool, tools } from './tools';

/** Milliseconds between two messages that a call goes on, for clients that ask for them. */
const PROGRESS_MS = 10_000;
/** Calls at once: each starts a process. */
const MOST_CALLS = 50;
const PATIENCE_MS = 60 * 60 * 1000;

const INSTRUCTIONS =
  'Hands over and uses secrets that you never see: links, paths and names go in; links, limits and exit codes come out. Never ask a person to write a secret into the conversation: call ask.';

interface Connection {
  readonly session: McpSession;
  readonly server: McpServer;
  /** Version 2026-07-28 of the protocol or later: a server asks by its result, and the call is made again. */
  readonly modern: boolean;
  /** Pages that a client was asked to show, by the state that it sends back. */
  readonly pages: Map<string, Page>;
  readonly calls: Set<ServerContext>;
}

/**
 * Serves the tools on the standard streams, until the client closes them or the session ends.
 * @throws CliError (failed) after a message that is too large
 */
export async function serveProtocol(session: McpSession): Promise<void> {
  const { context, signal: ending } = session;
  const input = Readable.from(context.stdin.bytes(), { objectMode: false });
  const output = new Writable({
    write: (chunk, _encoding, done) => void context.stdout.write(chunk).then(() => done(), done),
  });
  const transport = new StdioServerTransport(input, output);
  const pages = new Map<string, Page>();
  const calls = new Set<ServerContext>();
  const served = serveStdio(
    ({ era }) => {
      const server = new McpServer(
        { name: 'pwpush', version: context.version },
        { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
      );
      const connection = { session, server, modern: era === 'modern', pages, calls };
      for (const name of Object.keys(tools) as ToolName[]) register(connection, name);
      return server;
    },
    { transport },
  );
  const { onclose } = transport;
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  await Promise.race([closed, aborted(ending)]);
  await served.close();
  // Neither stream ended: only such a message makes the transport close by itself.
  if (!ending.aborted && !input.readableEnded && !input.destroyed && !output.destroyed)
    throw failedError(phrase('message-too-long'));
}

function register(connection: Connection, name: ToolName): void {
  const { session, server, calls } = connection;
  const { title, description, effects, work } = tools[name] as Tool;
  const inputSchema: StandardSchemaWithJSON = schemas[name];
  const config = {
    title,
    description: typeof description === 'string' ? description : description(session),
    // Anybody chooses what is reached: links name their instance.
    annotations: { ...effects, openWorldHint: true },
    inputSchema,
  };
  server.registerTool(name, config, async (given, call) => {
    const done = progress(name, call);
    try {
      if (calls.size === MOST_CALLS)
        throw usageError(`${MOST_CALLS} calls go on`, 'wait for their results');
      calls.add(call);
      const shown = shownPage(connection, call);
      if (shown) return await shown;
      const answer = await work(session, given as never, call.mcpReq.signal);
      return 'text' in answer ? content(answer) : await show(connection, call, answer);
    } catch (error) {
      return content(await errorResult(error));
    } finally {
      calls.delete(call);
      done();
    }
  });
}

function content({ text, failed = false }: ToolResult) {
  return { content: [{ type: 'text' as const, text }], ...(failed && { isError: true }) };
}

async function show(connection: Connection, call: ServerContext, page: Page) {
  const { server, modern, pages } = connection;
  const { signal, id } = call.mcpReq;
  const { url, message } = page;
  if (!canShow(server, call)) return content(await page.shown(undefined, signal));
  if (modern) {
    const state = randomUUID();
    pages.set(state, page);
    return asked(page, state);
  }
  const elicitationId = randomUUID();
  const complete = server.server.createElicitationCompletionNotifier(elicitationId, {
    relatedRequestId: id,
  });
  // Some clients answer only then.
  void page.done.then(complete).catch(() => {});
  const action = await call.mcpReq
    .elicitInput({ mode: 'url', message, url, elicitationId }, { signal, timeout: PATIENCE_MS })
    .then(
      (answer) => answer.action,
      // The client failed to show it.
      () => undefined,
    );
  return content(await page.shown(action, signal));
}

const asked = ({ url, message }: Page, requestState: string) =>
  inputRequired({
    inputRequests: { page: inputRequired.elicitUrl({ message, url }) },
    requestState,
  });

/**
 * What became of a page that the client was asked to show, if this is a call about one. The state is a random name, and the
 * page was made by this server: a client can name nothing else.
 */
function shownPage({ pages }: Connection, { mcpReq }: ServerContext) {
  const state = mcpReq.requestState();
  if (state === undefined) return undefined;
  const page = typeof state === 'string' ? pages.get(state) : undefined;
  if (page === undefined || typeof state !== 'string') throw usageError('no such question');
  const response = (mcpReq.inputResponses?.page ?? {}) as { readonly action?: unknown };
  const action = actions.find((known) => known === response.action);
  if (action === undefined) return asked(page, state);
  pages.delete(state);
  return page.shown(action, mcpReq.signal).then(content);
}

function canShow({ server }: McpServer, { mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return (declared ?? server.getClientCapabilities())?.elicitation?.url !== undefined;
}

/** Says that a call goes on, until what it returns is called. */
function progress(name: ToolName, { mcpReq }: ServerContext): () => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let number = 0;
  const timer = setInterval(() => {
    number += 1;
    const params = { progressToken, progress: number, message: `${name} goes on` };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  }, PROGRESS_MS);
  return () => clearInterval(timer);
}
