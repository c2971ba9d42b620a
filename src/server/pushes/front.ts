import { limits } from '../../contract/api';
import { refusalHead } from '../http/responses';
import { drawing, encrypting } from '../page/encrypted';
import * as forms from '../page/form-rows';
import { facts, heading, icon, page, remaining, timeLeft, type View } from '../page/layout';
import { type Markup, markup } from '../page/markup';
import { refusalWords } from '../page/messages';
import type { PhraseKey } from '../page/phrases';
import { linkBox, qrCode } from '../page/secret-views';
import { PASSPHRASE_CHARACTERS } from '../rules/passphrase-check';
import type { ServiceRefusal } from '../service-errors';
import type { Bounds } from '../service-settings';
import type { PushRow } from '../store/push-rows';

export interface FormLimits {
  readonly bounds: Bounds;
  /** Maximum size of a file in bytes; undefined where the form takes no files. */
  readonly fileBytes: number | undefined;
  readonly needsToken: boolean;
  /** Whether the form creates a request rather than a push. */
  readonly asks: boolean;
}

interface RefusedForm {
  /** The entered values that were read before the refusal. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Number of files that had arrived completely. */
  readonly files: number;
  readonly refusal: ServiceRefusal;
}

interface FrontPage {
  readonly base: string;
  readonly form: FormLimits;
  readonly refused?: RefusedForm;
}

export function askPage(view: View, { form, refused }: FrontPage): Response {
  const title = view.words.text('askTitle');
  const main = markup`<div class="body">
${heading('lock', title)}
<p class="quiet">${view.words.text('askText')}</p>
<p class="note">${icon('alert')}<span>${view.words.text('askReadable')}</span></p>
${pushForm(view, form, refused)}
</div>`;
  return page(view, title, main, refused && refusalHead(refused.refusal));
}

/** The page at `/` has a form for a new push, and explains received links and the command line. */
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
<pre class="command" dir="ltr" translate="no">${command}</pre></section>
</div>`;
  const parts = [...encrypting, ...forms.refusing];
  const head = refused && refusalHead(refused.refusal);
  return page(view, title, main, { description: about, parts, ...head });
}

/**
 * Shows the link of a new push or request. The link is not in the address of this page, and so in no history and no log
 * of a proxy. For an encrypted push, the script adds the key to the link.
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

/** The script shows this template in place of a link whose key is lost. */
function keyGone({ words }: View, another: Markup): Markup {
  return markup`<template>${heading('alert', words.text('invalidTitle'), true)}
<p>${words.text('invalidText')}</p>
${another}</template>
`;
}

/** Fields have the names that the API has, except for `hours`, which are added to the days. */
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

interface Problems extends Readonly<Partial<Record<Field, Markup | string>>> {
  /** A problem that belongs to no single field. */
  readonly whole?: string;
}

function pushForm(view: View, form: FormLimits, refused: RefusedForm | undefined): Markup {
  const { words } = view;
  const { bounds, fileBytes, needsToken, asks } = form;
  const problems = refused ? problemsOf(view, form, refused) : {};
  const first = fields.find((id) => problems[id] !== undefined);
  const field = (id: Field, label: PhraseKey, hint?: PhraseKey): forms.FormField => ({
    id,
    label,
    name: `push[${id}]${id === 'files' ? '[]' : ''}`,
    hint: hint ? words.text(hint) : undefined,
    problem: problems[id],
    focused: id === first,
  });
  const value = (id: Field, usual: string | number) => `${refused?.fields[id] ?? usual}`;
  const number = (id: Field, label: PhraseKey, { min, max, default: usual }: Bounds['days']) => {
    const input = (own: Markup) =>
      markup`<input type="number" inputmode="numeric" min="${min}" max="${max}" required value="${value(id, usual)}"${own}>`;
    return forms.formRow(view, field(id, label), input);
  };
  const withFiles = fileBytes !== undefined;
  const attributes = markup` rows="5"${!withFiles && ' required'}`;
  const text = { ...field('payload', asks ? 'question' : 'secretText'), attributes };
  // A refused form loses its files and passphrase, so the hints ask for them again.
  const files = field('files', 'files', refused?.files ? 'problemFilesAgain' : undefined);
  const hint = refused?.fields.passphrase ? 'problemPassphraseAgain' : 'passphraseHint';
  return markup`${problems.whole !== undefined && forms.problemBox(problems.whole)}
<form method="post" autocomplete="off"${withFiles && markup` enctype="multipart/form-data"`}>${forms.onceField('push[once]')}
${needsToken && forms.secretRow(view, field('api_token', 'apiToken', 'apiTokenHint'))}
${forms.textRow(view, text, value('payload', ''))}
${withFiles && forms.filesRow(view, files, fileBytes)}
<div class="pair">${!asks && number('expire_after_views', 'views', bounds.views)}
${number('expire_after_days', 'days', { ...bounds.days, min: bounds.shortest ? bounds.days.min : 0 })}
${number('hours', 'hours', { min: 0, max: 23, default: 0 })}</div>
${!asks && forms.passphraseRow(view, field('passphrase', 'passphraseOptional', hint))}
${!asks && encryptBox(view)}
<button class="primary wide">${icon('link')}${words.text('createLink')}</button>
</form>`;
}

function encryptBox({ words }: View): Markup {
  return markup`<div class="row scripted-only"><label class="check"><input type="checkbox" id="encrypt" checked>${words.text('encryptInBrowser')}</label>
<p class="quiet status" role="status" data-busy="${words.text('encrypting')}" data-invalid="${words.text('problemValue')}"></p></div>`;
}

/** Translates a refusal for the page, as the messages of `ServiceRefusal` are in English and for programs. */
function problemsOf(view: View, form: FormLimits, refused: RefusedForm): Problems {
  const wrong = wrongFields(form, refused);
  if (wrong.length === 0) return { whole: view.words.text(refusalWords(refused.refusal)[1]) };
  return Object.fromEntries(wrong.map((id) => [id, fieldProblem(view, form, refused, id)]));
}

/** Maps field names in a refusal to the fields of the form. */
const renamed: Readonly<Record<string, Field>> = {
  expires_in: 'expire_after_days',
  close_after: 'expire_after_days',
  request: 'payload',
};

function wrongFields({ fileBytes }: FormLimits, { fields: sent, refusal }: RefusedForm): Field[] {
  if (refusal.kind === 'too_large') {
    if (fileBytes === undefined) return ['payload'];
    // The payload is read before the files. Without a payload, the form as a whole is too large.
    return sent.payload === undefined ? [] : ['files'];
  }
  const refusedNames = refusal.kind === 'invalid' ? Object.keys(refusal.details.fields ?? {}) : [];
  const ids = new Set(refusedNames.map((name) => renamed[name] ?? name));
  return fields.filter((id) => ids.has(id));
}

function fieldProblem(
  view: View,
  { bounds, fileBytes }: FormLimits,
  { fields, files, refusal }: RefusedForm,
  id: Field,
): Markup | string {
  const { words } = view;
  if (refusal.kind === 'too_large') return forms.tooLarge(view, fileBytes);
  const text = String(fields[id] ?? '');
  const range = ({ min, max }: { min: number; max: number }) =>
    words.fill('problemNumber', { min: words.number(min), max: words.number(max) });
  switch (id) {
    case 'expire_after_views':
      return range(bounds.views);
    case 'expire_after_days':
    case 'hours':
      return range(bounds.days);
    case 'payload':
      return forms.textProblem(view, text, fileBytes);
    case 'passphrase':
      return text.length > PASSPHRASE_CHARACTERS
        ? words.count('problemPassphrase', PASSPHRASE_CHARACTERS)
        : words.text('problemValue');
    case 'api_token':
      return words.text('problemToken');
    case 'files':
      return files >= limits.filesPerPush ? forms.tooManyFiles(view) : words.text('problemValue');
  }
}
