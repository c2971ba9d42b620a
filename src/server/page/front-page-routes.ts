import type { Context } from 'hono';
import { isArmored } from '../../age/armored';
import { pushLink } from '../../contract/address';
import { typedText } from '../http/form-fields';
import type { Env } from '../http/parts';
import { noFields, textIn, withBody } from '../http/with-body';
import type { Upload } from '../rules/files';
import { Refusal } from '../service-errors';
import { createdPage, type FormLimits, frontPage } from './front';
import { Forbidden } from './messages';
import type { PageContext } from './page-context';

export async function showFront(page: PageContext, c: Context<Env>): Promise<Response> {
  return frontPage(await page.view(c), { base: page.base(c), form: formLimits(page) });
}

/** Creates a push from the form of the front page, by the rules of the API. */
export async function createFromForm(page: PageContext, c: Context<Env>): Promise<Response> {
  const { pushes, settings } = page.options;
  page.checkForm(c);
  const form = formLimits(page);
  if (!form) throw new Forbidden('usersOnly');
  const fields = noFields();
  let upload: Upload | undefined;
  const begin = settings.anonymousFiles ? async () => (upload = pushes.upload()) : undefined;
  const wanted = { root: 'push', begin, fileBytes: settings.fileBytes, fields } as const;
  try {
    return await withBody(c, wanted, async () => {
      if (typeof fields.payload === 'string') fields.payload = typedText(fields.payload);
      const { push } = await pushes.create(fields, page.visitor(c), upload);
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

/** Undefined when there is no form, as only users may create pushes. */
function formLimits({ options }: PageContext): FormLimits | undefined {
  const { anonymous, anonymousFiles, bounds, fileBytes } = options.settings;
  return anonymous ? { bounds, fileBytes: anonymousFiles ? fileBytes : undefined } : undefined;
}
