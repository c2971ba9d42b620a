import { refusalHead } from '../http/responses';
import respondScript from '../page/browser/respond-form.ts?script';
import { styling } from '../page/encrypted';
import * as forms from '../page/form-rows';
import { facts, heading, icon, PagePart, page, timeLeft, type View } from '../page/layout';
import { type Markup, markup } from '../page/markup';
import { message, refusalWords } from '../page/messages';
import { preformatted } from '../page/secret-views';
import { type Download, downloads } from '../pushes/secret';
import type { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import style from './request-page.css?raw';

const responding = [styling, new PagePart('style', style), new PagePart('script', respondScript)];

interface ShownRequest {
  readonly request: PushRow;
  readonly question: string;
  readonly files: readonly Download[];
  /** The name of the request's owner; undefined unless `include_requestor` is set. */
  readonly requestor: string | undefined;
  /** The form sends the passphrase again with the answer; '' for none. */
  readonly passphrase: string;
  /** Maximum size of a file in bytes; undefined if the request takes no files. */
  readonly fileBytes: number | undefined;
}

export interface RefusedAnswer {
  readonly response: string;
  readonly refusal: ServiceRefusal;
}

export function requestPage(view: View, shown: ShownRequest, refused?: RefusedAnswer): Response {
  const { words } = view;
  const { request, question, files, requestor } = shown;
  const title = words.text('requestTitle');
  const name = requestor !== undefined && markup`<bdi translate="no">${requestor}</bdi>`;
  const by = name && words.fill('requestFrom', { name });
  const main = markup`<div class="body">
${heading('lock', title)}
<p class="quiet">${by} ${words.text('requestUnexpected')}</p>
${questionBox(question, words.text('question'))}
${files.length > 0 && downloads(view, files, request)}
${answerForm(view, shown, refused)}
<template class="sent">${sentBody(view)}</template>
</div>
<div class="foot">
${facts(timeLeft(view, request))}
</div>`;
  const head = refused && refusalHead(refused.refusal);
  return page(view, title, main, { parts: responding, fetches: true, ...head });
}

/** In characters. A question of one line is shown as a heading up to this length. */
const SHORT_QUESTION = 120;

/** A box shows that the question is not a text of this site. */
function questionBox(question: string, label: string): Markup {
  const short = question.length <= SHORT_QUESTION && !question.includes('\n');
  const [title, content] = short
    ? [markup`<p class="quiet">${label}</p>`, markup`<h2 dir="auto">${question}</h2>`]
    : [markup`<h2>${label}</h2>`, preformatted(question, label)];
  return markup`${title}
<div class="box asked"><div class="content" translate="no">${content}</div></div>`;
}

function answerForm(view: View, shown: ShownRequest, refused: RefusedAnswer | undefined): Markup {
  const { words } = view;
  const { passphrase, fileBytes } = shown;
  const { public_key } = shown.request;
  const withFiles = fileBytes !== undefined;
  const problem = refused && markup`<span>${answerProblem(view, fileBytes, refused)}</span>`;
  const attributes = markup` rows="5"${!withFiles && ' required'} aria-describedby="answer-note problem"`;
  const name = 'request[response]';
  // The script shows its errors in `#problem`.
  return markup`<form class="respond" method="post" autocomplete="off"${withFiles && markup` enctype="multipart/form-data"`} data-key="${public_key ?? ''}" data-busy="${words.text('encrypting')}" data-sending="${words.text('sending')}" data-failed="${words.text('sendFailed')}" data-damaged="${words.text('keyDamaged')}" data-empty="${forms.nothingEntered(view, fileBytes)}">
${forms.onceField('request[once]')}${passphrase !== '' && markup`<input type="hidden" name="request[passphrase]" value="${passphrase}">`}
${forms.textRow(view, { id: 'response', name, label: 'yourAnswer', attributes }, refused?.response)}
${withFiles && forms.filesRow(view, { id: 'files', name: 'request[files][]' }, fileBytes)}
<p class="quiet" id="answer-note">${words.text('answerHint')}</p>
<p class="note encrypted" hidden>${icon('lock')}<span>${words.text('answerEncrypted')}</span></p>
<p class="note alarm server-key" hidden>${icon('alert')}<span>${words.text('keyMissing')} ${words.text('answerServerKey')}</span></p>
<p class="note readable"${public_key !== null && ' hidden'}>${icon('alert')}<span>${words.text('answerReadable')}</span></p>
${public_key !== null && markup`<p class="note unscripted">${icon('alert')}<span>${words.text('answerUnencrypted')}</span></p>`}
<p class="problem" id="problem" role="alert"${problem === undefined && ' hidden'}>${icon('alert')}${problem ?? markup`<span></span>`}</p>
<p class="quiet status" role="status"></p>
<progress class="wide" hidden></progress>
<button class="primary wide">${icon('send')}${words.text('sendAnswer')}</button>
</form>`;
}

export function answerProblem(
  view: View,
  fileBytes: ShownRequest['fileBytes'],
  { response, refusal }: RefusedAnswer,
): Markup | string {
  if (refusal.kind === 'too_large') return forms.tooLarge(view, fileBytes);
  if (refusal.kind !== 'invalid') return view.words.text(refusalWords(refusal)[1]);
  if (!refusal.details.fields?.files) return forms.textProblem(view, response, fileBytes);
  return fileBytes === undefined ? view.words.text('problemValue') : forms.tooManyFiles(view);
}

/** Tells visitors that the request was answered. The owner can read the answer with a form for the API token. */
export function answeredPage(view: View, request: PushRow, status: 200 | 409, wrongToken = false) {
  const { words } = view;
  const attributes = markup` required`;
  const more = markup`
<details class="delete"${wrongToken && ' open'}><summary>${icon('unlocked')}${words.text('readAnswer')}</summary>
<form method="post" autocomplete="off">${forms.onceField('request[once]')}
${wrongToken && forms.problemBox(words.text('problemValue'))}
${forms.secretRow(view, { id: 'token', name: 'request[api_token]', label: 'apiToken' })}
${request.protected === 1 && forms.passphraseRow(view, { id: 'passphrase', name: 'request[passphrase]', label: 'passphrase', attributes })}
<button class="wide">${words.text('showSecret')}</button>
</form>
</details>`;
  return message(view, 'check', ['answeredTitle', 'answeredText'], { status, more });
}

export function sentPage(view: View): Response {
  return page(view, view.words.text('sentTitle'), sentBody(view));
}

function sentBody({ words }: View): Markup {
  return markup`<div class="body">
<div class="top"><div class="badge">${icon('check')}</div>
<h1 tabindex="-1">${words.text('sentTitle')}</h1></div>
<p>${words.text('sentText')}</p>
<p class="quiet">${words.text('closePage')}</p>
</div>`;
}
