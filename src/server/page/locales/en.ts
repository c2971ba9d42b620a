/*
 * All words of the pages. For translators:
 * - {name} is a placeholder: keep it as it is, anywhere in the sentence. Each appears once. There is no markup.
 * - `{ one, other }` are plural forms. Give exactly those of your language, as in
 *   `new Intl.PluralRules('ru').resolvedOptions().pluralCategories`; each form contains {count}.
 * - {when} is "in 7 days" or "in 5 seconds" in your language, {time} a time or date, {size} such as "100 MiB".
 * - Use the formal address where your language has one. Keep buttons short.
 */
const en = {
  // Every page
  footer: 'Secrets are encrypted and deleted when the link expires.',
  /** {contact} is an e-mail address, a web address or a name. */
  contact: 'Questions? Contact {contact}.',
  /** Below the title, where a chat shows a preview of the link. */
  previewText: 'This link expires after a number of views or days.',

  // Before the secret is shown: a button, or a passphrase field and a button
  sharedTitle: 'A secret was shared with you',
  pressToShow: 'Press the button to see it.',
  enterPassphrase:
    'Enter the passphrase that the sender gave you, perhaps by phone or in another message.',
  unexpected: 'Not expecting this? Ask the sender before you open it.',
  passphrase: 'Passphrase',
  /** Buttons in the passphrase field, read by screen readers. */
  showPassphrase: 'Show the passphrase',
  hidePassphrase: 'Hide the passphrase',
  /** A button. */
  showSecret: 'Show the secret',
  passphraseMissing: 'Enter the passphrase.',
  passphraseWrong: 'Wrong passphrase.',
  passphraseWrongLeft: {
    one: 'Wrong passphrase. {count} attempt left for now.',
    other: 'Wrong passphrase. {count} attempts left for now.',
  },
  passphraseWrongWait: 'Wrong passphrase. Wait a minute before you try again.',
  passphraseTooOften: 'Too many attempts. Try again {when}.',
  passphraseIsKey:
    'This is the key of an encrypted secret, not a passphrase. It was not sent: this server must not see it.',

  // How long the link works. "It" and "one" are the secret and a view.
  viewsLeft: { one: '{count} view left.', other: '{count} views left.' },
  openingUsesOne: 'Opening the secret uses one.',
  openingUsesLast: 'Opening the secret uses it, so have a safe place ready for it.',
  reloadingUsesOne: 'Loading this page again uses one.',
  /** {when} is "in 7 days". A date follows. */
  expires: 'Expires {when}.',
  lastView: 'That was the last view.',
  lastViewText:
    'The secret is deleted from the server. This page is the only copy, and it cannot be loaded again.',
  lastViewFiles:
    'This page cannot be loaded again. The files are deleted when the download buttons expire.',

  // The secret
  secretTitle: 'The secret',
  filesTitle: {
    one: '{count} file was shared with you',
    other: '{count} files were shared with you',
  },
  keepSafe: 'Keep it in a safe place before you leave this page.',
  closeWhenDone: 'Close this page when you are done. Anyone who sees it sees the secret.',
  saveFiles: 'Save the files before you leave this page.',
  /** Headings above each kind of content. */
  text: 'Text',
  message: 'Message',
  link: 'Link',
  qrCode: 'QR code',
  qrText: 'Text of the QR code',
  /** Buttons that uncover the content. */
  showText: 'Show the text',
  showMessage: 'Show the message',
  showLink: 'Show the link',
  showQrCode: 'Show the QR code',
  hide: 'Hide',
  copy: 'Copy',
  copyText: 'Copy text',
  copied: 'Copied to the clipboard.',
  copyFailed:
    'The browser did not allow copying. The text is now selected: copy it with the keyboard or the menu.',
  /** {sign} is a character, {command} a command to type. */
  nullCharacters:
    'The text contains null characters, which a page cannot show. They are shown and copied as {sign}. For the exact text use {command}.',
  leadsTo: 'This link leads to {host}',
  linkSignIn: 'The part before the @ is sign-in data. It does not say where the link leads.',
  linkUnencrypted: 'The connection to this site is not encrypted. Others may read what is sent.',
  /** {prefix} is "xn--". */
  linkLetters:
    'The name of this site has letters other than a to z, and some letters look alike. Computers write such a name with {prefix} at its beginning.',
  openInNewTab: 'Open in a new tab',
  qrTooLong: 'This text was meant to be a QR code, but it is too long for one.',
  download: 'Download',
  downloadFile: 'Download {name}',
  downloadAll: 'Download all',
  /** {time} is a time of day, such as 11:06:45 UTC. */
  downloadsUntil:
    'The download buttons work until {time}. A download that has started continues after that.',
  /** {time} is minutes and seconds, such as 4:59. */
  downloadsLeft:
    'The download buttons work for another {time}. A download that has started continues after that.',
  downloadsExpired: 'The download buttons have expired.',
  downloadsExpiredReload:
    'The download buttons have expired. Load this page again to get new ones. This uses a view.',
  deleteSecret: 'Delete the secret now',
  deleteWarning: 'The link stops working for everyone. This cannot be undone.',
  deleteForEveryone: 'Delete for everyone',
  deletedTitle: 'The secret is deleted',
  deletedText: 'The link no longer works, and nothing of the secret is kept.',
  closePage: 'You can close this page.',

  // Links that do not work, for whatever reason
  goneTitle: 'This link is no longer available',
  goneText:
    'It has expired, was deleted or never existed. We don’t say which, so that links cannot be guessed.',
  goneAdvice:
    'Ask the sender for a new link. If it came in a message, check that you copied all of it.',

  // What went wrong
  forbiddenTitle: 'This is not allowed',
  foreignForm:
    'This form was sent from another site. Open the link yourself and press the button there.',
  usersOnly: 'Only users of this instance can open its secrets, through the API.',
  notDeletable: 'Only the sender can delete this secret.',
  tooLargeTitle: 'Too large',
  tooLargeText: 'What you sent is larger than this instance accepts.',
  tooManyTitle: 'Too many requests',
  tooManyText: 'You sent more requests than this instance accepts at a time.',
  busyTitle: 'The service is busy',
  busyText: 'It cannot answer this request right now.',
  fullTitle: 'No space left',
  fullText: 'This instance does not have enough disk space for new secrets.',
  invalidTitle: 'That did not work',
  invalidText: 'The request is not valid. Go back and try again.',
  errorTitle: 'Something went wrong',
  errorText: 'The service could not answer this request. Its log says why.',
  /** A button, and the sentence above it. {when} is "in 5 seconds". */
  tryAgain: 'Try again',
  tryAgainIn: 'Try again {when}.',

  // The front page
  frontTitle: 'Share a secret as a link that expires',
  frontText:
    'Enter a password, a key or any other text. You get a link that stops working after the number of views or days you choose.',
  frontTextFiles:
    'Enter a text or choose files. You get a link that stops working after the number of views or days you choose.',
  frontTextUsers:
    'Secrets on this instance are encrypted, and deleted after a number of views or days.',
  secretText: 'Secret text',
  files: 'Files',
  filesLimit: {
    one: 'Up to {count} file of {size}.',
    other: 'Up to {count} files of {size} each.',
  },
  views: 'Number of views',
  days: 'Number of days',
  passphraseOptional: 'Passphrase (optional)',
  passphraseHint:
    'The recipient needs it to open the secret. Do not send it together with the link.',
  /** A button. */
  createLink: 'Create link',
  receivedTitle: 'Did you receive a link?',
  receivedText: 'Open it as you received it. It begins with {address}.',
  cliTitle: 'On the command line',
  cliText: 'Install it once. It asks for the secret and prints the link.',
  cliTextUsers:
    'Install it once and log in with your token. It then asks for the secret and prints the link.',

  // Problems with the form
  problemText: 'Enter a text.',
  problemTextOrFiles: 'Enter a text or choose files.',
  problemTextTooLarge: 'The text is too large. The limit is {size}.',
  problemNumber: 'Enter a whole number from {min} to {max}.',
  problemPassphrase: {
    one: 'The passphrase is too long. The limit is {count} character.',
    other: 'The passphrase is too long. The limit is {count} characters.',
  },
  problemFiles: { one: 'Choose at most {count} file.', other: 'Choose at most {count} files.' },
  problemFileTooLarge: 'A file is too large. The limit is {size}.',
  problemValue: 'This value is not valid.',
  /** Browsers forget both when the form is shown again. */
  problemFilesAgain: 'Choose the files again.',
  problemPassphraseAgain: 'Enter the passphrase again.',

  // The new link
  createdTitle: 'Your link is ready',
  createdText: 'Send it to the recipient. Anyone who has it can open the secret.',
  createdPassphrase:
    'Send it to the recipient. Give them the passphrase another way, for example by phone.',
  createdHint: 'Copy it now: this page cannot be loaded again. Opening the link uses a view.',
  yourLink: 'Your link',
  qrOfLink: 'QR code of the link',
  createAnother: 'Create another link',

  // Encryption in the browser
  encryptInBrowser: 'Encrypt in the browser, so that this server cannot read it',
  encrypting: 'Encrypting…',
  enterKeyWords: 'This secret is encrypted. Enter the key words that the sender gave you.',
  keyWords: 'Key words',
  keyMissing:
    'The link is incomplete: the part after # is missing. Ask the sender for the whole link.',
  keyDamaged: 'The link is damaged: the part after # is wrong. Ask the sender for the whole link.',
  keyWrong: 'That key does not open it.',
  secretDamaged: 'The encrypted secret is damaged or incomplete.',
  decrypting: 'Decrypting…',
  decrypt: 'Decrypt',
  /** {command} is a command to type. */
  decryptWithAge: 'Open it with age: {command}',
  decryptNoScript: 'Encrypted. Open it with a browser that has JavaScript, or with: {command}',
  openTitle: 'Open an encrypted secret',
  openText: 'Paste an encrypted secret and its key. They do not leave your browser.',
  encryptedSecret: 'Encrypted secret',
  key: 'Key',

  // A request: somebody asks the reader for a secret
  requestTitle: 'Somebody asks you for a secret',
  /** {name} is a person or a team. */
  requestFrom: 'Asked by {name}.',
  requestUnexpected:
    'Not expecting this? Make sure, for example by phone, that it comes from the person you think.',
  /** A button. */
  showRequest: 'Show the request',
  /** Headings of what is asked for, and of the field below it. */
  question: 'What is asked for',
  yourAnswer: 'Your answer',
  answerHint:
    'You can answer once. The person who asked can read the answer once; then it is deleted.',
  answerEncrypted:
    'Your answer is encrypted in this browser. Only the person who asked can decrypt it.',
  answerUnencrypted:
    'Without JavaScript the answer is sent unencrypted to this server, which could read it.',
  /** After "The link is incomplete: the part after # is missing. Ask the sender for the whole link." */
  answerServerKey:
    'Without that part, your answer is encrypted with the server’s own key, and the person who runs the server could read it.',
  answerReadable:
    'Your answer is not encrypted in this browser. The person who runs this server can read it.',
  /** A button. */
  sendAnswer: 'Send answer',
  sending: 'Sending…',
  sendFailed: 'The answer was not sent. Check your connection and try again.',
  sentTitle: 'Your answer was sent',
  sentText: 'The person who asked can now read it.',
  answeredTitle: 'This request was already answered',
  answeredText:
    'A request takes only one answer. If the answer was not yours, tell the person who asked.',
} as const;

/** A phrase for each plural category of a language (Unicode CLDR), with the number as {count}. */
export type PluralForms = Readonly<
  Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }
>;

type English = typeof en;

/** The phrases, and those with plural forms. */
export type PhraseKey = {
  [Key in keyof English]: English[Key] extends string ? Key : never;
}[keyof English];
export type PluralKey = Exclude<keyof English, PhraseKey>;

/** The words of all pages in one language. */
export type Strings = Readonly<Record<PhraseKey, string> & Record<PluralKey, PluralForms>>;

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The placeholders of a phrase. */
export type Placeholder<Key extends keyof English> = NamesIn<
  English[Key] extends string ? English[Key] : English[Key][keyof English[Key]]
>;

export const strings: Strings = en;
