import { randomUUID } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
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
import type { GlobalOptions } from '../../cli/options';
import type { Entry } from '../../cli/terminal/output';
import type { Context } from '../../platform/context';
import { failedError, phrase, usageError } from '../../platform/errors';
import { aborted, raceWithLimit } from '../../platform/files/abort';
import { whyUnreadable } from '../../platform/files/file-error';
import { findProgram } from '../../platform/find-program';
import { GRACE } from '../../platform/interrupts';
import { listed } from '../../words/grammar';
import { actions, type Page } from './ask';
import { McpSession } from './mcp-session';
import { schemas, type ToolName } from './tool-arguments';
import { errorResult, type ToolResult } from './tool-result';
import { type Tool, tools } from './tools';

export interface McpPlan {
  readonly root: string | undefined;
  readonly allowed: { readonly env: readonly string[]; readonly run: readonly string[] };
  readonly options: GlobalOptions;
}

/** Serves the tools until the client closes standard input, or a signal arrives; then ends the running commands. */
export async function run(entry: Entry, plan: McpPlan): Promise<void> {
  const { context, say } = entry;
  const { allowed } = plan;
  const root = await rootFolder(context, plan.root);
  context.interrupts.enter({ mode: 'own' });
  if (context.stdin.isTTY)
    await say.note('waiting for a client on standard input; see man pwpush-mcp (Ctrl-C ends it)');
  const loose = allowed.run.filter(hasWayOut);
  if (loose.length > 0)
    await say.warn(
      `--allow-run: ${listed(loose)} can start other programs, or print a secret in any form`,
      'allow a script of your own that takes no arguments',
    );
  const ending = new AbortController();
  void aborted(context.signal).then(() => ending.abort());
  const programs = allowed.run.map(async (name) => {
    const found = await findProgram(name, context);
    // A caller may write a file of that name to a folder of PATH.
    return { name, file: 'file' in found ? resolve(found.file) : undefined };
  });
  const all = { ...allowed, root, run: await Promise.all(programs) };
  const session = new McpSession(entry, plan.options, all, ending.signal);
  try {
    await serveProtocol(session);
  } finally {
    ending.abort();
    // The server ends even if a program that a call started does not.
    await raceWithLimit(session.idle(), { milliseconds: 2 * GRACE.run }, () => {});
  }
}

/**
 * Returns the folder for all files of the tools. Clients may start servers in `/` or home, so these must be named.
 * @throws CliError (usage) if it is no folder, or must be named
 */
async function rootFolder({ home }: Context, typed: string | undefined): Promise<string> {
  const folder = typed ?? '.';
  const root = await realpath(folder).catch((error) => {
    throw usageError(`--root must be a folder; cannot read "${folder}" (${whyUnreadable(error)})`);
  });
  if (!(await stat(root)).isDirectory()) throw usageError(`--root: "${folder}" is not a folder`);
  const isHome = root === (await realpath(home ?? '').catch(() => undefined));
  if (typed === undefined && (isHome || dirname(root) === root))
    throw usageError(
      `the current folder is ${isHome ? 'your home' : 'the whole system'}, with files that no tool should reach`,
      'name a folder: pwpush mcp --root FOLDER',
    );
  return root;
}

/** In milliseconds: clients that ask for progress get a message in this interval while a call runs. */
const PROGRESS_MS = 10_000;
/** Limits the calls that run at once, because each may start a process. */
const MOST_CALLS = 50;
/** In milliseconds: a person has this time to accept or decline a page that the client shows. */
const PATIENCE_MS = 60 * 60 * 1000;

const INSTRUCTIONS =
  'Hands over and uses secrets that you never see: links, paths and names go in; links, limits and exit codes come out. Never ask a person to write a secret into the conversation: call ask.';

interface Connection {
  readonly session: McpSession;
  readonly server: McpServer;
  /** From protocol version 2026-07-28 on, a server asks in the result of a call, and the client repeats the call. */
  readonly modern: boolean;
  /** Pages that the client was asked to show. The key is the state that the client sends back. */
  readonly pages: Map<string, Page>;
  readonly calls: Set<ServerContext>;
}

/**
 * Serves the tools on the standard streams, until the client closes them or the session ends.
 * @throws CliError (failed) after a message that is too large
 */
async function serveProtocol(session: McpSession): Promise<void> {
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
  // Neither stream has ended: only a message that is too long makes the transport close by itself.
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
    // Callers choose which host is reached, because links name their instance.
    annotations: { ...effects, openWorldHint: true },
    inputSchema,
  };
  server.registerTool(name, config, async (args, call) => {
    const stop = progress(name, call);
    try {
      if (calls.size === MOST_CALLS)
        throw usageError(`${MOST_CALLS} calls go on`, 'wait for their results');
      calls.add(call);
      const shown = shownPage(connection, call);
      if (shown) return await shown;
      const answer = await work(session, args as never, call.mcpReq.signal);
      return 'text' in answer ? content(answer) : await show(connection, call, answer);
    } catch (error) {
      return content(await errorResult(error));
    } finally {
      calls.delete(call);
      stop();
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
    return requestFor(page, state);
  }
  const elicitationId = randomUUID();
  const complete = server.server.createElicitationCompletionNotifier(elicitationId, {
    relatedRequestId: id,
  });
  // Some clients respond only after this notification.
  void page.answered.then(complete).catch(() => {});
  const action = await call.mcpReq
    .elicitInput({ mode: 'url', message, url, elicitationId }, { signal, timeout: PATIENCE_MS })
    .then(
      ({ action }) => action,
      () => undefined,
    );
  return content(await page.shown(action, signal));
}

const requestFor = ({ url, message }: Page, requestState: string) =>
  inputRequired({
    inputRequests: { page: inputRequired.elicitUrl({ message, url }) },
    requestState,
  });

/**
 * Handles a call that repeats one whose result asked the client to show a page; returns undefined for any other call.
 * The state is random and names a page of this server: a client can name nothing else.
 */
function shownPage({ pages }: Connection, { mcpReq }: ServerContext) {
  const state = mcpReq.requestState();
  if (state === undefined) return undefined;
  const page = typeof state === 'string' ? pages.get(state) : undefined;
  if (page === undefined || typeof state !== 'string') throw usageError('no such question');
  const response = (mcpReq.inputResponses?.page ?? {}) as { readonly action?: unknown };
  const action = actions.find((known) => known === response.action);
  if (action === undefined) return requestFor(page, state);
  pages.delete(state);
  return page.shown(action, mcpReq.signal).then(content);
}

function canShow({ server }: McpServer, { mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return (declared ?? server.getClientCapabilities())?.elicitation?.url !== undefined;
}

/** Sends messages to the client until the returned function is called. */
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

// These programs start others, or print what they get in any form: a caller who chooses their arguments gets the secret
// from the environment, masked or not. The list only leads to a warning, because no such list is complete
// (https://gtfobins.github.io).

const known = [
  'ash bash busybox cmd csh dash elvish fish ksh mksh nu powershell pwsh rbash sh tcsh toybox xonsh zsh',
  'awk bc bun cscript dc deno ed elixir erl expect gawk ghci groovy guile irb java jq jshell jrunscript julia jython kotlin',
  'lua luajit m4 mawk nawk node nodejs osascript perl php pypy python r rscript ruby scala sed sqlite swift tclsh ts-node',
  'tsx wish wscript',
  'at batch bwrap chroot chrt choom crontab cpulimit doas entr env firejail flock gdb ionice ld.so lldb ltrace nice nohup',
  'nsenter parallel pkexec proot rlwrap run-parts script screen setarch setsid ssh-agent start-stop-daemon stdbuf strace su',
  'sudo systemd-run taskset time timeout tmux unshare unbuffer valgrind watch xargs zellij',
  'ansible ansible-playbook apt apt-get aws bazel brew bundle bunx cargo cmake composer conda corepack dnf docker dotnet dpkg',
  'gcc g++ clang gem gh git go gradle hg just kubectl helm make gmake meson mvn ninja nix npm npx nerdctl pip pipx pnpm pnpx',
  'podman poetry rake rpm rustup snap svn task terraform tofu uv uvx vagrant yarn yum',
  'clickhouse-client duckdb mariadb mongo mongosh mysql psql redis-cli sqlplus usql',
  'curl dig ftp lftp mail mailx mosh nc ncat netcat nmap openssl rclone restic rsync scp sftp socat ssh tcpdump telnet wget',
  'bsdtar cpio find fd gpg rg tar zip 7z',
  'editor ee emacs emacsclient ex gvim helix hx info joe less man mcedit micro more most nano nvim pg pico vi view vim vimdiff',
  'base32 base64 basenc cat cut dd echo head hexdump nl od paste printenv printf rev sort tac tail tee tr xxd',
];

const names = new Set(known.flatMap((line) => line.split(' ')));

/** Ignores folders, version and `.exe`, so that `python3.12` is known too. */
function hasWayOut(program: string): boolean {
  const base = (program.split(/[/\\]/).at(-1) ?? '')
    .toLowerCase()
    .replace(/\.(?:bat|cmd|com|exe)$/, '');
  return names.has(base) || names.has(base.replace(/-?\d[\d.]*$/, ''));
}
