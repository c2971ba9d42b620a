import { randomBytes } from 'node:crypto';
import { FORM_TYPE, filePart, formBytes } from './service';

/** What a client knows of a push that was acknowledged. */
export interface Entry {
  readonly token: string;
  readonly payload: string;
  readonly views: number;
  readonly file: Buffer | undefined;
  /** Payloads that arrived. */
  delivered: number;
  /** Retrievals that were not answered: each may have taken a view. */
  unsure: number;
  /** Whether it was expired, as far as its answer arrived. */
  ended: 'no' | 'unsure' | 'yes';
}

interface Instance {
  readonly url: string;
  /** Files need one. */
  readonly token: string;
}

/** The connection broke: nobody knows whether it was done. */
class Unanswered extends Error {}

/** A client that does at random what clients do, and writes down what it was answered. */
export class Ledger {
  readonly entries: Entry[] = [];
  /** What must never be; empty when all is well. */
  readonly broken: string[] = [];

  constructor(private readonly random: () => number) {}

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  /** Keeps so many requests going until the instance is gone; tells of each answer. */
  async load(instance: Instance, workers: number, answered: () => void): Promise<void> {
    const work = async () => {
      try {
        for (;;) {
          await this.step(instance);
          answered();
        }
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  /** Creates so many pushes. */
  async fill(instance: Instance, count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.create(instance)));
  }

  /** Takes a view; answers whether there was one. */
  async retrieve({ url }: Instance, entry: Entry): Promise<boolean> {
    entry.unsure += 1;
    const over = entry.ended === 'yes';
    const { payload, files } = await ask(`${url}/api/v2/pushes/${entry.token}`);
    entry.unsure -= 1;
    if (payload === null) return false;
    entry.delivered += 1;
    if (over) this.broken.push(`${entry.token} was expired, and shown`);
    if (payload !== entry.payload) this.broken.push(`${entry.token} was garbled`);
    if (entry.delivered > entry.views) this.broken.push(`${entry.token} was seen too often`);
    if (files.length !== (entry.file ? 1 : 0)) this.broken.push(`${entry.token} lost its file`);
    if (entry.file && files.length > 0) await this.download(entry, files[0].url);
    return true;
  }

  private async step(instance: Instance): Promise<void> {
    const choice = this.random();
    const entry = this.entries[this.below(this.entries.length)];
    if (!entry || choice < 0.3) return this.create(instance);
    if (choice < 0.4) return this.createWithFile(instance);
    if (choice < 0.9) return void (await this.retrieve(instance, entry));
    return this.expire(instance, entry);
  }

  private async create({ url }: Instance): Promise<void> {
    const { payload, views } = this.wish();
    const body = JSON.stringify({ push: { payload, expire_after_views: views } });
    const headers = { 'content-type': 'application/json' };
    const push = await ask(`${url}/api/v2/pushes`, { method: 'POST', headers, body });
    this.keep(push.url_token, payload, views);
  }

  private async createWithFile({ url, token }: Instance): Promise<void> {
    const { payload, views } = this.wish();
    const file = randomBytes(this.below(1_500_000));
    const body = formBytes([
      { name: 'push[payload]', value: payload },
      { name: 'push[expire_after_views]', value: `${views}` },
      filePart('file', file),
    ]);
    const headers = { 'content-type': FORM_TYPE, authorization: `Bearer ${token}` };
    const push = await ask(`${url}/api/v2/pushes`, { method: 'POST', headers, body });
    this.keep(push.url_token, payload, views, file);
  }

  private async expire({ url }: Instance, entry: Entry): Promise<void> {
    if (entry.ended === 'no') entry.ended = 'unsure';
    await ask(`${url}/api/v2/pushes/${entry.token}`, { method: 'DELETE' });
    entry.ended = 'yes';
  }

  /** The link is followed by some only; it may have been deleted since. */
  private async download({ token, file }: Entry, link: string): Promise<void> {
    if (this.random() < 0.5) return;
    const response = await fetch(link).catch(unanswered);
    const bytes = await response.arrayBuffer().catch(unanswered);
    if (response.status === 200 && !Buffer.from(bytes).equals(file as Buffer)) {
      this.broken.push(`the file of ${token} was garbled`);
    }
  }

  private wish() {
    const payload = `${randomBytes(8).toString('hex')} ${'x'.repeat(this.below(6000))}`;
    return { payload, views: 1 + this.below(3) };
  }

  private keep(token: string, payload: string, views: number, file?: Buffer): void {
    this.entries.push({ token, payload, views, file, delivered: 0, unsure: 0, ended: 'no' });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a push, as the instance says it
async function ask(url: string, init: RequestInit = {}): Promise<any> {
  const response = await fetch(url, init).catch(unanswered);
  const text = await response.text().catch(unanswered);
  if (response.ok) return JSON.parse(text);
  throw new Error(`${init.method ?? 'GET'} was answered ${response.status} ${text}`);
}

function unanswered(cause: unknown): never {
  throw new Unanswered('', { cause });
}
