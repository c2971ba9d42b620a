import type { Api } from '../client/client';
import type { Attachment } from '../client/form';
import type { Context } from '../context';
import type { NewPush, Push } from '../contract';
import type { GlobalOptions } from '../options';
import type { Terminal } from '../terminal/output';
import { type Meter, meterFor } from '../terminal/transfer-meter';
import { type Attachments, openAttachments, type Wanted } from './attachments';

/** Opened files, and how to push them. */
export interface Sending extends Attachments {
  /** Creates the push, and shows on a terminal how far it is. */
  create(api: Api, push: NewPush): Promise<Push>;
}

/** @throws CliError (usage) for what cannot be attached */
export async function openSending(
  context: Context,
  options: GlobalOptions & Wanted,
  say: Terminal,
): Promise<Sending> {
  const { files, close } = await openAttachments(options, context);
  const create = async (api: Api, push: NewPush) => {
    const total = files.reduce((sum, file) => sum + file.size, 0);
    const meter = meterFor(context, options, { files: files.length, total });
    try {
      const created = await api.create(
        push,
        files.map((file, at) => watched(file, at, meter)),
      );
      const summary = await meter.ends();
      // Not waited for: a stderr that takes nothing must not keep the link back.
      if (summary !== undefined) void say.note(summary);
      return created;
    } finally {
      await meter.ends();
    }
  };
  return { files, close, create };
}

function watched(file: Attachment, at: number, meter: Meter): Attachment {
  return {
    ...file,
    bytes: async function* () {
      meter.begins(at, file.name, file.size);
      for await (const chunk of file.bytes()) {
        yield chunk;
        meter.moved(chunk.byteLength);
      }
    },
  };
}
