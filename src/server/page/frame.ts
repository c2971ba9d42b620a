import { icon } from './icons';
import { type Markup, markup } from './markup';

/**
 * A secret with its buttons, which need script as the veil does. One thing inside has the class `value`: its text is
 * what is copied. Browsers that translate pages send no text away that is marked so.
 */
export function frame(title: string, noun: string, content: Markup, copy = 'Copy'): Markup {
  return markup`<div class="secret">
<div class="bar"><h2>${title}</h2>
<button type="button" data-do="hide">${icon('hide')}Hide</button>
<button type="button" class="primary" data-do="copy">${icon('copy')}${icon('check', 'icon done')}${copy}</button></div>
<div class="box"><div class="content" translate="no">${content}</div>
<button type="button" class="veil" data-do="show"><span>${icon('eye')}Show the ${noun}</span></button></div>
<p class="status" role="status"></p>
</div>
`;
}

/** A remark that is no error. */
export function note(words: Markup | string): Markup {
  return markup`<p class="note">${icon('alert')}<span>${words}</span></p>
`;
}
