import { limits } from '../../contract/api';
import type { View } from './layout';
import { type Markup, markup } from './markup';

// The limits of texts and files in the forms that create a push and answer a request, and the words for them.

/** Too many and too large files are found before they are sent, where there is script. */
export function filePicker(view: View, fileBytes: number, attributes: Markup): Markup {
  return markup`<input type="file" multiple data-most="${limits.filesPerPush}" data-bytes="${fileBytes}" data-many="${tooManyFiles(view)}" data-large="${fileTooLarge(view, fileBytes)}"${attributes}>`;
}

export function filesHint({ words }: View, fileBytes: number): Markup {
  return words.count('filesLimit', limits.filesPerPush, { size: words.size(fileBytes) });
}

export function tooManyFiles({ words }: View): Markup {
  return words.count('problemFiles', limits.filesPerPush);
}

export function fileTooLarge({ words }: View, fileBytes: number): Markup {
  return words.fill('problemFileTooLarge', { size: words.size(fileBytes) });
}

export function textTooLarge({ words }: View): Markup {
  return words.fill('problemTextTooLarge', { size: words.size(limits.textBytes) });
}

/** Why a text was refused. */
export function textProblem(view: View, text: string, withFiles: boolean): Markup | string {
  if (text.trim() === '') return view.words.text(withFiles ? 'problemTextOrFiles' : 'problemText');
  if (Buffer.byteLength(text) > limits.textBytes) return textTooLarge(view);
  return view.words.text('problemValue');
}
