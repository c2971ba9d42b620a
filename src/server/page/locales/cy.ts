import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Caiff cyfrinachau eu hamgryptio, a’u dileu pan ddaw’r ddolen i ben.',
  contact: 'Cwestiynau? Manylion cyswllt: {contact}.',
  previewText: 'Daw’r ddolen hon i ben ar ôl nifer penodol o edrychiadau neu ddiwrnodau.',

  sharedTitle: 'Rhannwyd cyfrinach â chi',
  pressToShow: 'Pwyswch y botwm i’w gweld.',
  enterPassphrase:
    'Rhowch y cyfrinymadrodd a gawsoch gan yr anfonwr, efallai dros y ffôn neu mewn neges arall.',
  unexpected: 'Ddim yn disgwyl hon? Holwch yr anfonwr cyn ei hagor.',
  passphrase: 'Cyfrinymadrodd',
  showPassphrase: 'Dangos y cyfrinymadrodd',
  hidePassphrase: 'Cuddio’r cyfrinymadrodd',
  showSecret: 'Dangos y gyfrinach',
  passphraseMissing: 'Rhowch y cyfrinymadrodd.',
  passphraseWrong: 'Cyfrinymadrodd anghywir.',
  passphraseWrongLeft: {
    zero: 'Cyfrinymadrodd anghywir. {count} cynnig ar ôl am y tro.',
    one: 'Cyfrinymadrodd anghywir. {count} cynnig ar ôl am y tro.',
    two: 'Cyfrinymadrodd anghywir. {count} gynnig ar ôl am y tro.',
    few: 'Cyfrinymadrodd anghywir. {count} chynnig ar ôl am y tro.',
    many: 'Cyfrinymadrodd anghywir. {count} chynnig ar ôl am y tro.',
    other: 'Cyfrinymadrodd anghywir. {count} cynnig ar ôl am y tro.',
  },
  passphraseWrongWait: 'Cyfrinymadrodd anghywir. Arhoswch funud cyn rhoi cynnig arall arni.',
  passphraseTooOften: 'Gormod o gynigion. Rhowch gynnig arall arni {when}.',
  passphraseIsKey:
    'Allwedd cyfrinach wedi’i hamgryptio yw hon, nid cyfrinymadrodd. Ni chafodd ei hanfon: ni ddylai’r gweinydd hwn ei gweld.',

  viewsLeft: {
    zero: '{count} edrychiad ar ôl.',
    one: '{count} edrychiad ar ôl.',
    two: '{count} edrychiad ar ôl.',
    few: '{count} edrychiad ar ôl.',
    many: '{count} edrychiad ar ôl.',
    other: '{count} edrychiad ar ôl.',
  },
  openingUsesOne: 'Mae agor y gyfrinach yn defnyddio un edrychiad.',
  openingUsesLast:
    'Mae agor y gyfrinach yn defnyddio’r edrychiad hwn, felly paratowch le diogel i’w chadw.',
  reloadingUsesOne: 'Mae ail-lwytho’r dudalen hon yn defnyddio un edrychiad.',
  expires: 'Yn dod i ben {when}.',
  lastView: 'Dyna oedd yr edrychiad olaf.',
  lastViewText:
    'Mae’r gyfrinach wedi’i dileu o’r gweinydd. Y dudalen hon yw’r unig gopi, ac ni ellir ei llwytho eto.',
  lastViewFiles:
    'Ni ellir llwytho’r dudalen hon eto. Caiff y ffeiliau eu dileu pan ddaw’r botymau lawrlwytho i ben.',

  secretTitle: 'Y gyfrinach',
  filesTitle: {
    zero: 'Rhannwyd {count} ffeil â chi',
    one: 'Rhannwyd {count} ffeil â chi',
    two: 'Rhannwyd {count} ffeil â chi',
    few: 'Rhannwyd {count} ffeil â chi',
    many: 'Rhannwyd {count} ffeil â chi',
    other: 'Rhannwyd {count} ffeil â chi',
  },
  keepSafe: 'Cadwch hi mewn lle diogel cyn gadael y dudalen hon.',
  closeWhenDone:
    'Caewch y dudalen hon ar ôl i chi orffen. Bydd unrhyw un sy’n ei gweld yn gweld y gyfrinach.',
  saveFiles: 'Cadwch y ffeiliau cyn gadael y dudalen hon.',
  text: 'Testun',
  message: 'Neges',
  link: 'Dolen',
  qrCode: 'Cod QR',
  qrText: 'Testun y cod QR',
  showText: 'Dangos y testun',
  showMessage: 'Dangos y neges',
  showLink: 'Dangos y ddolen',
  showQrCode: 'Dangos y cod QR',
  hide: 'Cuddio',
  copy: 'Copïo',
  copyText: 'Copïo’r testun',
  copied: 'Copïwyd i’r clipfwrdd.',
  copyFailed:
    'Ni chaniataodd y porwr gopïo. Mae’r testun bellach wedi’i ddewis: copïwch ef â’r bysellfwrdd neu’r ddewislen.',
  nullCharacters:
    'Mae’r testun yn cynnwys nodau nwl, na all tudalen eu dangos. Cânt eu dangos a’u copïo fel {sign}. I gael yr union destun, defnyddiwch {command}.',
  leadsTo: 'Mae’r ddolen hon yn arwain at {host}',
  linkSignIn:
    'Data mewngofnodi yw’r rhan o flaen yr @. Nid yw’n dweud i ble mae’r ddolen yn arwain.',
  linkUnencrypted:
    'Nid yw’r cysylltiad â’r wefan hon wedi’i amgryptio. Gallai eraill ddarllen yr hyn a anfonir.',
  linkLetters:
    'Mae enw’r wefan hon yn cynnwys llythrennau heblaw a i z, ac mae rhai llythrennau’n edrych yn debyg i’w gilydd. Mae cyfrifiaduron yn ysgrifennu enw o’r fath â {prefix} ar ei ddechrau.',
  openInNewTab: 'Agor mewn tab newydd',
  qrTooLong: 'Cod QR oedd y testun hwn i fod, ond mae’n rhy hir ar gyfer un.',
  download: 'Lawrlwytho',
  downloadFile: 'Lawrlwytho {name}',
  downloadAll: 'Lawrlwytho’r cyfan',
  downloadsUntil:
    'Mae’r botymau lawrlwytho’n gweithio tan {time}. Bydd lawrlwythiad sydd wedi dechrau’n parhau ar ôl hynny.',
  downloadsLeft:
    'Bydd y botymau lawrlwytho’n gweithio am {time} arall. Bydd lawrlwythiad sydd wedi dechrau’n parhau ar ôl hynny.',
  downloadsExpired: 'Mae’r botymau lawrlwytho wedi dod i ben.',
  downloadsExpiredReload:
    'Mae’r botymau lawrlwytho wedi dod i ben. Ail-lwythwch y dudalen hon i gael rhai newydd. Mae hyn yn defnyddio un edrychiad.',
  deleteSecret: 'Dileu’r gyfrinach nawr',
  deleteWarning: 'Bydd y ddolen yn peidio â gweithio i bawb. Ni ellir dadwneud hyn.',
  deleteForEveryone: 'Dileu i bawb',
  deletedTitle: 'Mae’r gyfrinach wedi’i dileu',
  deletedText: 'Nid yw’r ddolen yn gweithio mwyach, ac ni chedwir dim o’r gyfrinach.',
  closePage: 'Gallwch gau’r dudalen hon.',

  goneTitle: 'Nid yw’r ddolen hon ar gael mwyach',
  goneText:
    'Mae wedi dod i ben, mae wedi’i dileu neu ni fu erioed yn bodoli. Nid ydym yn dweud pa un, rhag i neb allu dyfalu dolenni.',
  goneAdvice:
    'Gofynnwch i’r anfonwr am ddolen newydd. Os daeth mewn neges, gwiriwch eich bod wedi copïo’r cyfan ohoni.',

  forbiddenTitle: 'Ni chaniateir hyn',
  foreignForm:
    'Anfonwyd y ffurflen hon o wefan arall. Agorwch y ddolen eich hun a phwyswch y botwm yno.',
  usersOnly: 'Dim ond defnyddwyr y gweinydd hwn all agor ei gyfrinachau, drwy’r API.',
  notDeletable: 'Dim ond yr anfonwr all ddileu’r gyfrinach hon.',
  tooLargeTitle: 'Rhy fawr',
  tooLargeText: 'Mae’r hyn a anfonwyd gennych yn fwy nag y mae’r gweinydd hwn yn ei dderbyn.',
  tooManyTitle: 'Gormod o geisiadau',
  tooManyText: 'Anfonwyd mwy o geisiadau gennych nag y mae’r gweinydd hwn yn eu derbyn ar y tro.',
  busyTitle: 'Mae’r gwasanaeth yn brysur',
  busyText: 'Ni all ateb y cais hwn ar hyn o bryd.',
  fullTitle: 'Dim lle ar ôl',
  fullText: 'Nid oes gan y gweinydd hwn ddigon o le ar y ddisg ar gyfer cyfrinachau newydd.',
  invalidTitle: 'Ni weithiodd hynny',
  invalidText: 'Nid yw’r cais yn ddilys. Ewch yn ôl a rhowch gynnig arall arni.',
  errorTitle: 'Aeth rhywbeth o’i le',
  errorText: 'Ni allai’r gwasanaeth ateb y cais hwn. Mae’r rheswm yn ei log.',
  tryAgain: 'Ceisio eto',
  tryAgainIn: 'Rhowch gynnig arall arni {when}.',

  frontTitle: 'Rhannu cyfrinach drwy ddolen sy’n dod i ben',
  frontText:
    'Rhowch gyfrinair, allwedd neu unrhyw destun arall. Cewch ddolen sy’n peidio â gweithio ar ôl y nifer o edrychiadau neu ddiwrnodau a ddewiswch.',
  frontTextFiles:
    'Rhowch destun neu dewiswch ffeiliau. Cewch ddolen sy’n peidio â gweithio ar ôl y nifer o edrychiadau neu ddiwrnodau a ddewiswch.',
  frontTextUsers:
    'Caiff cyfrinachau ar y gweinydd hwn eu hamgryptio, a’u dileu ar ôl nifer penodol o edrychiadau neu ddiwrnodau.',
  secretText: 'Testun cyfrinachol',
  files: 'Ffeiliau',
  filesLimit: {
    zero: 'Hyd at {count} ffeil, {size} yr un.',
    one: 'Hyd at {count} ffeil o {size}.',
    two: 'Hyd at {count} ffeil, {size} yr un.',
    few: 'Hyd at {count} ffeil, {size} yr un.',
    many: 'Hyd at {count} ffeil, {size} yr un.',
    other: 'Hyd at {count} ffeil, {size} yr un.',
  },
  views: 'Nifer yr edrychiadau',
  days: 'Nifer y diwrnodau',
  passphraseOptional: 'Cyfrinymadrodd (dewisol)',
  passphraseHint:
    'Bydd ei angen ar y derbynnydd i agor y gyfrinach. Peidiwch â’i anfon gyda’r ddolen.',
  createLink: 'Creu dolen',
  receivedTitle: 'Wedi derbyn dolen?',
  receivedText: 'Agorwch hi fel y daeth i law. Mae’n dechrau â {address}.',
  cliTitle: 'Ar y llinell orchymyn',
  cliText: 'Gosodwch y rhaglen unwaith. Bydd yn gofyn am y gyfrinach ac yn dangos y ddolen.',
  cliTextUsers:
    'Gosodwch y rhaglen unwaith a mewngofnodwch â’ch tocyn. Yna bydd yn gofyn am y gyfrinach ac yn dangos y ddolen.',

  problemText: 'Rhowch destun.',
  problemTextOrFiles: 'Rhowch destun neu dewiswch ffeiliau.',
  problemTextTooLarge: 'Mae’r testun yn rhy fawr. Y terfyn yw {size}.',
  problemNumber: 'Rhowch rif cyfan o {min} i {max}.',
  problemPassphrase: {
    zero: 'Mae’r cyfrinymadrodd yn rhy hir. Y terfyn yw {count} nod.',
    one: 'Mae’r cyfrinymadrodd yn rhy hir. Y terfyn yw {count} nod.',
    two: 'Mae’r cyfrinymadrodd yn rhy hir. Y terfyn yw {count} nod.',
    few: 'Mae’r cyfrinymadrodd yn rhy hir. Y terfyn yw {count} nod.',
    many: 'Mae’r cyfrinymadrodd yn rhy hir. Y terfyn yw {count} nod.',
    other: 'Mae’r cyfrinymadrodd yn rhy hir. Y terfyn yw {count} nod.',
  },
  problemFiles: {
    zero: 'Dewiswch {count} ffeil ar y mwyaf.',
    one: 'Dewiswch {count} ffeil ar y mwyaf.',
    two: 'Dewiswch {count} ffeil ar y mwyaf.',
    few: 'Dewiswch {count} ffeil ar y mwyaf.',
    many: 'Dewiswch {count} ffeil ar y mwyaf.',
    other: 'Dewiswch {count} ffeil ar y mwyaf.',
  },
  problemFileTooLarge: 'Mae ffeil yn rhy fawr. Y terfyn yw {size}.',
  problemValue: 'Nid yw’r gwerth hwn yn ddilys.',
  problemFilesAgain: 'Dewiswch y ffeiliau eto.',
  problemPassphraseAgain: 'Rhowch y cyfrinymadrodd eto.',

  createdTitle: 'Mae eich dolen yn barod',
  createdText: 'Anfonwch hi at y derbynnydd. Gall unrhyw un sydd â’r ddolen agor y gyfrinach.',
  createdPassphrase:
    'Anfonwch hi at y derbynnydd. Rhowch y cyfrinymadrodd iddo mewn ffordd arall, er enghraifft dros y ffôn.',
  createdHint:
    'Copïwch hi nawr: ni ellir llwytho’r dudalen hon eto. Mae agor y ddolen yn defnyddio un edrychiad.',
  yourLink: 'Eich dolen',
  qrOfLink: 'Cod QR y ddolen',
  createAnother: 'Creu dolen arall',

  encryptInBrowser: 'Amgryptio yn y porwr, fel na all y gweinydd hwn ei darllen',
  encrypting: 'Yn amgryptio…',
  enterKeyWords:
    'Mae’r gyfrinach hon wedi’i hamgryptio. Rhowch eiriau’r allwedd a gawsoch gan yr anfonwr.',
  keyWords: 'Geiriau’r allwedd',
  keyMissing:
    'Mae’r ddolen yn anghyflawn: mae’r rhan ar ôl # ar goll. Gofynnwch i’r anfonwr am y ddolen gyfan.',
  keyDamaged:
    'Mae’r ddolen wedi’i difrodi: mae’r rhan ar ôl # yn anghywir. Gofynnwch i’r anfonwr am y ddolen gyfan.',
  keyWrong: 'Nid yw’r allwedd honno’n ei hagor.',
  secretDamaged: 'Mae’r gyfrinach wedi’i hamgryptio wedi’i difrodi neu’n anghyflawn.',
  decrypting: 'Yn dadgryptio…',
  decrypt: 'Dadgryptio',
  decryptWithAge: 'Agorwch hi ag age: {command}',
  decryptNoScript: 'Wedi’i hamgryptio. Agorwch hi mewn porwr sydd â JavaScript, neu â: {command}',
  openTitle: 'Agor cyfrinach wedi’i hamgryptio',
  openText: 'Gludwch gyfrinach wedi’i hamgryptio a’i hallwedd. Ni fyddant yn gadael eich porwr.',
  encryptedSecret: 'Cyfrinach wedi’i hamgryptio',
  key: 'Allwedd',
  requestTitle: 'Mae rhywun yn gofyn i chi am gyfrinach',
  requestFrom: 'Gofynnwyd gan {name}.',
  requestUnexpected:
    'Ddim yn disgwyl hyn? Gwnewch yn siŵr, er enghraifft dros y ffôn, mai’r person rydych chi’n ei ddisgwyl sy’n gofyn.',
  showRequest: 'Dangos y cais',
  question: 'Beth sydd ei angen',
  yourAnswer: 'Eich ateb',
  answerHint:
    'Dim ond unwaith y cewch ateb. Gall y person a ofynnodd ddarllen yr ateb unwaith; yna caiff ei ddileu.',
  answerEncrypted:
    'Caiff eich ateb ei amgryptio yn y porwr hwn. Dim ond y person a ofynnodd all ei ddadgryptio.',
  answerUnencrypted:
    'Heb JavaScript, anfonir yr ateb heb ei amgryptio at y gweinydd hwn, a allai ei ddarllen.',
  answerServerKey:
    'Hebddi, caiff eich ateb ei amgryptio ag allwedd y gweinydd ei hun, a gallai pwy bynnag sy’n ei redeg ddarllen yr ateb.',
  answerReadable:
    'Ni chaiff eich ateb ei amgryptio yn y porwr hwn. Gall pwy bynnag sy’n rhedeg y gweinydd hwn ei ddarllen.',
  sendAnswer: 'Anfon yr ateb',
  sending: 'Yn anfon…',
  sendFailed: 'Ni anfonwyd yr ateb. Gwiriwch eich cysylltiad a cheisiwch eto.',
  sentTitle: 'Anfonwyd eich ateb',
  sentText: 'Gall y person a ofynnodd ei ddarllen nawr.',
  answeredTitle: 'Mae’r cais hwn eisoes wedi’i ateb',
  answeredText:
    'Dim ond un ateb y mae cais yn ei dderbyn. Os nad eich ateb chi oedd hwnnw, rhowch wybod i’r person a ofynnodd.',
};
