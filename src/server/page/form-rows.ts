import { randomBytes } from 'node:crypto';
import { limits } from '../../contract/api';
import refuseScript from './browser/refuse-key.ts?script';
import { icon, PagePart, type View } from './layout';
import { type Markup, markup } from './markup';
import type { PhraseKey } from './phrases';

export interface FormField {
  readonly id: string;
  readonly label: PhraseKey;
  /** Undefined if only a script reads the field. */
  readonly name?: string;
  readonly hint?: Markup | string | undefined;
  /** Says why the form was refused, in place of the hint. */
  readonly problem?: Markup | string | undefined;
  readonly focused?: boolean;
  readonly attributes?: Markup;
}

/** Tells 1Password, LastPass, Bitwarden and Dashlane that a field is no login, as they do not obey `autocomplete`. */
const noLogin = markup` data-1p-ignore data-lpignore="true" data-bwignore data-form-type="other"`;

/** `control` receives the attributes that tie it to its label and its note. */
export function formRow(view: View, field: FormField, control: (own: Markup) => Markup): Markup {
  const { id, name, label, hint, problem, focused = false, attributes = false } = field;
  const note = problem ?? hint;
  const noteId = note !== undefined && markup` aria-describedby="${id}-note"`;
  const own = markup` id="${id}"${name !== undefined && markup` name="${name}"`}${noteId}${problem !== undefined && markup` aria-invalid="true"`}${focused && ' autofocus'}${noLogin}`;
  const below =
    note !== undefined &&
    markup`
<p class="${problem === undefined ? 'hint' : 'wrong'}" id="${id}-note">${note}</p>`;
  return markup`<div class="row"><label for="${id}">${view.words.text(label)}</label>
${control(markup`${attributes}${own}`)}${below}</div>`;
}

/** Returns a row for a key or a token, whose characters the browser hides. */
export function secretRow(view: View, field: FormField): Markup {
  return formRow(view, field, (own) =>
    hiddenInput(view, field.label, markup` translate="no" required${own}`),
  );
}

/** Returns a row for a passphrase that is sent to the service. The script of `refusing` keeps keys out of it. */
export function passphraseRow(view: View, field: FormField): Markup {
  const ofKey = markup` data-key="${view.words.text('passphraseIsKey')}"`;
  return formRow(view, field, (own) => hiddenInput(view, 'passphrase', markup`${ofKey}${own}`));
}

export const refusing = [new PagePart('script', refuseScript)];

/** Returns an input with a button that shows its value; the button needs the script. */
function hiddenInput({ words }: View, content: PhraseKey, attributes: Markup): Markup {
  const name = words.text(content);
  return markup`<div class="field"><input type="password" autocapitalize="off" spellcheck="false" autocomplete="off"${attributes}>
<button type="button" class="eye" data-do="peek" aria-label="${words.text('show')}: ${name}" data-other="${words.text('hide')}: ${name}">${icon('eye')}${icon('hide')}</button></div>`;
}

/** Returns a row for a text of several lines, which the browser must neither correct nor translate. */
export function textRow(view: View, field: FormField, value = ''): Markup {
  const area = (own: Markup) =>
    markup`<textarea spellcheck="false" autocapitalize="off" translate="no"${own}>
${value}</textarea>`;
  return formRow(view, field, area);
}

/** Returns a row for files. `every-page.ts` checks their number and sizes before they are sent. */
export function filesRow(view: View, field: Omit<FormField, 'label'>, fileBytes: number): Markup {
  const { words } = view;
  const { filesPerPush } = limits;
  const most = words.count('filesLimit', filesPerPush, { size: words.size(fileBytes) });
  const picker = (own: Markup) =>
    markup`<input type="file" multiple data-most="${filesPerPush}" data-bytes="${fileBytes}" data-many="${tooManyFiles(view)}" data-large="${tooLarge(view, fileBytes)}"${own}>`;
  return formRow(view, { ...field, label: 'files', hint: field.hint ?? most }, picker);
}

/** The service does a form once per random value, even if a double click, a reload or a retry sends it again. */
export function onceField(name = 'once'): Markup {
  const once = randomBytes(16).toString('base64url');
  return markup`<input type="hidden" name="${name}" value="${once}">`;
}

/** Screen readers read the box out when the page loads. */
export function problemBox(text: Markup | string): Markup {
  return markup`<p class="problem" id="problem" role="alert">${icon('alert')}<span>${text}</span></p>`;
}

export function tooManyFiles({ words }: View): Markup {
  return words.count('problemFiles', limits.filesPerPush);
}

/** Says that a file is too large; without `fileBytes`, that the text is. */
export function tooLarge({ words }: View, fileBytes: number | undefined): Markup {
  return fileBytes === undefined
    ? words.fill('problemTextTooLarge', { size: words.size(limits.textBytes) })
    : words.fill('problemFileTooLarge', { size: words.size(fileBytes) });
}

export function textProblem(
  view: View,
  text: string,
  fileBytes: number | undefined,
): Markup | string {
  if (text.trim() === '') return nothingEntered(view, fileBytes);
  if (Buffer.byteLength(text) > limits.textBytes) return tooLarge(view, undefined);
  return view.words.text('problemValue');
}

export function nothingEntered({ words }: View, fileBytes: number | undefined): string {
  return words.text(fileBytes === undefined ? 'problemText' : 'problemTextOrFiles');
}
