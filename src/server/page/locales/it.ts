import type { Strings } from './en';

export const strings: Strings = {
  footer: 'I segreti vengono crittografati ed eliminati alla scadenza del link.',
  contact: 'Domande? Contatto: {contact}.',
  previewText: 'Questo link scade dopo un certo numero di visualizzazioni o di giorni.',
  sharedTitle: 'Un segreto è stato condiviso con Lei',
  pressToShow: 'Prema il pulsante per visualizzarlo.',
  enterPassphrase:
    'Inserisca la passphrase comunicata dal mittente, magari per telefono o in un altro messaggio.',
  unexpected: 'Non se lo aspettava? Chieda conferma al mittente prima di aprirlo.',
  passphrase: 'Passphrase',
  showPassphrase: 'Mostra la passphrase',
  hidePassphrase: 'Nascondi la passphrase',
  showSecret: 'Mostra il segreto',
  passphraseMissing: 'Inserisca la passphrase.',
  passphraseWrong: 'Passphrase errata.',
  passphraseWrongLeft: {
    one: 'Passphrase errata. Per ora resta {count} tentativo.',
    many: 'Passphrase errata. Per ora restano {count} di tentativi.',
    other: 'Passphrase errata. Per ora restano {count} tentativi.',
  },
  passphraseWrongWait: 'Passphrase errata. Attenda un minuto prima di riprovare.',
  passphraseTooOften: 'Troppi tentativi. Riprovi {when}.',
  passphraseIsKey:
    'Questa è la chiave di un segreto crittografato, non una passphrase. Non è stata inviata: questo server non deve vederla.',
  viewsLeft: {
    one: 'Resta {count} visualizzazione.',
    many: 'Restano {count} di visualizzazioni.',
    other: 'Restano {count} visualizzazioni.',
  },
  openingUsesOne: 'L’apertura del segreto ne consuma una.',
  openingUsesLast: 'L’apertura del segreto la consuma: prepari un luogo sicuro in cui conservarlo.',
  reloadingUsesOne: 'Ricaricare questa pagina ne consuma una.',
  expires: 'Scade {when}.',
  lastView: 'Questa era l’ultima visualizzazione.',
  lastViewText:
    'Il segreto è stato eliminato dal server. Questa pagina ne è l’unica copia e non può essere ricaricata.',
  lastViewFiles:
    'Questa pagina non può essere ricaricata. I file verranno eliminati alla scadenza dei pulsanti di download.',
  secretTitle: 'Il segreto',
  filesTitle: {
    one: 'È stato condiviso {count} file con Lei',
    many: 'Sono stati condivisi {count} di file con Lei',
    other: 'Sono stati condivisi {count} file con Lei',
  },
  keepSafe: 'Lo conservi in un luogo sicuro prima di lasciare questa pagina.',
  closeWhenDone: 'Al termine, chiuda questa pagina. Chiunque la veda vede anche il segreto.',
  saveFiles: 'Salvi i file prima di lasciare questa pagina.',
  text: 'Testo',
  message: 'Messaggio',
  link: 'Link',
  qrCode: 'Codice QR',
  qrText: 'Testo del codice QR',
  showText: 'Mostra il testo',
  showMessage: 'Mostra il messaggio',
  showLink: 'Mostra il link',
  showQrCode: 'Mostra il codice QR',
  hide: 'Nascondi',
  copy: 'Copia',
  copyText: 'Copia il testo',
  copied: 'Copiato negli appunti.',
  copyFailed:
    'Il browser non ha consentito la copia. Ora il testo è selezionato: lo copi con la tastiera o dal menu.',
  nullCharacters:
    'Il testo contiene caratteri nulli, che una pagina non può mostrare. Vengono visualizzati e copiati come {sign}. Per il testo esatto, usi {command}.',
  leadsTo: 'Questo link porta a {host}',
  linkSignIn: 'La parte prima della @ contiene dati di accesso. Non indica dove porta il link.',
  linkUnencrypted:
    'La connessione a questo sito non è crittografata. Altri potrebbero leggere ciò che viene inviato.',
  linkLetters:
    'Il nome di questo sito contiene lettere diverse da quelle dalla a alla z, e alcune lettere si somigliano. I computer scrivono un nome di questo tipo con {prefix} all’inizio.',
  openInNewTab: 'Apri in una nuova scheda',
  qrTooLong: 'Questo testo doveva essere un codice QR, ma è troppo lungo.',
  download: 'Scarica',
  downloadFile: 'Scarica {name}',
  downloadAll: 'Scarica tutto',
  downloadsUntil:
    'I pulsanti di download funzionano fino alle ore {time}. I download già avviati proseguono anche dopo.',
  downloadsLeft:
    'I pulsanti di download funzionano ancora per {time}. I download già avviati proseguono anche dopo.',
  downloadsExpired: 'I pulsanti di download sono scaduti.',
  downloadsExpiredReload:
    'I pulsanti di download sono scaduti. Ricarichi questa pagina per ottenerne di nuovi. L’operazione consuma una visualizzazione.',
  deleteSecret: 'Elimina subito il segreto',
  deleteWarning: 'Il link smetterà di funzionare per tutti. L’operazione non può essere annullata.',
  deleteForEveryone: 'Elimina per tutti',
  deletedTitle: 'Il segreto è stato eliminato',
  deletedText: 'Il link non funziona più e del segreto non viene conservato nulla.',
  closePage: 'Può chiudere questa pagina.',
  goneTitle: 'Questo link non è più disponibile',
  goneText:
    'È scaduto, è stato eliminato oppure non è mai esistito. Non specifichiamo quale sia il caso, affinché i link non possano essere indovinati.',
  goneAdvice:
    'Chieda al mittente un nuovo link. Se l’ha ricevuto in un messaggio, verifichi di averlo copiato per intero.',
  forbiddenTitle: 'Operazione non consentita',
  foreignForm:
    'Questo modulo è stato inviato da un altro sito. Apra il link direttamente e prema il pulsante in quella pagina.',
  usersOnly: 'Solo gli utenti di questa istanza possono aprirne i segreti, tramite l’API.',
  notDeletable: 'Solo il mittente può eliminare questo segreto.',
  tooLargeTitle: 'Dimensioni eccessive',
  tooLargeText: 'I dati inviati superano le dimensioni ammesse da questa istanza.',
  tooManyTitle: 'Troppe richieste',
  tooManyText: 'Ha inviato più richieste di quante questa istanza ne accetti in una volta.',
  busyTitle: 'Il servizio è sovraccarico',
  busyText: 'Al momento non può rispondere a questa richiesta.',
  fullTitle: 'Spazio esaurito',
  fullText: 'Questa istanza non ha abbastanza spazio su disco per nuovi segreti.',
  invalidTitle: 'Operazione non riuscita',
  invalidText: 'La richiesta non è valida. Torni indietro e riprovi.',
  errorTitle: 'Si è verificato un errore',
  errorText:
    'Il servizio non ha potuto rispondere a questa richiesta. Il motivo è indicato nel suo log.',
  tryAgain: 'Riprova',
  tryAgainIn: 'Riprovi {when}.',
  frontTitle: 'Condividere un segreto con un link che scade',
  frontText:
    'Inserisca una password, una chiave o qualsiasi altro testo. Otterrà un link che smette di funzionare dopo il numero di visualizzazioni o di giorni scelto.',
  frontTextFiles:
    'Inserisca un testo o scelga dei file. Otterrà un link che smette di funzionare dopo il numero di visualizzazioni o di giorni scelto.',
  frontTextUsers:
    'I segreti di questa istanza vengono crittografati ed eliminati dopo un certo numero di visualizzazioni o di giorni.',
  secretText: 'Testo segreto',
  files: 'File',
  filesLimit: {
    one: 'Fino a {count} file da {size}.',
    many: 'Fino a {count} di file da {size} ciascuno.',
    other: 'Fino a {count} file da {size} ciascuno.',
  },
  views: 'Numero di visualizzazioni',
  days: 'Numero di giorni',
  passphraseOptional: 'Passphrase (facoltativa)',
  passphraseHint: 'Serve al destinatario per aprire il segreto. Non la invii insieme al link.',
  createLink: 'Crea link',
  receivedTitle: 'Ha ricevuto un link?',
  receivedText: 'Lo apra così come l’ha ricevuto. Inizia con {address}.',
  cliTitle: 'Dalla riga di comando',
  cliText: 'Il programma si installa una sola volta. Chiede il segreto e mostra il link.',
  cliTextUsers:
    'Installi il programma una sola volta e acceda con il Suo token. In seguito chiederà il segreto e mostrerà il link.',
  problemText: 'Inserisca un testo.',
  problemTextOrFiles: 'Inserisca un testo o scelga dei file.',
  problemTextTooLarge: 'Il testo è troppo lungo. Il limite è {size}.',
  problemNumber: 'Inserisca un numero intero da {min} a {max}.',
  problemPassphrase: {
    one: 'La passphrase è troppo lunga. Il limite è di {count} carattere.',
    many: 'La passphrase è troppo lunga. Il limite è di {count} di caratteri.',
    other: 'La passphrase è troppo lunga. Il limite è di {count} caratteri.',
  },
  problemFiles: {
    one: 'Scelga al massimo {count} file.',
    many: 'Scelga al massimo {count} di file.',
    other: 'Scelga al massimo {count} file.',
  },
  problemFileTooLarge: 'Un file è troppo grande. Il limite è {size}.',
  problemValue: 'Questo valore non è valido.',
  problemFilesAgain: 'Scelga di nuovo i file.',
  problemPassphraseAgain: 'Inserisca di nuovo la passphrase.',
  createdTitle: 'Il Suo link è pronto',
  createdText: 'Lo invii al destinatario. Chiunque lo possieda può aprire il segreto.',
  createdPassphrase:
    'Lo invii al destinatario. Gli comunichi la passphrase con un altro mezzo, ad esempio per telefono.',
  createdHint:
    'Lo copi adesso: questa pagina non può essere ricaricata. L’apertura del link consuma una visualizzazione.',
  yourLink: 'Il Suo link',
  qrOfLink: 'Codice QR del link',
  createAnother: 'Crea un altro link',
  encryptInBrowser:
    'Crittografa nel browser, in modo che questo server non possa leggere il contenuto',
  encrypting: 'Crittografia in corso…',
  enterKeyWords:
    'Questo segreto è crittografato. Inserisca le parole della chiave comunicate dal mittente.',
  keyWords: 'Parole della chiave',
  keyMissing: 'Il link è incompleto: manca la parte dopo #. Chieda al mittente il link completo.',
  keyDamaged:
    'Il link è danneggiato: la parte dopo # non è corretta. Chieda al mittente il link completo.',
  keyWrong: 'Non si apre con questa chiave.',
  secretDamaged: 'Il segreto crittografato è danneggiato o incompleto.',
  decrypting: 'Decrittografia in corso…',
  decrypt: 'Decrittografa',
  decryptWithAge: 'Lo apra con age: {command}',
  decryptNoScript:
    'Contenuto crittografato. Lo apra in un browser con JavaScript oppure con: {command}',
  openTitle: 'Aprire un segreto crittografato',
  openText: 'Incolli un segreto crittografato e la relativa chiave. Non lasciano il Suo browser.',
  encryptedSecret: 'Segreto crittografato',
  key: 'Chiave',
  requestTitle: 'Qualcuno Le chiede un segreto',
  requestFrom: 'Richiesta di {name}.',
  requestUnexpected:
    'Non se lo aspettava? Verifichi, per esempio per telefono, che la richiesta venga dalla persona che Lei pensa.',
  showRequest: 'Mostra la richiesta',
  question: 'Che cosa Le viene chiesto',
  yourAnswer: 'La Sua risposta',
  answerHint:
    'Può rispondere una sola volta. Il richiedente può leggere la risposta una volta; poi viene eliminata.',
  answerEncrypted:
    'La Sua risposta viene crittografata in questo browser. Solo il richiedente può decrittografarla.',
  answerUnencrypted:
    'Senza JavaScript la risposta viene inviata non crittografata a questo server, che potrebbe leggerla.',
  answerServerKey:
    'Senza quella parte, la Sua risposta viene crittografata con la chiave del server stesso, e chi lo gestisce potrebbe leggerla.',
  answerReadable:
    'La Sua risposta non viene crittografata in questo browser. Chi gestisce questo server può leggerla.',
  sendAnswer: 'Invia la risposta',
  sending: 'Invio in corso…',
  sendFailed: 'La risposta non è stata inviata. Controlli la connessione e riprovi.',
  sentTitle: 'La Sua risposta è stata inviata',
  sentText: 'Il richiedente ora può leggerla.',
  answeredTitle: 'A questa richiesta è già stata data una risposta',
  answeredText:
    'Una richiesta accetta una sola risposta. Se la risposta non era Sua, avvisi il richiedente.',
};
