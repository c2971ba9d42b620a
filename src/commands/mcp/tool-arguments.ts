// The arguments of each tool, with descriptions for callers. Other arguments are refused. No argument is a secret.
import * as z from 'zod/v4';
import { REQUEST_STATES } from '../../contract/api';

const LONGEST_LINE = 2000;

/** Neither an argument of a program nor the name of a file can contain NUL. */
const words = (most: number) =>
  z
    .string()
    .max(most)
    .refine((text) => !text.includes('\0'), 'contains NUL');
const line = (most = LONGEST_LINE) => words(most).min(1);

const link = line().describe('Link or ID of a push or request, or "last" for the last push.');
const newFile = line().describe(
  'Path of a new file below the folder of this server; ending in / or naming a folder, files go into it.',
);
const time = (what: string) => line(40).optional().describe(what);
const seconds = (preset: number) =>
  z
    .int()
    .min(1)
    .max(3600)
    .default(preset)
    .describe(`Seconds to wait at most; ${preset} by default. Call again to wait on.`);

/** Refuses a text or a passphrase, because what a model knows is in the transcript already. */
const refusedText: z.core.$ZodErrorMap = ({ code, keys }) =>
  code === 'unrecognized_keys' && Array.isArray(keys)
    ? `there is no argument ${keys.join(', ')}: what is in the conversation is no secret. Ask a person to save the secret to a file`
    : undefined;

export const schemas = {
  push: z.strictObject(
    {
      file: line().optional().describe('A file below the folder of this server, attached.'),
      as_text: z.boolean().optional().describe('Send the content of `file` as text, for `run`.'),
      env: line(200).optional().describe('A variable that the operator has allowed with --env.'),
      generate: z
        .union(
          [
            z.literal(true),
            z.int().min(8).max(1024),
            z.string().regex(/^((alnum|hex|digits|words):)?\d{1,4}$/),
          ],
          {
            error:
              'must be true, a length from 8 to 1024, or a form: alnum:24, hex:32, digits:6, words:5',
          },
        )
        .optional()
        .describe('Make a new secret: true, its length, or a form such as words:5 or hex:32.'),
      views: z.int().min(1).max(1000).optional().describe('Expire after this number of views.'),
      days: z.int().min(1).max(365).optional().describe('Expire after this number of days.'),
      expire: time('Expire after a time such as 45m, 6h or 3d, instead of days.'),
      name: line(255).optional().describe('Label in lists. Never a secret.'),
      encrypt: z
        .boolean()
        .optional()
        .describe('Encrypt end to end, with the key in the link. Left out, the operator decides.'),
      deletable: z.boolean().optional().describe('Whether the recipient can delete it.'),
      click: z.boolean().optional().describe('Require a click before it is shown.'),
    },
    { error: refusedText },
  ),
  ask: z.strictObject({
    question: line(1000).describe('What you ask a person for. They read it on a page.'),
    file: newFile,
    expire: line(40).default('1h').describe('Close after a time from 15m to 3mo; 1h by default.'),
    seconds: seconds(300),
  }),
  run: z.strictObject({
    link,
    command: z
      .array(words(8192))
      .min(1)
      .max(100)
      .describe(
        'The program, which the operator has allowed, by its path or name, and its arguments. No shell.',
      ),
    as: line(200)
      .optional()
      .describe('Variable for the secret. Left out, its NAME=value lines set variables.'),
  }),
  save: z.strictObject({ link, file: newFile }),
  wait: z.strictObject({ link, seconds: seconds(50) }),
  expire: z.strictObject({ link }),
  preview: z.strictObject({ link }),
  audit: z.strictObject({ link }),
  list: z.strictObject({
    state: z
      .enum(['active', 'expired', ...REQUEST_STATES])
      .default('active')
      .describe('Of pushes: active, expired. Of requests: open, ready (answered), closed.'),
    page: z.int().min(1).max(200).default(1).describe('Page of 50, newest first.'),
  }),
};

export type ToolName = keyof typeof schemas;
export type Arguments<Name extends ToolName> = z.infer<(typeof schemas)[Name]>;
