import { limits } from '../../contract/api';
import { refusalHead } from '../http/responses';
import type { Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import respondScript from './browser/respond-form.ts?script';
import { styling } from './encrypted';
import { fact, facts, heading, icon, PagePart, page, problemBox, type View } from './layout';
import { type Markup, markup } from './markup';
import { refusalWords } from './messages';
import { type PassphraseProblem, refusing, serverPassphrase } from './passphrase-form';
import { type Download, downloads } from './secret';
import { preformatted } from './secret-views';

const style = `
.asked{min-height:0;margin:.6rem 0 0}
.asked pre.value{max-height:40vh}
progress{display:block;height:.6rem;margin:0 0 1rem;accent-color:var(--accent)}
.respond .problem{margin:0 0 1rem}
.respond .note{margin:0 0 1rem}
.respond .status{margin:0 0 .6rem}
.respond .status:empty{margin:0}
`.replaceAll('\n', '');

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

/** An answer that was refused. */
export interface RefusedAnswer {
  readonly response: string;
  readonly refusal: Refusal;
}

/** Asks for the passphrase, or to press a button, before the question is shown. */
export function lockedPage(view: View, request: PushRow, problem?: PassphraseProblem): Response {
  const { words } = view;
  const locked = request.protected === 1;
  const title = words.text('requestTitle');
  const wrong = problem !== undefined && markup` aria-invalid="true" aria-describedby="problem"`;
  const field = markup`<div class="row"><label for="passphrase">${words.text('passphrase')}</label>
${serverPassphrase(view, markup` id="passphrase" name="request[passphrase]" autocomplete="off" required autofocus${wrong}`)}</div>`;
  const main = markup`<div class="body">
${heading('lock', title)}
<p class="quiet">${words.text(locked ? 'enterPassphrase' : 'pressToShow')}</p>
${problem !== undefined && problemBox(problem.text)}
<form method="post" autocomplete="off">
${locked ? field : markup`<input type="hidden" name="request[open]" value="1">`}
<button class="primary wide">${icon('eye')}${words.text('showRequest')}</button>
</form>
<p class="quiet">${words.text('requestUnexpected')}</p>
</div>
<div class="foot">
${timeLeft(view, request)}
</div>`;
  const headers = problem?.headers ?? {};
  return page(view, title, main, {
    status: problem?.status,
    headers,
    parts: locked ? refusing : [],
  });
}

/** The question, and a form for the answer. */
export function requestPage(view: View, shown: ShownRequest, refused?: RefusedAnswer): Response {
  const { words } = view;
  const { request, question, files, requestor } = shown;
  const title = words.text('requestTitle');
  const by = requestor === undefined ? '' : words.fill('requestFrom', { name: bdi(requestor) });
  const main = markup`<div class="body">
${heading('lock', title)}
<p class="quiet">${by} ${words.text('requestUnexpected')}</p>
<h2>${words.text('question')}</h2>
<div class="box asked"><div class="content" translate="no">${preformatted(question, words.text('question'))}</div></div>
${files.length > 0 && downloads(view, files, request)}
${answerForm(view, shown, refused)}
<template class="sent">${sentBody(view)}</template>
</div>
<div class="foot">
${timeLeft(view, request)}
</div>`;
  const head = refused ? refusalHead(refused.refusal) : {};
  return page(view, title, main, { parts: responding, fetches: true, ...head });
}

function answerForm(view: View, shown: ShownRequest, refused: RefusedAnswer | undefined): Markup {
  const { words } = view;
  const { request, passphrase, fileBytes } = shown;
  const withFiles = request.response_file_attachments === 1;
  const problem = refused && markup`<span>${answerProblem(view, shown, refused)}</span>`;
  const empty = words.text(withFiles ? 'problemTextOrFiles' : 'problemText');
  // A space for the alert, which the script fills.
  return markup`<form class="respond" method="post" autocomplete="off"${withFiles && markup` enctype="multipart/form-data"`} data-key="${request.public_key ?? ''}" data-busy="${words.text('encrypting')}" data-sending="${words.text('sending')}" data-failed="${words.text('sendFailed')}" data-damaged="${words.text('keyDamaged')}" data-empty="${empty}">
${passphrase !== '' && markup`<input type="hidden" name="request[passphrase]" value="${passphrase}">`}
<div class="row"><label for="response">${words.text('yourAnswer')}</label>
<textarea id="response" name="request[response]" rows="5" spellcheck="false" autocapitalize="off" translate="no"${!withFiles && ' required'} aria-describedby="answer-note problem">
${refused?.response ?? ''}</textarea></div>
${withFiles && fileRow(view, fileBytes)}
<p class="quiet" id="answer-note">${words.text('answerHint')}</p>
<p class="note encrypted" hidden>${icon('lock')}<span>${words.text('answerEncrypted')}</span></p>
<p class="note server-key" hidden>${icon('alert')}<span>${words.text('keyMissing')} ${words.text('answerServerKey')}</span></p>
<p class="note readable"${request.public_key !== null && ' hidden'}>${icon('alert')}<span>${words.text('answerReadable')}</span></p>
${request.public_key !== null && markup`<p class="note unscripted">${icon('alert')}<span>${words.text('answerUnencrypted')}</span></p>`}
<p class="problem" id="problem" role="alert"${problem === undefined && ' hidden'}>${icon('alert')}${problem ?? markup`<span></span>`}</p>
<p class="quiet status" role="status"></p>
<progress class="wide" hidden></progress>
<button class="primary wide">${icon('open')}${words.text('sendAnswer')}</button>
</form>`;
}

/** Too many and too large files are found before they are sent, where there is script. */
function fileRow({ words }: View, fileBytes: number): Markup {
  const most = limits.filesPerPush;
  const large = words.fill('problemFileTooLarge', { size: words.size(fileBytes) });
  return markup`<div class="row"><label for="files">${words.text('files')}</label>
<input type="file" multiple id="files" name="request[files][]" data-most="${most}" data-bytes="${fileBytes}" data-many="${words.count('problemFiles', most)}" data-large="${large}" aria-describedby="files-note">
<p class="hint" id="files-note">${words.count('filesLimit', most, { size: words.size(fileBytes) })}</p></div>`;
}

/** Why an answer was refused, in the words of the page. */
export function answerProblem(
  { words }: View,
  { request, fileBytes }: Pick<ShownRequest, 'request' | 'fileBytes'>,
  { response, refusal }: RefusedAnswer,
): Markup | string {
  const withFiles = request.response_file_attachments === 1;
  const textLimit = words.fill('problemTextTooLarge', { size: words.size(limits.textBytes) });
  if (refusal.kind === 'too_large')
    return withFiles
      ? words.fill('problemFileTooLarge', { size: words.size(fileBytes) })
      : textLimit;
  if (refusal.kind !== 'invalid') return words.text(refusalWords(refusal)[1]);
  if (refusal.fields.files && withFiles) return words.count('problemFiles', limits.filesPerPush);
  if (refusal.fields.files) return words.text('problemValue');
  if (response.trim() === '') return words.text(withFiles ? 'problemTextOrFiles' : 'problemText');
  return Buffer.byteLength(response) > limits.textBytes ? textLimit : words.text('problemValue');
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

/** For those who come after the answer. */
export function answeredPage(view: View, status: 200 | 409): Response {
  const { words } = view;
  const title = words.text('answeredTitle');
  const main = markup`<div class="body">
${heading('check', title)}
<p>${words.text('answeredText')}</p>
</div>`;
  return page(view, title, main, { status });
}

function timeLeft({ words, now }: View, { expires_at }: PushRow): Markup {
  const when = words.fill('expires', { when: words.when(expires_at - now) });
  return facts(fact('clock', when, words.date(expires_at)));
}

function bdi(text: string): Markup {
  return markup`<bdi translate="no">${text}</bdi>`;
}
