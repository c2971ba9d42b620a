import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Geheimnisse werden verschlüsselt und gelöscht, sobald der Link abläuft.',
  contact: 'Fragen? Kontakt: {contact}.',
  previewText: 'Dieser Link läuft nach einer bestimmten Anzahl von Aufrufen oder Tagen ab.',
  sharedTitle: 'Ein Geheimnis wurde mit Ihnen geteilt',
  pressToShow: 'Klicken Sie auf die Schaltfläche, um es anzuzeigen.',
  enterPassphrase:
    'Geben Sie die Passphrase ein, die Sie vom Absender erhalten haben, vielleicht telefonisch oder in einer anderen Nachricht.',
  unexpected: 'Kommt das unerwartet? Fragen Sie beim Absender nach, bevor Sie es öffnen.',
  passphrase: 'Passphrase',
  showPassphrase: 'Passphrase anzeigen',
  hidePassphrase: 'Passphrase verbergen',
  showSecret: 'Geheimnis anzeigen',
  passphraseMissing: 'Geben Sie die Passphrase ein.',
  passphraseWrong: 'Falsche Passphrase.',
  passphraseWrongLeft: {
    one: 'Falsche Passphrase. Vorerst bleibt {count} Versuch.',
    other: 'Falsche Passphrase. Vorerst bleiben {count} Versuche.',
  },
  passphraseWrongWait: 'Falsche Passphrase. Warten Sie eine Minute, bevor Sie es erneut versuchen.',
  passphraseTooOften: 'Zu viele Versuche. Versuchen Sie es {when} erneut.',
  passphraseIsKey:
    'Das ist der Schlüssel eines verschlüsselten Geheimnisses, keine Passphrase. Er wurde nicht gesendet, denn dieser Server darf ihn nicht sehen.',
  viewsLeft: { one: 'Noch {count} Aufruf.', other: 'Noch {count} Aufrufe.' },
  openingUsesOne: 'Das Öffnen des Geheimnisses verbraucht einen Aufruf.',
  openingUsesLast:
    'Das Öffnen des Geheimnisses verbraucht ihn. Halten Sie daher einen sicheren Ort zum Speichern bereit.',
  reloadingUsesOne: 'Erneutes Laden dieser Seite verbraucht einen Aufruf.',
  expires: 'Läuft {when} ab.',
  lastView: 'Das war der letzte Aufruf.',
  lastViewText:
    'Das Geheimnis wurde vom Server gelöscht. Diese Seite ist die einzige Kopie und kann nicht erneut geladen werden.',
  lastViewFiles:
    'Diese Seite kann nicht erneut geladen werden. Die Dateien werden gelöscht, sobald die Download-Schaltflächen ablaufen.',
  secretTitle: 'Das Geheimnis',
  filesTitle: {
    one: '{count} Datei wurde mit Ihnen geteilt',
    other: '{count} Dateien wurden mit Ihnen geteilt',
  },
  keepSafe: 'Speichern Sie es an einem sicheren Ort, bevor Sie diese Seite verlassen.',
  closeWhenDone:
    'Schließen Sie diese Seite, wenn Sie fertig sind. Wer sie sieht, sieht auch das Geheimnis.',
  saveFiles: 'Speichern Sie die Dateien, bevor Sie diese Seite verlassen.',
  text: 'Text',
  message: 'Nachricht',
  link: 'Link',
  qrCode: 'QR-Code',
  qrText: 'Text des QR-Codes',
  showText: 'Text anzeigen',
  showMessage: 'Nachricht anzeigen',
  showLink: 'Link anzeigen',
  showQrCode: 'QR-Code anzeigen',
  hide: 'Verbergen',
  copy: 'Kopieren',
  copyText: 'Text kopieren',
  copied: 'In die Zwischenablage kopiert.',
  copyFailed:
    'Der Browser hat das Kopieren nicht erlaubt. Der Text ist jetzt markiert: Kopieren Sie ihn mit der Tastatur oder über das Menü.',
  nullCharacters:
    'Der Text enthält Nullzeichen, die eine Webseite nicht darstellen kann. Sie werden als {sign} angezeigt und kopiert. Den genauen Text erhalten Sie mit {command}.',
  leadsTo: 'Dieser Link führt zu {host}',
  linkSignIn: 'Vor dem @ stehen Anmeldedaten. Sie sagen nichts darüber aus, wohin der Link führt.',
  linkUnencrypted:
    'Die Verbindung zu dieser Website ist nicht verschlüsselt. Andere können möglicherweise mitlesen, was gesendet wird.',
  linkLetters:
    'Der Name dieser Website enthält andere Buchstaben als a bis z, und manche Buchstaben sehen einander ähnlich. Computer schreiben einen solchen Namen mit {prefix} am Anfang.',
  openInNewTab: 'In neuem Tab öffnen',
  qrTooLong: 'Dieser Text sollte ein QR-Code sein, ist dafür aber zu lang.',
  download: 'Herunterladen',
  downloadFile: '{name} herunterladen',
  downloadAll: 'Alle herunterladen',
  downloadsUntil:
    'Die Download-Schaltflächen funktionieren bis {time}. Ein bereits begonnener Download läuft danach weiter.',
  downloadsLeft:
    'Die Download-Schaltflächen funktionieren noch {time} Minuten. Ein bereits begonnener Download läuft danach weiter.',
  downloadsExpired: 'Die Download-Schaltflächen sind abgelaufen.',
  downloadsExpiredReload:
    'Die Download-Schaltflächen sind abgelaufen. Laden Sie diese Seite erneut, um neue zu erhalten. Das verbraucht einen Aufruf.',
  deleteSecret: 'Geheimnis jetzt löschen',
  deleteWarning:
    'Der Link funktioniert dann für niemanden mehr. Das lässt sich nicht rückgängig machen.',
  deleteForEveryone: 'Für alle löschen',
  deletedTitle: 'Das Geheimnis wurde gelöscht',
  deletedText: 'Der Link funktioniert nicht mehr, und vom Geheimnis ist nichts mehr gespeichert.',
  closePage: 'Sie können diese Seite schließen.',
  goneTitle: 'Dieser Link ist nicht mehr verfügbar',
  goneText:
    'Er ist abgelaufen, wurde gelöscht oder hat nie existiert. Was davon zutrifft, verraten wir nicht, damit sich Links nicht erraten lassen.',
  goneAdvice:
    'Bitten Sie den Absender um einen neuen Link. Falls der Link in einer Nachricht stand, prüfen Sie, ob Sie ihn vollständig kopiert haben.',
  forbiddenTitle: 'Das ist nicht erlaubt',
  foreignForm:
    'Dieses Formular wurde von einer anderen Website gesendet. Öffnen Sie den Link selbst und klicken Sie dort auf die Schaltfläche.',
  usersOnly: 'Nur Benutzer dieser Instanz können deren Geheimnisse öffnen, und zwar über die API.',
  notDeletable: 'Nur der Absender kann dieses Geheimnis löschen.',
  tooLargeTitle: 'Zu groß',
  tooLargeText: 'Was Sie gesendet haben, ist größer, als diese Instanz zulässt.',
  tooManyTitle: 'Zu viele Anfragen',
  tooManyText: 'Sie haben mehr Anfragen gesendet, als diese Instanz auf einmal annimmt.',
  busyTitle: 'Der Dienst ist ausgelastet',
  busyText: 'Er kann diese Anfrage im Moment nicht beantworten.',
  fullTitle: 'Kein Speicherplatz mehr',
  fullText: 'Diese Instanz hat nicht genug Speicherplatz für neue Geheimnisse.',
  invalidTitle: 'Das hat nicht funktioniert',
  invalidText: 'Die Anfrage ist ungültig. Gehen Sie zurück und versuchen Sie es erneut.',
  errorTitle: 'Etwas ist schiefgegangen',
  errorText:
    'Der Dienst konnte diese Anfrage nicht beantworten. Der Grund steht in seinem Protokoll.',
  tryAgain: 'Erneut versuchen',
  tryAgainIn: 'Versuchen Sie es {when} erneut.',
  frontTitle: 'Ein Geheimnis über einen Link teilen, der abläuft',
  frontText:
    'Geben Sie ein Passwort, einen Schlüssel oder einen anderen Text ein. Sie erhalten einen Link, der nach der von Ihnen gewählten Anzahl von Aufrufen oder Tagen nicht mehr funktioniert.',
  frontTextFiles:
    'Geben Sie einen Text ein oder wählen Sie Dateien aus. Sie erhalten einen Link, der nach der von Ihnen gewählten Anzahl von Aufrufen oder Tagen nicht mehr funktioniert.',
  frontTextUsers:
    'Geheimnisse auf dieser Instanz werden verschlüsselt und nach einer bestimmten Anzahl von Aufrufen oder Tagen gelöscht.',
  secretText: 'Geheimer Text',
  files: 'Dateien',
  filesLimit: {
    one: 'Bis zu {count} Datei mit höchstens {size}.',
    other: 'Bis zu {count} Dateien mit je höchstens {size}.',
  },
  views: 'Anzahl der Aufrufe',
  days: 'Anzahl der Tage',
  passphraseOptional: 'Passphrase (optional)',
  passphraseHint:
    'Der Empfänger braucht sie, um das Geheimnis zu öffnen. Senden Sie sie nicht zusammen mit dem Link.',
  createLink: 'Link erstellen',
  receivedTitle: 'Haben Sie einen Link erhalten?',
  receivedText: 'Öffnen Sie ihn so, wie Sie ihn erhalten haben. Er beginnt mit {address}.',
  cliTitle: 'Auf der Kommandozeile',
  cliText:
    'Installieren Sie das Programm einmalig. Es fragt nach dem Geheimnis und gibt den Link aus.',
  cliTextUsers:
    'Installieren Sie das Programm einmalig und melden Sie sich mit Ihrem Token an. Danach fragt es nach dem Geheimnis und gibt den Link aus.',
  problemText: 'Geben Sie einen Text ein.',
  problemTextOrFiles: 'Geben Sie einen Text ein oder wählen Sie Dateien aus.',
  problemTextTooLarge: 'Der Text ist zu lang. Zulässig sind höchstens {size}.',
  problemNumber: 'Geben Sie eine ganze Zahl von {min} bis {max} ein.',
  problemPassphrase: {
    one: 'Die Passphrase ist zu lang. Zulässig ist höchstens {count} Zeichen.',
    other: 'Die Passphrase ist zu lang. Zulässig sind höchstens {count} Zeichen.',
  },
  problemFiles: {
    one: 'Wählen Sie höchstens {count} Datei aus.',
    other: 'Wählen Sie höchstens {count} Dateien aus.',
  },
  problemFileTooLarge: 'Eine Datei ist zu groß. Zulässig sind höchstens {size}.',
  problemValue: 'Dieser Wert ist ungültig.',
  problemFilesAgain: 'Wählen Sie die Dateien erneut aus.',
  problemPassphraseAgain: 'Geben Sie die Passphrase erneut ein.',
  createdTitle: 'Ihr Link ist fertig',
  createdText: 'Senden Sie ihn an den Empfänger. Wer den Link hat, kann das Geheimnis öffnen.',
  createdPassphrase:
    'Senden Sie ihn an den Empfänger. Teilen Sie ihm die Passphrase auf einem anderen Weg mit, zum Beispiel telefonisch.',
  createdHint:
    'Kopieren Sie ihn jetzt: Diese Seite kann nicht erneut geladen werden. Das Öffnen des Links verbraucht einen Aufruf.',
  yourLink: 'Ihr Link',
  qrOfLink: 'QR-Code des Links',
  createAnother: 'Weiteren Link erstellen',
  encryptInBrowser: 'Im Browser verschlüsseln, damit dieser Server den Inhalt nicht lesen kann',
  encrypting: 'Wird verschlüsselt …',
  enterKeyWords:
    'Dieses Geheimnis ist verschlüsselt. Geben Sie die Schlüsselwörter ein, die Sie vom Absender erhalten haben.',
  keyWords: 'Schlüsselwörter',
  keyMissing:
    'Der Link ist unvollständig: Der Teil nach # fehlt. Bitten Sie den Absender um den ganzen Link.',
  keyDamaged:
    'Der Link ist beschädigt: Der Teil nach # stimmt nicht. Bitten Sie den Absender um den ganzen Link.',
  keyWrong: 'Mit diesem Schlüssel lässt es sich nicht öffnen.',
  secretDamaged: 'Das verschlüsselte Geheimnis ist beschädigt oder unvollständig.',
  decrypting: 'Wird entschlüsselt …',
  decrypt: 'Entschlüsseln',
  decryptWithAge: 'Mit age öffnen: {command}',
  decryptNoScript:
    'Verschlüsselt. Öffnen Sie es in einem Browser mit JavaScript oder mit: {command}',
  openTitle: 'Verschlüsseltes Geheimnis öffnen',
  openText:
    'Fügen Sie ein verschlüsseltes Geheimnis und seinen Schlüssel ein. Beides verlässt Ihren Browser nicht.',
  encryptedSecret: 'Verschlüsseltes Geheimnis',
  key: 'Schlüssel',
  requestTitle: 'Jemand bittet Sie um ein Geheimnis',
  requestFrom: 'Anfrage von {name}.',
  requestUnexpected:
    'Kommt das unerwartet? Vergewissern Sie sich, zum Beispiel telefonisch, dass die Anfrage von der Person stammt, von der Sie es annehmen.',
  showRequest: 'Anfrage anzeigen',
  question: 'Worum Sie gebeten werden',
  yourAnswer: 'Ihre Antwort',
  answerHint:
    'Sie können nur einmal antworten. Wer Sie fragt, kann die Antwort einmal lesen; danach wird sie gelöscht.',
  answerEncrypted:
    'Ihre Antwort wird in diesem Browser verschlüsselt. Nur wer Sie fragt, kann sie entschlüsseln.',
  answerUnencrypted:
    'Ohne JavaScript wird die Antwort unverschlüsselt an diesen Server gesendet, der sie lesen könnte.',
  answerServerKey:
    'Ohne diesen Teil wird Ihre Antwort mit dem eigenen Schlüssel des Servers verschlüsselt, und wer den Server betreibt, könnte sie lesen.',
  answerReadable:
    'Ihre Antwort wird in diesem Browser nicht verschlüsselt. Wer diesen Server betreibt, kann sie lesen.',
  sendAnswer: 'Antwort senden',
  sending: 'Wird gesendet …',
  sendFailed:
    'Die Antwort wurde nicht gesendet. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.',
  sentTitle: 'Ihre Antwort wurde gesendet',
  sentText: 'Wer Sie gefragt hat, kann sie jetzt lesen.',
  answeredTitle: 'Diese Anfrage wurde bereits beantwortet',
  answeredText:
    'Eine Anfrage nimmt nur eine Antwort an. Wenn sie nicht von Ihnen war, sagen Sie demjenigen Bescheid, der gefragt hat.',
};
