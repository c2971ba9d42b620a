import type { Strings } from './en';

export const strings: Strings = {
  footer: '機密情報は暗号化され、リンクの有効期限が切れると削除されます。',
  contact: 'お問い合わせ先：{contact}',
  previewText: 'このリンクは、一定の閲覧回数または日数で無効になります。',
  sharedTitle: '機密情報が共有されました',
  pressToShow: 'ボタンを押すと表示されます。',
  enterPassphrase: '送信者から電話や別のメッセージなどで伝えられたパスフレーズを入力してください。',
  unexpected: '心当たりがない場合は、開く前に送信者に確認してください。',
  passphrase: 'パスフレーズ',
  showPassphrase: 'パスフレーズを表示',
  hidePassphrase: 'パスフレーズを隠す',
  showSecret: '機密情報を表示',
  passphraseMissing: 'パスフレーズを入力してください。',
  passphraseWrong: 'パスフレーズが違います。',
  passphraseWrongLeft: {
    other: 'パスフレーズが違います。現時点であと {count} 回試せます。',
  },
  passphraseWrongWait: 'パスフレーズが違います。1 分待ってからもう一度お試しください。',
  passphraseTooOften: '試行回数が多すぎます。{when}にもう一度お試しください。',
  passphraseIsKey:
    'これは暗号化された機密情報の鍵で、パスフレーズではありません。このサーバーに知られてはならないため、送信しませんでした。',
  viewsLeft: { other: 'あと {count} 回閲覧できます。' },
  openingUsesOne: '機密情報を開くと、閲覧回数を 1 回消費します。',
  openingUsesLast:
    '機密情報を開くと、この 1 回を消費します。安全な保管場所を用意してから開いてください。',
  reloadingUsesOne: 'このページを再読み込みすると、閲覧回数を 1 回消費します。',
  expires: '{when}に有効期限が切れます。',
  lastView: 'これが最後の閲覧でした。',
  lastViewText:
    '機密情報はサーバーから削除されました。残っているのはこのページだけで、再読み込みはできません。',
  lastViewFiles:
    'このページは再読み込みできません。ファイルは、ダウンロードボタンの有効期限が切れると削除されます。',
  secretTitle: '機密情報',
  filesTitle: { other: '{count} 個のファイルが共有されました' },
  keepSafe: 'このページを離れる前に、安全な場所に保管してください。',
  closeWhenDone:
    '用が済んだら、このページを閉じてください。このページを見た人には機密情報も見えてしまいます。',
  saveFiles: 'このページを離れる前に、ファイルを保存してください。',
  text: 'テキスト',
  message: 'メッセージ',
  link: 'リンク',
  qrCode: 'QR コード',
  qrText: 'QR コードのテキスト',
  showText: 'テキストを表示',
  showMessage: 'メッセージを表示',
  showLink: 'リンクを表示',
  showQrCode: 'QR コードを表示',
  hide: '隠す',
  copy: 'コピー',
  copyText: 'テキストをコピー',
  copied: 'クリップボードにコピーしました。',
  copyFailed:
    'ブラウザーがコピーを許可しませんでした。テキストが選択されているので、キーボードまたはメニューからコピーしてください。',
  nullCharacters:
    'このテキストには、ページに表示できないヌル文字が含まれています。表示とコピーでは {sign} に置き換えられます。正確なテキストが必要な場合は {command} を使用してください。',
  leadsTo: 'このリンクの接続先：{host}',
  linkSignIn: '@ より前の部分はサインイン用の情報であり、リンクの接続先を示すものではありません。',
  linkUnencrypted:
    'このサイトへの接続は暗号化されていません。送信した内容が第三者に読まれるおそれがあります。',
  linkLetters:
    'このサイトの名前には a～z 以外の文字が含まれています。文字の中には、互いによく似たものがあります。このような名前は、コンピューター上では先頭に {prefix} を付けて表記されます。',
  openInNewTab: '新しいタブで開く',
  qrTooLong: 'このテキストは QR コードとして共有されましたが、長すぎるため QR コードにできません。',
  download: 'ダウンロード',
  downloadFile: '{name} をダウンロード',
  downloadAll: 'すべてダウンロード',
  downloadsUntil:
    'ダウンロードボタンは {time} まで有効です。開始済みのダウンロードは、その後も続行されます。',
  downloadsLeft:
    'ダウンロードボタンの残り有効時間は {time} です。開始済みのダウンロードは、その後も続行されます。',
  downloadsExpired: 'ダウンロードボタンの有効期限が切れました。',
  downloadsExpiredReload:
    'ダウンロードボタンの有効期限が切れました。新しいボタンを表示するには、このページを再読み込みしてください。閲覧回数を 1 回消費します。',
  deleteSecret: '機密情報を今すぐ削除',
  deleteWarning: 'リンクは誰も使えなくなります。この操作は元に戻せません。',
  deleteForEveryone: '全員に対して削除',
  deletedTitle: '機密情報を削除しました',
  deletedText: 'リンクは無効になり、機密情報は一切残っていません。',
  closePage: 'このページは閉じてかまいません。',
  goneTitle: 'このリンクは利用できません',
  goneText:
    '有効期限が切れたか、削除されたか、もともと存在しないリンクです。リンクを推測されないように、どれに該当するかはお知らせしていません。',
  goneAdvice:
    '送信者に新しいリンクを依頼してください。メッセージで受け取った場合は、リンク全体をコピーしたか確認してください。',
  forbiddenTitle: 'この操作は許可されていません',
  foreignForm:
    'このフォームは別のサイトから送信されました。ご自身でリンクを開き、そのページのボタンを押してください。',
  usersOnly: 'このインスタンスの機密情報は、インスタンスのユーザーだけが API 経由で開けます。',
  notDeletable: 'この機密情報を削除できるのは送信者だけです。',
  tooLargeTitle: 'サイズが大きすぎます',
  tooLargeText: '送信された内容が、このインスタンスで受け付けられるサイズを超えています。',
  tooManyTitle: 'リクエストが多すぎます',
  tooManyText: 'このインスタンスが一度に受け付けられる数を超えるリクエストが送信されました。',
  busyTitle: 'サービスが混み合っています',
  busyText: '現在、このリクエストに応答できません。',
  fullTitle: '空き容量がありません',
  fullText: 'このインスタンスには、新しい機密情報を保存するためのディスク容量が足りません。',
  invalidTitle: '処理できませんでした',
  invalidText: 'リクエストが正しくありません。前のページに戻り、もう一度お試しください。',
  errorTitle: '問題が発生しました',
  errorText:
    'サービスはこのリクエストに応答できませんでした。原因はサービスのログに記録されています。',
  tryAgain: '再試行',
  tryAgainIn: '{when}にもう一度お試しください。',
  frontTitle: '期限付きのリンクで機密情報を共有',
  frontText:
    'パスワードや鍵などのテキストを入力してください。指定した閲覧回数または日数で無効になるリンクが作成されます。',
  frontTextFiles:
    'テキストを入力するか、ファイルを選択してください。指定した閲覧回数または日数で無効になるリンクが作成されます。',
  frontTextUsers:
    'このインスタンスの機密情報は暗号化され、一定の閲覧回数または日数で削除されます。',
  secretText: '機密テキスト',
  files: 'ファイル',
  filesLimit: { other: '最大 {count} 個、1 個あたり {size} まで。' },
  views: '閲覧回数',
  days: '有効日数',
  passphraseOptional: 'パスフレーズ（任意）',
  passphraseHint: '受信者が機密情報を開くために必要です。リンクと一緒に送らないでください。',
  createLink: 'リンクを作成',
  receivedTitle: 'リンクを受け取った場合',
  receivedText: '受け取ったリンクをそのまま開いてください。リンクは {address} で始まります。',
  cliTitle: 'コマンドラインで使う',
  cliText:
    '最初に一度だけインストールします。実行すると、機密情報の入力を求められ、リンクが表示されます。',
  cliTextUsers:
    '最初に一度だけインストールし、トークンでログインします。その後は、機密情報の入力を求められ、リンクが表示されます。',
  problemText: 'テキストを入力してください。',
  problemTextOrFiles: 'テキストを入力するか、ファイルを選択してください。',
  problemTextTooLarge: 'テキストが大きすぎます。上限は {size} です。',
  problemNumber: '{min}～{max} の整数を入力してください。',
  problemPassphrase: { other: 'パスフレーズが長すぎます。上限は {count} 文字です。' },
  problemFiles: { other: '選択できるファイルは {count} 個までです。' },
  problemFileTooLarge: '大きすぎるファイルがあります。上限は {size} です。',
  problemValue: 'この値は正しくありません。',
  problemFilesAgain: 'ファイルをもう一度選択してください。',
  problemPassphraseAgain: 'パスフレーズをもう一度入力してください。',
  createdTitle: 'リンクを作成しました',
  createdText: '受信者に送ってください。このリンクを知っている人は誰でも機密情報を開けます。',
  createdPassphrase: '受信者に送ってください。パスフレーズは、電話など別の方法で伝えてください。',
  createdHint:
    '今すぐコピーしてください。このページは再読み込みできません。リンクを開くと、閲覧回数を 1 回消費します。',
  yourLink: '作成したリンク',
  qrOfLink: 'リンクの QR コード',
  createAnother: '別のリンクを作成',
  encryptInBrowser: 'このサーバーに読まれないように、ブラウザー内で暗号化する',
  encrypting: '暗号化しています…',
  enterKeyWords:
    'この機密情報は暗号化されています。送信者から伝えられた鍵の単語を入力してください。',
  keyWords: '鍵の単語',
  keyMissing:
    'リンクが不完全です。# より後の部分がありません。送信者にリンク全体を送ってもらってください。',
  keyDamaged:
    'リンクが壊れています。# より後の部分が正しくありません。送信者にリンク全体を送ってもらってください。',
  keyWrong: 'この鍵では開けません。',
  secretDamaged: '暗号化された機密情報が破損しているか、不完全です。',
  decrypting: '復号しています…',
  decrypt: '復号',
  decryptWithAge: 'age で開く：{command}',
  decryptNoScript:
    '暗号化されています。JavaScript が有効なブラウザーまたは次のコマンドで開いてください：{command}',
  openTitle: '暗号化された機密情報を開く',
  openText:
    '暗号化された機密情報とその鍵を貼り付けてください。どちらもブラウザーの外には送信されません。',
  encryptedSecret: '暗号化された機密情報',
  key: '鍵',
  requestTitle: '機密情報の提供を求められています',
  requestFrom: '依頼者: {name}',
  requestUnexpected:
    '心当たりがない場合は、本当に思い当たる相手からの依頼かどうかを、電話などで確認してください。',
  showRequest: '依頼を表示',
  question: '依頼の内容',
  yourAnswer: '回答',
  answerHint:
    '回答できるのは1回だけです。依頼者は回答を1回だけ読むことができ、その後、回答は削除されます。',
  answerEncrypted: '回答はこのブラウザー内で暗号化されます。復号できるのは依頼者だけです。',
  answerUnencrypted:
    'JavaScriptが無効な場合、回答は暗号化されずにこのサーバーに送信され、サーバーが読み取ることができます。',
  answerServerKey:
    'この部分がないと、回答はサーバー自身の鍵で暗号化され、サーバーの運営者が読み取ることができます。',
  answerReadable:
    '回答はこのブラウザー内では暗号化されません。このサーバーの運営者が読み取ることができます。',
  sendAnswer: '回答を送信',
  sending: '送信しています…',
  sendFailed: '回答は送信されませんでした。接続を確認して、もう一度お試しください。',
  sentTitle: '回答を送信しました',
  sentText: '依頼者が読めるようになりました。',
  answeredTitle: 'この依頼はすでに回答済みです',
  answeredText:
    '1件の依頼に回答できるのは1回だけです。ご自身の回答でない場合は、依頼者に知らせてください。',
};
