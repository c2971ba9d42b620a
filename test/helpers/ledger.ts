import { randomBytes } from 'node:crypto';
import { type Call, History } from './history';
import { FORM_TYPE, filePart, formBytes } from './service';

export interface Entry {
  readonly token: string;
  readonly payload: string;
  readonly views: number;
  readonly file: Buffer | undefined;
}

interface Instance {
  readonly url: string;
  /** Files need one. */
  readonly token: string;
}

/** Something that a client does, with all that it has thought of before. */
interface Step {
  readonly run: (any: () => Instance, client: string) => Promise<void>;
  /** Whether it is done again, somewhere else or later, when there was no response. */
  readonly again: boolean;
}

/** The connection broke: nobody knows whether it was done. */
class Unanswered extends Error {
  constructor(
    readonly url?: string,
    cause?: unknown,
  ) {
    super('no response', { cause });
  }
}

/** Clients that do at random what clients do, and write down what they were answered. */
export class Ledger {
  readonly history = new History();
  readonly entries: Entry[] = [];
  /** What must never be, and is no matter of order; empty when all is well. */
  readonly broken: string[] = [];
  private readonly unanswered: Step[] = [];

  constructor(private readonly random: () => number) {}

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  /** Keeps so many requests going until the list of instances is empty, from which it takes those that are gone. */
  async load(instances: Instance[], workers: number, answered: () => void): Promise<void> {
    const work = async (client: string) => {
      for (let step = this.unanswered.shift(); ; step = undefined) {
        step ??= this.step();
        while (!(await this.isDone(step, instances, client))) {
          if (instances.length > 0 && step.again) continue;
          if (step.again) this.unanswered.push(step);
          break;
        }
        if (instances.length === 0) return;
        answered();
      }
    };
    await Promise.all(Array.from({ length: workers }, (_, n) => work(`client ${n}`)));
  }

  async fill(instance: Instance, count: number): Promise<void> {
    const fill = () => this.create().run(() => instance, 'filler');
    await Promise.all(Array.from({ length: count }, fill));
  }

  async retrieve(instance: Instance, entry: Entry, client: string, key?: string): Promise<boolean> {
    const call: Call = { name: 'retrieve', ...(key === undefined ? {} : { key }) };
    const { json } = await this.history.note(client, entry.token, call, () =>
      this.ask(instance, `/${entry.token}`, { headers: headersOf(key) }),
    );
    if (!json.payload) return false;
    const { files } = json;
    if (files.length !== (entry.file ? 1 : 0)) this.broken.push(`${entry.token} lost its file`);
    if (entry.file && files.length > 0) await this.download(entry, files[0].url);
    return true;
  }

  /** @throws Error for what cannot have been */
  judge(): void {
    this.history.judge();
    if (this.broken.length > 0) throw new Error(this.broken.join('\n'));
  }

  private async isDone(step: Step, instances: Instance[], client: string): Promise<boolean> {
    const any = () => {
      const instance = instances[this.below(instances.length)];
      if (!instance) throw new Unanswered();
      return instance;
    };
    try {
      await step.run(any, client);
      return true;
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      const gone = instances.findIndex(({ url }) => url === error.url);
      if (gone >= 0) instances.splice(gone, 1);
      return false;
    }
  }

  private step(): Step {
    const choice = this.random();
    // Most often one of the newest, so that several are at it.
    const among = this.random() < 0.8 ? Math.min(6, this.entries.length) : this.entries.length;
    const entry = this.entries[this.entries.length - 1 - this.below(among)];
    if (!entry || choice < 0.2) return this.create();
    if (choice < 0.25) return this.create(randomBytes(this.below(1_500_000)));
    if (choice < 0.95) return this.view(entry);
    return this.expire(entry);
  }

  private create(file?: Buffer): Step {
    const [payload, views] = [this.payload(), 1 + this.below(4)];
    const key = this.key();
    const call: Call = { name: 'create', views, payload, ...(key === undefined ? {} : { key }) };
    const form = formBytes([
      { name: 'push[payload]', value: payload },
      { name: 'push[expire_after_views]', value: `${views}` },
      ...(file ? [filePart('file', file)] : []),
    ]);
    const json = JSON.stringify({ push: { payload, expire_after_views: views } });
    const run = async (any: () => Instance, client: string) => {
      const instance = any();
      const own = file
        ? { 'content-type': FORM_TYPE, authorization: `Bearer ${instance.token}` }
        : { 'content-type': 'application/json' };
      const headers = { ...own, ...headersOf(key) };
      const made = await this.history.note(client, undefined, call, () =>
        this.ask(instance, '', { method: 'POST', headers, body: file ? form : json }),
      );
      if (made.status === 201) this.entries.push({ token: made.json.url_token, payload, views, file });
    };
    return { run, again: key !== undefined };
  }

  /** Some with a key ask twice at once. */
  private view(entry: Entry): Step {
    const key = this.key();
    const times = key !== undefined && this.random() < 0.2 ? 2 : 1;
    const run = async (any: () => Instance, client: string) => {
      const all = Array.from({ length: times }, () => this.retrieve(any(), entry, client, key));
      const failed = (await Promise.allSettled(all)).find(({ status }) => status === 'rejected');
      if (failed) await Promise.reject((failed as PromiseRejectedResult).reason);
    };
    return { run, again: key !== undefined };
  }

  private expire({ token }: Entry): Step {
    const run = async (any: () => Instance, client: string) => {
      const instance = any();
      await this.history.note(client, token, { name: 'expire' }, () =>
        this.ask(instance, `/${token}`, { method: 'DELETE' }),
      );
    };
    return { run, again: true };
  }

  /** The link is followed by some only; it may have been deleted since. */
  private async download({ token, file }: Entry, link: string): Promise<void> {
    if (this.random() < 0.5) return;
    const { origin } = new URL(link);
    const response = await fetch(link).catch(unanswered(origin));
    const bytes = await response.arrayBuffer().catch(unanswered(origin));
    if (response.status === 200 && !Buffer.from(bytes).equals(file as Buffer)) {
      this.broken.push(`the file of ${token} was garbled`);
    }
  }

  private async ask({ url }: Instance, path: string, init: RequestInit) {
    const response = await fetch(`${url}/api/v2/pushes${path}`, init).catch(unanswered(url));
    const text = await response.text().catch(unanswered(url));
    // A machine that is slow asks some to come again.
    if (!response.ok && ![404, 503].includes(response.status))
      this.broken.push(`${init.method ?? 'GET'} was answered ${response.status} ${text}`);
    return { status: response.status, json: JSON.parse(text) };
  }

  private payload(): string {
    return `${randomBytes(8).toString('hex')} ${'x'.repeat(this.below(6000))}`;
  }

  /** Of an `Idempotency-Key`, which not all clients send. */
  private key(): string | undefined {
    return this.random() < 0.5 ? undefined : randomBytes(16).toString('base64url');
  }
}

const headersOf = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': `"${key}"` };

const unanswered = (url: string) => (cause: unknown) => {
  throw new Unanswered(url, cause);
};
