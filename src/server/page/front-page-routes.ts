import type { Context } from 'hono';
import { isArmored } from '../../age/armored';
import { pushLink } from '../../contract/address';
import { typedText } from '../http/form-fields';
import type { Env } from '../http/parts';
import { type Fields, noFields, textIn, withBody } from '../http/with-body';
import type { Visitor } from '../rules/access';
import type { Upload } from '../rules/files';
import { invalid, Refusal } from '../service-errors';
import { createdPage, type FormLimits, frontPage } from './front';
import type { PageContext } from './page-context';

export async function showFront(page: PageContext, c: Context<Env>): Promise<Response> {
  return frontPage(await page.view(c), { base: page.base(c), form: formLimits(page) });
}

/** Creates a push from the form of the front page, by the rules of the API, where needed with a token in it. */
export async function createFromForm(page: PageContext, c: Context<Env>): Promise<Response> {
  const { pushes, settings } = page.options;
  page.checkForm(c);
  const form = formLimits(page);
  const fields = noFields();
  let upload: Upload | undefined;
  const begin = settings.anonymousFiles ? async () => (upload = pushes.upload()) : undefined;
  const wanted = { root: 'push', begin, fileBytes: settings.fileBytes, fields } as const;
  try {
    return await withBody(c, wanted, async () => {
      if (typeof fields.payload === 'string') fields.payload = typedText(fields.payload);
      const creator = await creatorOf(page, c, fields);
      const { push } = await pushes.create(lasting(fields), creator, upload);
      const encrypted = isArmored(textIn(fields, 'payload'));
      return createdPage(await page.view(c), push, pushLink(page.base(c), push), encrypted);
    });
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || refusal.kind === 'abandoned') throw refusal;
    // The text is in the page again.
    c.get('memory').add(textIn(fields, 'payload').length);
    const refused = { fields, refusal, files: upload?.fileCount ?? 0 };
    return frontPage(await page.view(c), { base: page.base(c), form, refused });
  }
}

/**
 * Who creates the push: where only users do, the owner of the token, which is taken out of the fields.
 * @throws Refusal for any other token
 */
async function creatorOf(page: PageContext, c: Context<Env>, fields: Fields): Promise<Visitor> {
  const { owners, settings } = page.options;
  const visitor = page.visitor(c);
  if (settings.anonymous) return visitor;
  const owner = await owners.authenticate(textIn(fields, 'api_token').trim());
  delete fields.api_token;
  if (!owner) throw invalid({ api_token: ['That token is not valid.'] });
  return { ...visitor, owner };
}

/** The fields for the rules, with the days and hours in seconds unless there are days only. */
function lasting({ expire_after_days, hours, ...rest }: Fields): Fields {
  if (Number(hours ?? 0) === 0 && Number(expire_after_days) !== 0)
    return { ...rest, expire_after_days };
  return { ...rest, expires_in: (Number(expire_after_days) * 24 + Number(hours)) * 3600 };
}

function formLimits({ options }: PageContext): FormLimits {
  const { anonymous, anonymousFiles, bounds, fileBytes } = options.settings;
  return { bounds, fileBytes: anonymousFiles ? fileBytes : undefined, needsToken: !anonymous };
}
