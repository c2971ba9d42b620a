import { refusalHead } from '../http/responses';
import respondScript from '../page/browser/respond-form.ts?script';
import { styling } from '../page/encrypted';
import * as formLimits from '../page/form-limits';
import {
  facts,
  heading,
  icon,
  PagePart,
  page,
  passphraseField,
  problemBox,
  timeLeft,
  type View,
} from '../page/layout';
import { type Markup, markup } from '../page/markup';
import { message, refusalWords } from '../page/messages';
import { onceField } from '../page/page-context';
import { serverPassphrase } from '../page/passphrase-form';
import { preformatted } from '../page/secret-views';
import { type Download, downloads } from '../pushes/secret';
import type { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import style from './request-page.css?raw';

const responding = [styling, new PagePart('style', style), new PagePart('script', respondScript)];

/** A request, as the person who answers sees it. */
export interface ShownRequest {
  readonly request: PushRow;
  readonly question: string;
  readonly files: readonly Download[];
  /** The name of the person who asks, if it is to be shown. */
  readonly requestor: string | undefined;
  /** Sent again with the answer; '' for none. */
  readonly passphrase: string;
  /** Maximum size of a file in bytes. */
  readonly fileBytes: number;
}

export interface RefusedAnswer {
  readonly response: string;
  readonly refusal: ServiceRefusal;
}

export function requestPage(view: View, shown: ShownRequest, refused?: RefusedAnswer): Response {
  const { words } = view;
  const { request, question, files, requestor } = shown;
  const title = words.text('requestTitle');
  const by = requestor === undefined ? '' : words.fill('requestFrom', { name: bdi(requestor) });
  const main = markup`<div class="body">
${heading('lock', title)}
<p class="quiet">${by} ${words.text('requestUnexpected')}</p>
${asked(question, words.text('question'))}
${files.length > 0 && downloads(view, files, request)}
${answerForm(view, shown, refused)}
<template class="sent">${sentBody(view)}</template>
</div>
<div class="foot">
${facts(timeLeft(view, request))}
</div>`;
  const head = refused ? refusalHead(refused.refusal) : {};
  return page(view, title, main, { parts: responding, fetches: true, ...head });
}

/** Up to this length, a question of one line is a heading. */
const SHORT_QUESTION = 120;

/** The question, in a box: its words are not the page's. */
function asked(question: string, label: string): Markup {
  const short = question.length <= SHORT_QUESTION && !question.includes('\n');
  const [title, content] = short
    ? [markup`<p class="quiet">${label}</p>`, markup`<h2 dir="auto">${question}</h2>`]
    : [markup`<h2>${label}</h2>`, preformatted(question, label)];
  return markup`${title}
<div class="box asked"><div class="content" translate="no">${content}</div></div>`;
}

function answerForm(view: View, shown: ShownRequest, refused: RefusedAnswer | undefined): Markup {
  const { words } = view;
  const { request, passphrase, fileBytes } = shown;
  const withFiles = request.response_file_attachments === 1;
  const problem = refused && markup`<span>${answerProblem(view, shown, refused)}</span>`;
  const empty = words.text(withFiles ? 'problemTextOrFiles' : 'problemText');
  // A space for the alert, which the script fills.
  return markup`<form class="respond" method="post" autocomplete="off"${withFiles && markup` enctype="multipart/form-data"`} data-key="${request.public_key ?? ''}" data-busy="${words.text('encrypting')}" data-sending="${words.text('sending')}" data-failed="${words.text('sendFailed')}" data-damaged="${words.text('keyDamaged')}" data-empty="${empty}">
${onceField('request[once]')}${passphrase !== '' && markup`<input type="hidden" name="request[passphrase]" value="${passphrase}">`}
<div class="row"><label for="response">${words.text('yourAnswer')}</label>
<textarea id="response" name="request[response]" rows="5" spellcheck="false" autocapitalize="off" translate="no"${!withFiles && ' required'} aria-describedby="answer-note problem">
${refused?.response ?? ''}</textarea></div>
${withFiles && fileRow(view, fileBytes)}
<p class="quiet" id="answer-note">${words.text('answerHint')}</p>
<p class="note encrypted" hidden>${icon('lock')}<span>${words.text('answerEncrypted')}</span></p>
<p class="note alarm server-key" hidden>${icon('alert')}<span>${words.text('keyMissing')} ${words.text('answerServerKey')}</span></p>
<p class="note readable"${request.public_key !== null && ' hidden'}>${icon('alert')}<span>${words.text('answerReadable')}</span></p>
${request.public_key !== null && markup`<p class="note unscripted">${icon('alert')}<span>${words.text('answerUnencrypted')}</span></p>`}
<p class="problem" id="problem" role="alert"${problem === undefined && ' hidden'}>${icon('alert')}${problem ?? markup`<span></span>`}</p>
<p class="quiet status" role="status"></p>
<progress class="wide" hidden></progress>
<button class="primary wide">${icon('send')}${words.text('sendAnswer')}</button>
</form>`;
}

function fileRow(view: View, fileBytes: number): Markup {
  const attributes = markup` id="files" name="request[files][]" aria-describedby="files-note"`;
  return markup`<div class="row"><label for="files">${view.words.text('files')}</label>
${formLimits.filePicker(view, fileBytes, attributes)}
<p class="hint" id="files-note">${formLimits.filesHint(view, fileBytes)}</p></div>`;
}

/** Why an answer was refused, in the words of the page. */
export function answerProblem(
  view: View,
  { request, fileBytes }: Pick<ShownRequest, 'request' | 'fileBytes'>,
  { response, refusal }: RefusedAnswer,
): Markup | string {
  const withFiles = request.response_file_attachments === 1;
  if (refusal.kind === 'too_large')
    return withFiles ? formLimits.fileTooLarge(view, fileBytes) : formLimits.textTooLarge(view);
  if (refusal.kind !== 'invalid') return view.words.text(refusalWords(refusal)[1]);
  if (!refusal.details.fields?.files) return formLimits.textProblem(view, response, withFiles);
  return withFiles ? formLimits.tooManyFiles(view) : view.words.text('problemValue');
}

/** For those who come after the answer to a request; for its owner, the way to read it. */
export function answeredPage(view: View, request: PushRow, status: 200 | 409, wrongToken = false) {
  const { words } = view;
  const passphrase =
    request.protected === 1 &&
    markup`<div class="row"><label for="passphrase">${words.text('passphrase')}</label>
${serverPassphrase(view, markup` id="passphrase" name="request[passphrase]" autocomplete="off" required`)}</div>
`;
  const more = markup`
<details class="delete"${wrongToken && ' open'}><summary>${icon('unlocked')}${words.text('readAnswer')}</summary>
<form method="post" autocomplete="off">${onceField('request[once]')}
${wrongToken && problemBox(words.text('problemValue'))}
<div class="row"><label for="token">${words.text('apiToken')}</label>
${passphraseField(view, words.text('apiToken'), markup` id="token" name="request[api_token]" autocomplete="off" translate="no" required`)}</div>
${passphrase}<button class="wide">${words.text('showSecret')}</button>
</form>
</details>`;
  return message(view, 'check', ['answeredTitle', 'answeredText'], { status }, more);
}

/** Confirms that the answer has arrived. */
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

function bdi(text: string): Markup {
  return markup`<bdi translate="no">${text}</bdi>`;
}
