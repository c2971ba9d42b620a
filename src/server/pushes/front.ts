import { limits } from '../../contract/api';
import { refusalHead } from '../http/responses';
import { drawing, encrypting } from '../page/encrypted';
import * as formLimits from '../page/form-limits';
import {
  facts,
  heading,
  icon,
  page,
  passphraseField,
  problemBox,
  remaining,
  timeLeft,
  type View,
} from '../page/layout';
import { type Markup, markup } from '../page/markup';
import { refusalWords } from '../page/messages';
import { onceField } from '../page/page-context';
import { refusing, serverPassphrase } from '../page/passphrase-form';
import { linkBox, qrCode } from '../page/secret-views';
import { PASSPHRASE_CHARACTERS } from '../rules/passphrase-check';
import type { ServiceRefusal } from '../service-errors';
import type { Bounds } from '../service-settings';
import type { PushRow } from '../store/push-rows';

export interface FormLimits {
  readonly bounds: Bounds;
  /** Maximum size of a file in bytes; undefined where the form takes no files. */
  readonly fileBytes: number | undefined;
  /** Whether only users create what it creates, with a token. */
  readonly needsToken: boolean;
  /** Whether it asks for a secret, rather than shares one. */
  readonly asks: boolean;
}

interface RefusedForm {
  /** Its fields, as far as they were read. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Number of its files that were read whole. */
  readonly files: number;
  readonly refusal: ServiceRefusal;
}

interface FrontPage {
  /** The beginning of links. */
  readonly base: string;
  readonly form: FormLimits;
  readonly refused?: RefusedForm;
}

/** The page at `/ask`: a form for a new request, whose answer its link shows to the user who made it. */
export function askPage(view: View, { form, refused }: FrontPage): Response {
  const title = view.words.text('askTitle');
  const main = markup`<div class="body">
${heading('lock', title)}
<p class="quiet">${view.words.text('askText')}</p>
<p class="note">${icon('alert')}<span>${view.words.text('askReadable')}</span></p>
${pushForm(view, form, refused)}
</div>`;
  return page(view, title, main, refused ? refusalHead(refused.refusal) : {});
}

/** The page at `/`: a form for a new push, and what to do with a link and on the command line. */
export function frontPage(view: View, { base, form, refused }: FrontPage): Response {
  const { words } = view;
  const title = words.text('frontTitle');
  const about = words.text(form.fileBytes === undefined ? 'frontText' : 'frontTextFiles');
  const { needsToken } = form;
  const command = needsToken
    ? `pwpush login ${base}\npwpush push`
    : `pwpush push --encrypt --url ${base}`;
  const main = markup`<div class="body">
<h1>${title}</h1>
<p class="quiet">${about}</p>
${pushForm(view, form, refused)}
</div>
<div class="foot ways">
<section><h2><a href="${base}/ask">${words.text('askTitle')}</a></h2>
<p>${words.text('askText')}</p></section>
<section><h2>${words.text('receivedTitle')}</h2>
<p>${words.text('receivedText')} <a href="${base}/open">${words.text('decryptReceived')}</a></p></section>
<section><h2>${words.text('cliTitle')}</h2>
<p>${words.text(needsToken ? 'cliTextUsers' : 'cliText')}</p>
<pre class="command" dir="ltr" translate="no">npm install -g pwpush
${command}</pre></section>
</div>`;
  const head = refused ? refusalHead(refused.refusal) : {};
  const parts = [...encrypting, ...refusing];
  return page(view, title, main, { description: about, parts, ...head });
}

/**
 * The link of a new push. It is not in the address of this page, and so in no history and no log of a proxy. The script
 * adds the key of an encrypted push to it.
 */
export function createdPage(view: View, push: PushRow, link: string, encrypted: boolean): Response {
  const { words } = view;
  const title = words.text('createdTitle');
  const another = markup`<p><a class="button wide" href="">${words.text('createAnother')}</a></p>
`;
  const main = markup`<div class="body made">
${heading('check', title)}
${push.kind === 'request' ? markup`<p>${words.text('askedText')}</p>` : sharedText(view, push)}
${linkBox(view, link)}
${qrCode(link, words.text('qrOfLink')) ?? false}
${encrypted && keyGone(view, another)}${another}</div>
<div class="foot">
${push.kind === 'request' ? facts(timeLeft(view, push)) : remaining(view, push)}
</div>`;
  return page(view, title, main, { status: 201, parts: encrypted ? drawing : [] });
}

function sharedText({ words }: View, push: PushRow): Markup {
  return markup`<p>${words.text(push.protected === 1 ? 'createdPassphrase' : 'createdText')}</p>
<p class="quiet">${words.text('createdHint')}</p>`;
}

/** Shown by the script instead where the key is gone. */
function keyGone({ words }: View, another: Markup): Markup {
  return markup`<template>${heading('alert', words.text('invalidTitle'), true)}
<p>${words.text('invalidText')}</p>
${another}</template>
`;
}

/** The fields of the form, named as in a creation request of the API; `hours` are those besides the days. */
const fields = [
  'api_token',
  'payload',
  'files',
  'expire_after_views',
  'expire_after_days',
  'hours',
  'passphrase',
] as const;
type Field = (typeof fields)[number];
type Notes = Readonly<Partial<Record<Field, Markup | string>>>;

interface Problems extends Notes {
  /** Of the request, rather than of a field. */
  readonly whole?: string;
}

/** A label, a control with these attributes, and a note. */
type Row = (field: Field, label: string, control: (attributes: Markup) => Markup) => Markup;

function pushForm(view: View, form: FormLimits, refused: RefusedForm | undefined): Markup {
  const { words } = view;
  const { bounds, fileBytes, needsToken, asks } = form;
  const problems = refused ? problemsOf(view, form, refused) : {};
  const row = rowsWith(problems, hintsOf(view, form, refused, problems));
  const value = (field: Field, usual: string | number) => `${refused?.fields[field] ?? usual}`;
  const number = (field: Field, label: string, { min, max, default: usual }: Bounds['days']) =>
    row(
      field,
      label,
      (attributes) =>
        markup`<input type="number" inputmode="numeric" min="${min}" max="${max}" required value="${value(field, usual)}"${attributes}>`,
    );
  const withFiles = fileBytes !== undefined;
  const text = (attributes: Markup) =>
    markup`<textarea rows="5" spellcheck="false" autocapitalize="off" translate="no"${!withFiles && ' required'}${attributes}>
${value('payload', '')}</textarea>`;
  return markup`${problems.whole !== undefined && problemBox(problems.whole)}
<form method="post" autocomplete="off"${withFiles && markup` enctype="multipart/form-data"`}>${onceField('push[once]')}
${needsToken && row('api_token', words.text('apiToken'), (attributes) => passphraseField(view, words.text('apiToken'), markup` autocomplete="off" translate="no" required${attributes}`))}
${row('payload', words.text(asks ? 'question' : 'secretText'), text)}
${withFiles && row('files', words.text('files'), (attributes) => formLimits.filePicker(view, fileBytes, attributes))}
<div class="pair">${!asks && number('expire_after_views', words.text('views'), bounds.views)}
${number('expire_after_days', words.text('days'), { ...bounds.days, min: bounds.shortest ? bounds.days.min : 0 })}
${number('hours', words.text('hours'), { min: 0, max: 23, default: 0 })}</div>
${!asks && secretRows(view, row)}
<button class="primary wide">${icon('link')}${words.text('createLink')}</button>
</form>`;
}

/** The passphrase, and whether the browser encrypts. */
function secretRows(view: View, row: Row): Markup {
  const { words } = view;
  return markup`${row('passphrase', words.text('passphraseOptional'), (attributes) => serverPassphrase(view, markup` autocomplete="off"${attributes}`))}
<div class="row scripted-only"><label class="check"><input type="checkbox" id="encrypt" checked>${words.text('encryptInBrowser')}</label>
<p class="quiet status" role="status" data-busy="${words.text('encrypting')}" data-invalid="${words.text('problemValue')}"></p></div>`;
}

/** Rows of the form; the first one with a problem gets the focus. */
function rowsWith(problems: Problems, hints: Notes): Row {
  const first = fields.find((field) => problems[field] !== undefined);
  return (field, label, control) => {
    const problem = problems[field];
    const note = problem ?? hints[field];
    const id = `${field}-note`;
    const attributes = markup` id="${field}" name="push[${field}]${field === 'files' && '[]'}"${
      note !== undefined && markup` aria-describedby="${id}"`
    }${problem !== undefined && markup` aria-invalid="true"`}${field === first && ' autofocus'}`;
    return markup`<div class="row"><label for="${field}">${label}</label>
${control(attributes)}
${note !== undefined && markup`<p class="${problem === undefined ? 'hint' : 'wrong'}" id="${id}">${note}</p>`}</div>`;
  };
}

/** Notes on fields without a problem. Files and the passphrase of a refused form have to be given again. */
function hintsOf(
  view: View,
  { fileBytes }: FormLimits,
  refused: RefusedForm | undefined,
  problems: Problems,
): Notes {
  const { words } = view;
  const files = fileBytes !== undefined && formLimits.filesHint(view, fileBytes);
  const again = refused !== undefined && refused.files > 0 && problems.files === undefined;
  return {
    ...(files ? { files: again ? words.text('problemFilesAgain') : files } : {}),
    passphrase: words.text(
      refused?.fields.passphrase ? 'problemPassphraseAgain' : 'passphraseHint',
    ),
    api_token: words.text('apiTokenHint'),
  };
}

/** What the rules found, in the words of the page: theirs are for programs, and in English. */
function problemsOf(view: View, form: FormLimits, refused: RefusedForm): Problems {
  const { words } = view;
  const { refusal } = refused;
  if (refusal.kind === 'too_large') return sizeProblem(view, form, refused);
  const { expires_in, close_after = expires_in, request, ...named } = refusal.details.fields ?? {};
  const wrong = {
    ...named,
    ...(close_after && { expire_after_days: close_after }),
    ...(request && { payload: request }),
  };
  const found = fields.filter((field) => Object.hasOwn(wrong, field));
  if (refusal.kind !== 'invalid' || found.length === 0)
    return { whole: words.text(refusalWords(refusal)[1]) };
  return Object.fromEntries(
    found.map((field) => [field, fieldProblem(view, form, refused, field)]),
  );
}

/** The text is read before the files; before it, only the form as a whole can be too large. */
function sizeProblem(view: View, { fileBytes }: FormLimits, { fields }: RefusedForm): Problems {
  if (fileBytes === undefined) return { payload: formLimits.textTooLarge(view) };
  return fields.payload === undefined
    ? { whole: view.words.text('tooLargeText') }
    : { files: formLimits.fileTooLarge(view, fileBytes) };
}

function fieldProblem(
  view: View,
  { bounds, fileBytes }: FormLimits,
  { fields, files }: RefusedForm,
  field: Field,
): Markup | string {
  const { words } = view;
  const text = String(fields[field] ?? '');
  const range = ({ min, max }: { min: number; max: number }) =>
    words.fill('problemNumber', { min: words.number(min), max: words.number(max) });
  switch (field) {
    case 'expire_after_views':
      return range(bounds.views);
    case 'expire_after_days':
    case 'hours':
      return range(bounds.days);
    case 'payload':
      return formLimits.textProblem(view, text, fileBytes !== undefined);
    case 'passphrase':
      return text.length > PASSPHRASE_CHARACTERS
        ? words.count('problemPassphrase', PASSPHRASE_CHARACTERS)
        : words.text('problemValue');
    case 'api_token':
      return words.text('problemToken');
    case 'files':
      return files >= limits.filesPerPush
        ? formLimits.tooManyFiles(view)
        : words.text('problemValue');
  }
}
