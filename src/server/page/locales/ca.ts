import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Els secrets es xifren i se suprimeixen quan l’enllaç caduca.',
  contact: 'Teniu preguntes? Contacte: {contact}.',
  previewText: 'Aquest enllaç caduca al cap d’un nombre determinat de visualitzacions o de dies.',
  sharedTitle: 'S’ha compartit un secret amb vós',
  pressToShow: 'Premeu el botó per a veure’l.',
  enterPassphrase:
    'Introduïu la frase de contrasenya que us ha donat el remitent, potser per telèfon o en un altre missatge.',
  unexpected: 'No l’esperàveu? Consulteu-ho amb el remitent abans d’obrir-lo.',
  passphrase: 'Frase de contrasenya',
  showPassphrase: 'Mostra la frase de contrasenya',
  hidePassphrase: 'Amaga la frase de contrasenya',
  showSecret: 'Mostra el secret',
  passphraseMissing: 'Introduïu la frase de contrasenya.',
  passphraseWrong: 'La frase de contrasenya és incorrecta.',
  passphraseWrongLeft: {
    one: 'La frase de contrasenya és incorrecta. De moment us queda {count} intent.',
    many: 'La frase de contrasenya és incorrecta. De moment us queden {count} d’intents.',
    other: 'La frase de contrasenya és incorrecta. De moment us queden {count} intents.',
  },
  passphraseWrongWait:
    'La frase de contrasenya és incorrecta. Espereu un minut abans de tornar-ho a provar.',
  passphraseTooOften: 'Massa intents. Torneu-ho a provar {when}.',
  passphraseIsKey:
    'Això és la clau d’un secret xifrat, no una frase de contrasenya. No s’ha enviat: aquest servidor no l’ha de veure.',
  viewsLeft: {
    one: 'Queda {count} visualització.',
    many: 'Queden {count} de visualitzacions.',
    other: 'Queden {count} visualitzacions.',
  },
  openingUsesOne: 'Obrir el secret en consumeix una.',
  openingUsesLast: 'Obrir el secret la consumeix; tingueu a punt un lloc segur on desar-lo.',
  reloadingUsesOne: 'Tornar a carregar aquesta pàgina en consumeix una.',
  expires: 'Caduca {when}.',
  lastView: 'Aquesta era l’última visualització.',
  lastViewText:
    'El secret s’ha suprimit del servidor. Aquesta pàgina n’és l’única còpia i no es pot tornar a carregar.',
  lastViewFiles:
    'Aquesta pàgina no es pot tornar a carregar. Els fitxers se suprimiran quan caduquin els botons de baixada.',
  secretTitle: 'El secret',
  filesTitle: {
    one: 'S’ha compartit {count} fitxer amb vós',
    many: 'S’han compartit {count} de fitxers amb vós',
    other: 'S’han compartit {count} fitxers amb vós',
  },
  keepSafe: 'Deseu-lo en un lloc segur abans de sortir d’aquesta pàgina.',
  closeWhenDone:
    'Tanqueu aquesta pàgina quan acabeu. Qualsevol persona que la vegi veurà el secret.',
  saveFiles: 'Deseu els fitxers abans de sortir d’aquesta pàgina.',
  text: 'Text',
  message: 'Missatge',
  link: 'Enllaç',
  qrCode: 'Codi QR',
  qrText: 'Text del codi QR',
  showText: 'Mostra el text',
  showMessage: 'Mostra el missatge',
  showLink: 'Mostra l’enllaç',
  showQrCode: 'Mostra el codi QR',
  hide: 'Amaga',
  copy: 'Copia',
  copyText: 'Copia el text',
  copied: 'S’ha copiat al porta-retalls.',
  copyFailed:
    'El navegador no ha permès copiar. Ara el text està seleccionat: copieu-lo amb el teclat o des del menú.',
  nullCharacters:
    'El text conté caràcters nuls, que una pàgina no pot mostrar. Es mostren i es copien com a {sign}. Per a obtenir el text exacte, utilitzeu {command}.',
  leadsTo: 'Aquest enllaç porta a {host}',
  linkSignIn:
    'La part anterior al signe @ conté dades d’inici de sessió. No indica on porta l’enllaç.',
  linkUnencrypted:
    'La connexió amb aquest lloc no està xifrada. Altres persones podrien llegir el que s’hi envia.',
  linkLetters:
    'El nom d’aquest lloc conté lletres diferents de les que van de la «a» a la «z», i algunes lletres s’assemblen entre si. Els ordinadors escriuen els noms d’aquest tipus amb {prefix} al començament.',
  openInNewTab: 'Obre en una pestanya nova',
  qrTooLong: 'Aquest text havia de ser un codi QR, però és massa llarg.',
  download: 'Baixa',
  downloadFile: 'Baixa {name}',
  downloadAll: 'Baixa-ho tot',
  downloadsUntil:
    'Els botons de baixada funcionen fins a aquesta hora: {time}. Les baixades ja començades continuen després.',
  downloadsLeft:
    'Els botons de baixada funcionaran durant {time} més. Les baixades ja començades continuen després.',
  downloadsExpired: 'Els botons de baixada han caducat.',
  downloadsExpiredReload:
    'Els botons de baixada han caducat. Torneu a carregar aquesta pàgina per a obtenir-ne de nous. Això consumeix una visualització.',
  deleteSecret: 'Suprimeix el secret ara',
  deleteWarning: 'L’enllaç deixarà de funcionar per a tothom. Aquesta acció no es pot desfer.',
  deleteForEveryone: 'Suprimeix per a tothom',
  deletedTitle: 'El secret s’ha suprimit',
  deletedText: 'L’enllaç ja no funciona i no es conserva res del secret.',
  closePage: 'Podeu tancar aquesta pàgina.',
  goneTitle: 'Aquest enllaç ja no està disponible',
  goneText:
    'Ha caducat, s’ha suprimit o no ha existit mai. No indiquem quin és el cas perquè no es puguin endevinar els enllaços.',
  goneAdvice:
    'Demaneu un enllaç nou al remitent. Si l’heu rebut en un missatge, comproveu que l’heu copiat sencer.',
  forbiddenTitle: 'Això no està permès',
  foreignForm:
    'Aquest formulari s’ha enviat des d’un altre lloc. Obriu l’enllaç directament i premeu-hi el botó.',
  usersOnly: 'Només els usuaris d’aquesta instància en poden obrir els secrets, mitjançant l’API.',
  notDeletable: 'Només el remitent pot suprimir aquest secret.',
  tooLargeTitle: 'Massa gran',
  tooLargeText: 'El que heu enviat supera la mida que accepta aquesta instància.',
  tooManyTitle: 'Massa sol·licituds',
  tooManyText: 'Heu enviat més sol·licituds de les que aquesta instància accepta alhora.',
  busyTitle: 'El servei està ocupat',
  busyText: 'Ara mateix no pot respondre a aquesta sol·licitud.',
  fullTitle: 'No queda espai',
  fullText: 'Aquesta instància no té prou espai de disc per a secrets nous.',
  invalidTitle: 'No ha funcionat',
  invalidText: 'La sol·licitud no és vàlida. Torneu enrere i proveu-ho de nou.',
  errorTitle: 'S’ha produït un error',
  errorText:
    'El servei no ha pogut respondre a aquesta sol·licitud. El seu registre n’indica el motiu.',
  tryAgain: 'Torna-ho a provar',
  tryAgainIn: 'Torneu-ho a provar {when}.',
  frontTitle: 'Compartiu un secret amb un enllaç que caduca',
  frontText:
    'Introduïu una contrasenya, una clau o qualsevol altre text. Obtindreu un enllaç que deixarà de funcionar al cap del nombre de visualitzacions o de dies que trieu.',
  frontTextFiles:
    'Introduïu un text o trieu fitxers. Obtindreu un enllaç que deixarà de funcionar al cap del nombre de visualitzacions o de dies que trieu.',
  frontTextUsers:
    'Els secrets d’aquesta instància es xifren i se suprimeixen al cap d’un nombre determinat de visualitzacions o de dies.',
  secretText: 'Text secret',
  files: 'Fitxers',
  filesLimit: {
    one: 'Fins a {count} fitxer de fins a {size}.',
    many: 'Fins a {count} de fitxers de fins a {size} cadascun.',
    other: 'Fins a {count} fitxers de fins a {size} cadascun.',
  },
  views: 'Nombre de visualitzacions',
  days: 'Nombre de dies',
  passphraseOptional: 'Frase de contrasenya (opcional)',
  passphraseHint:
    'El destinatari la necessita per a obrir el secret. No l’envieu juntament amb l’enllaç.',
  createLink: 'Crea l’enllaç',
  receivedTitle: 'Heu rebut un enllaç?',
  receivedText: 'Obriu-lo tal com l’heu rebut. Comença per {address}.',
  cliTitle: 'A la línia d’ordres',
  cliText: 'Instal·leu el programa una sola vegada. Demana el secret i mostra l’enllaç.',
  cliTextUsers:
    'Instal·leu el programa una sola vegada i inicieu la sessió amb el vostre testimoni. Després demana el secret i mostra l’enllaç.',
  problemText: 'Introduïu un text.',
  problemTextOrFiles: 'Introduïu un text o trieu fitxers.',
  problemTextTooLarge: 'El text és massa llarg. El límit és de {size}.',
  problemNumber: 'Introduïu un nombre enter entre {min} i {max}.',
  problemPassphrase: {
    one: 'La frase de contrasenya és massa llarga. El límit és de {count} caràcter.',
    many: 'La frase de contrasenya és massa llarga. El límit és de {count} de caràcters.',
    other: 'La frase de contrasenya és massa llarga. El límit és de {count} caràcters.',
  },
  problemFiles: {
    one: 'Trieu com a màxim {count} fitxer.',
    many: 'Trieu com a màxim {count} de fitxers.',
    other: 'Trieu com a màxim {count} fitxers.',
  },
  problemFileTooLarge: 'Un fitxer és massa gran. El límit és de {size}.',
  problemValue: 'Aquest valor no és vàlid.',
  problemFilesAgain: 'Torneu a triar els fitxers.',
  problemPassphraseAgain: 'Torneu a introduir la frase de contrasenya.',
  createdTitle: 'El vostre enllaç és a punt',
  createdText: 'Envieu-lo al destinatari. Qualsevol persona que el tingui podrà obrir el secret.',
  createdPassphrase:
    'Envieu-lo al destinatari. Feu-li arribar la frase de contrasenya per un altre mitjà, per exemple per telèfon.',
  createdHint:
    'Copieu-lo ara: aquesta pàgina no es pot tornar a carregar. Obrir l’enllaç consumeix una visualització.',
  yourLink: 'El vostre enllaç',
  qrOfLink: 'Codi QR de l’enllaç',
  createAnother: 'Crea un altre enllaç',
  encryptInBrowser: 'Xifra-ho al navegador, perquè aquest servidor no ho pugui llegir',
  encrypting: 'S’està xifrant…',
  enterKeyWords:
    'Aquest secret està xifrat. Introduïu les paraules de la clau que us ha donat el remitent.',
  keyWords: 'Paraules de la clau',
  keyMissing:
    'L’enllaç està incomplet: hi falta la part de després de #. Demaneu l’enllaç sencer al remitent.',
  keyDamaged:
    'L’enllaç està malmès: la part de després de # no és correcta. Demaneu l’enllaç sencer al remitent.',
  keyWrong: 'No es pot obrir amb aquesta clau.',
  secretDamaged: 'El secret xifrat està malmès o incomplet.',
  decrypting: 'S’està desxifrant…',
  decrypt: 'Desxifra',
  decryptWithAge: 'Obriu-lo amb age: {command}',
  decryptNoScript: 'Contingut xifrat. Obriu-lo en un navegador amb JavaScript o amb: {command}',
  openTitle: 'Obriu un secret xifrat',
  openText: 'Enganxeu un secret xifrat i la seva clau. No surten del vostre navegador.',
  encryptedSecret: 'Secret xifrat',
  key: 'Clau',
  requestTitle: 'Algú us demana un secret',
  requestFrom: 'Ho demana {name}.',
  requestUnexpected:
    'No us ho esperàveu? Comproveu, per exemple per telèfon, que la petició és de la persona que us penseu.',
  showRequest: 'Mostra la petició',
  question: 'Què us demanen',
  yourAnswer: 'La vostra resposta',
  answerHint:
    'Podeu respondre una sola vegada. Qui us ho demana pot llegir la resposta una vegada; després se suprimeix.',
  answerEncrypted:
    'La resposta es xifra en aquest navegador. Només qui us ho demana la pot desxifrar.',
  answerUnencrypted:
    'Sense JavaScript, la resposta s’envia sense xifrar a aquest servidor, que la podria llegir.',
  answerServerKey:
    'Sense aquesta part, la resposta es xifra amb la clau del mateix servidor, i qui el gestiona la podria llegir.',
  answerReadable:
    'La resposta no es xifra en aquest navegador. Qui gestiona aquest servidor la pot llegir.',
  sendAnswer: 'Envia la resposta',
  sending: 'S’està enviant…',
  sendFailed: 'La resposta no s’ha enviat. Comproveu la connexió i torneu-ho a provar.',
  sentTitle: 'S’ha enviat la resposta',
  sentText: 'Qui us l’ha demanada ja la pot llegir.',
  answeredTitle: 'Aquesta petició ja s’ha respost',
  answeredText:
    'Cada petició només admet una resposta. Si no la vau enviar vós, aviseu qui us ho demana.',
};
