import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Leyndarmál eru dulkóðuð og þeim er eytt þegar tengillinn rennur út.',
  contact: 'Spurningar? Hafðu samband: {contact}.',
  previewText: 'Þessi tengill rennur út eftir tiltekinn fjölda skoðana eða daga.',

  sharedTitle: 'Leyndarmáli var deilt með þér',
  pressToShow: 'Ýttu á hnappinn til að sjá það.',
  enterPassphrase:
    'Sláðu inn lykilsetninguna sem sendandinn lét þig fá, til dæmis í síma eða í öðrum skilaboðum.',
  unexpected: 'Áttirðu ekki von á þessu? Spurðu sendandann áður en þú opnar það.',
  passphrase: 'Lykilsetning',
  showPassphrase: 'Sýna lykilsetninguna',
  hidePassphrase: 'Fela lykilsetninguna',
  showSecret: 'Sýna leyndarmálið',
  passphraseMissing: 'Sláðu inn lykilsetninguna.',
  passphraseWrong: 'Röng lykilsetning.',
  passphraseWrongLeft: {
    one: 'Röng lykilsetning. {count} tilraun eftir í bili.',
    other: 'Röng lykilsetning. {count} tilraunir eftir í bili.',
  },
  passphraseWrongWait: 'Röng lykilsetning. Bíddu í eina mínútu áður en þú reynir aftur.',
  passphraseTooOften: 'Of margar tilraunir. Reyndu aftur {when}.',
  passphraseIsKey:
    'Þetta er lykill að dulkóðuðu leyndarmáli, ekki lykilsetning. Hann var ekki sendur því þessi netþjónn má ekki sjá hann.',

  viewsLeft: { one: '{count} skoðun eftir.', other: '{count} skoðanir eftir.' },
  openingUsesOne: 'Það kostar eina skoðun að opna leyndarmálið.',
  openingUsesLast:
    'Það kostar þessa skoðun að opna leyndarmálið, svo hafðu öruggan geymslustað tilbúinn fyrir það.',
  reloadingUsesOne: 'Það kostar eina skoðun að hlaða þessari síðu aftur.',
  expires: 'Rennur út {when}.',
  lastView: 'Þetta var síðasta skoðunin.',
  lastViewText:
    'Leyndarmálinu hefur verið eytt af netþjóninum. Þessi síða er eina eintakið og ekki er hægt að hlaða henni aftur.',
  lastViewFiles:
    'Ekki er hægt að hlaða þessari síðu aftur. Skránum er eytt þegar niðurhalshnapparnir renna út.',

  secretTitle: 'Leyndarmálið',
  filesTitle: {
    one: '{count} skrá var deilt með þér',
    other: '{count} skrám var deilt með þér',
  },
  keepSafe: 'Geymdu það á öruggum stað áður en þú ferð af þessari síðu.',
  closeWhenDone: 'Lokaðu þessari síðu að notkun lokinni. Allir sem sjá hana sjá leyndarmálið.',
  saveFiles: 'Vistaðu skrárnar áður en þú ferð af þessari síðu.',
  text: 'Texti',
  message: 'Skilaboð',
  link: 'Tengill',
  qrCode: 'QR-kóði',
  qrText: 'Texti QR-kóðans',
  showText: 'Sýna textann',
  showMessage: 'Sýna skilaboðin',
  showLink: 'Sýna tengilinn',
  showQrCode: 'Sýna QR-kóðann',
  hide: 'Fela',
  copy: 'Afrita',
  copyText: 'Afrita texta',
  copied: 'Afritað á klippispjaldið.',
  copyFailed:
    'Vafrinn leyfði ekki afritun. Textinn er nú valinn: afritaðu hann með lyklaborðinu eða úr valmyndinni.',
  nullCharacters:
    'Textinn inniheldur núllstafi sem ekki er hægt að birta á síðu. Þeir eru birtir og afritaðir sem {sign}. Notaðu {command} til að fá nákvæman texta.',
  leadsTo: 'Þessi tengill vísar á {host}',
  linkSignIn:
    'Hlutinn á undan @ er innskráningarupplýsingar. Hann segir ekki til um hvert tengillinn vísar.',
  linkUnencrypted:
    'Tengingin við þetta vefsvæði er ekki dulkóðuð. Aðrir gætu lesið það sem er sent.',
  linkLetters:
    'Í heiti þessa vefsvæðis eru aðrir stafir en a til z og sumir stafir líkjast hver öðrum. Tölvur skrifa slíkt heiti með {prefix} fremst.',
  openInNewTab: 'Opna í nýjum flipa',
  qrTooLong: 'Þessi texti átti að vera QR-kóði en er of langur til þess.',
  download: 'Sækja',
  downloadFile: 'Sækja {name}',
  downloadAll: 'Sækja allt',
  downloadsUntil:
    'Niðurhalshnapparnir virka til kl. {time}. Niðurhal sem er hafið heldur áfram eftir það.',
  downloadsLeft:
    'Niðurhalshnapparnir virka í {time} í viðbót. Niðurhal sem er hafið heldur áfram eftir það.',
  downloadsExpired: 'Niðurhalshnapparnir eru útrunnir.',
  downloadsExpiredReload:
    'Niðurhalshnapparnir eru útrunnir. Hladdu þessari síðu aftur til að fá nýja. Það kostar eina skoðun.',
  deleteSecret: 'Eyða leyndarmálinu núna',
  deleteWarning: 'Tengillinn hættir að virka hjá öllum. Ekki er hægt að afturkalla þetta.',
  deleteForEveryone: 'Eyða hjá öllum',
  deletedTitle: 'Leyndarmálinu hefur verið eytt',
  deletedText: 'Tengillinn virkar ekki lengur og ekkert af leyndarmálinu er geymt.',
  closePage: 'Þú getur lokað þessari síðu.',

  goneTitle: 'Þessi tengill er ekki lengur tiltækur',
  goneText:
    'Hann er útrunninn, honum var eytt eða hann var aldrei til. Við segjum ekki hvert af þessu á við, svo að ekki sé hægt að giska á tengla.',
  goneAdvice:
    'Biddu sendandann um nýjan tengil. Ef hann kom í skilaboðum skaltu athuga hvort þú afritaðir hann allan.',

  forbiddenTitle: 'Þetta er ekki leyfilegt',
  foreignForm:
    'Þetta eyðublað var sent frá öðru vefsvæði. Opnaðu tengilinn á eigin spýtur og ýttu á hnappinn þar.',
  usersOnly:
    'Aðeins notendur þessa netþjóns geta opnað leyndarmálin sem á honum eru, í gegnum API-viðmótið.',
  notDeletable: 'Aðeins sendandinn getur eytt þessu leyndarmáli.',
  tooLargeTitle: 'Of stórt',
  tooLargeText: 'Það sem þú sendir er stærra en þessi netþjónn tekur við.',
  tooManyTitle: 'Of margar beiðnir',
  tooManyText: 'Þú sendir fleiri beiðnir en þessi netþjónn tekur við í einu.',
  busyTitle: 'Þjónustan er upptekin',
  busyText: 'Hún getur ekki svarað þessari beiðni eins og er.',
  fullTitle: 'Ekkert pláss eftir',
  fullText: 'Á þessum netþjóni er ekki nóg diskpláss fyrir ný leyndarmál.',
  invalidTitle: 'Þetta tókst ekki',
  invalidText: 'Beiðnin er ógild. Farðu til baka og reyndu aftur.',
  errorTitle: 'Eitthvað fór úrskeiðis',
  errorText: 'Þjónustan gat ekki svarað þessari beiðni. Ástæðan er skráð í atvikaskrá hennar.',
  tryAgain: 'Reyna aftur',
  tryAgainIn: 'Reyndu aftur {when}.',

  frontTitle: 'Deildu leyndarmáli með tengli sem rennur út',
  frontText:
    'Sláðu inn lykilorð, lykil eða annan texta. Þú færð tengil sem hættir að virka eftir þann fjölda skoðana eða daga sem þú velur.',
  frontTextFiles:
    'Sláðu inn texta eða veldu skrár. Þú færð tengil sem hættir að virka eftir þann fjölda skoðana eða daga sem þú velur.',
  frontTextUsers:
    'Leyndarmál á þessum netþjóni eru dulkóðuð og þeim er eytt eftir tiltekinn fjölda skoðana eða daga.',
  secretText: 'Leynilegur texti',
  files: 'Skrár',
  filesLimit: {
    one: 'Að hámarki {count} skrá, allt að {size} að stærð.',
    other: 'Að hámarki {count} skrár, hver allt að {size} að stærð.',
  },
  views: 'Fjöldi skoðana',
  days: 'Fjöldi daga',
  passphraseOptional: 'Lykilsetning (valfrjáls)',
  passphraseHint: 'Viðtakandinn þarf hana til að opna leyndarmálið. Ekki senda hana með tenglinum.',
  createLink: 'Búa til tengil',
  receivedTitle: 'Fékkstu tengil?',
  receivedText: 'Opnaðu hann eins og þú fékkst hann. Hann byrjar á {address}.',
  cliTitle: 'Á skipanalínunni',
  cliText: 'Settu forritið upp einu sinni. Það biður um leyndarmálið og birtir tengilinn.',
  cliTextUsers:
    'Settu forritið upp einu sinni og skráðu þig inn með aðgangsteikninu þínu. Það biður síðan um leyndarmálið og birtir tengilinn.',

  problemText: 'Sláðu inn texta.',
  problemTextOrFiles: 'Sláðu inn texta eða veldu skrár.',
  problemTextTooLarge: 'Textinn er of stór. Hámarkið er {size}.',
  problemNumber: 'Sláðu inn heila tölu frá {min} til {max}.',
  problemPassphrase: {
    one: 'Lykilsetningin er of löng. Hámarkið er {count} stafur.',
    other: 'Lykilsetningin er of löng. Hámarkið er {count} stafir.',
  },
  problemFiles: {
    one: 'Veldu að hámarki {count} skrá.',
    other: 'Veldu að hámarki {count} skrár.',
  },
  problemFileTooLarge: 'Skrá er of stór. Hámarkið er {size}.',
  problemValue: 'Þetta gildi er ógilt.',
  problemFilesAgain: 'Veldu skrárnar aftur.',
  problemPassphraseAgain: 'Sláðu lykilsetninguna inn aftur.',

  createdTitle: 'Tengillinn þinn er tilbúinn',
  createdText: 'Sendu viðtakandanum hann. Allir sem hafa hann geta opnað leyndarmálið.',
  createdPassphrase:
    'Sendu viðtakandanum hann. Komdu lykilsetningunni til skila með öðrum hætti, til dæmis í síma.',
  createdHint:
    'Afritaðu hann núna: ekki er hægt að hlaða þessari síðu aftur. Það kostar eina skoðun að opna tengilinn.',
  yourLink: 'Tengillinn þinn',
  qrOfLink: 'QR-kóði tengilsins',
  createAnother: 'Búa til annan tengil',

  encryptInBrowser: 'Dulkóða í vafranum svo að þessi netþjónn geti ekki lesið það',
  encrypting: 'Dulkóðar…',
  enterKeyWords:
    'Þetta leyndarmál er dulkóðað. Sláðu inn orðin í lyklinum sem sendandinn lét þig fá.',
  keyWords: 'Orðin í lyklinum',
  keyMissing:
    'Tengillinn er ekki heill: hlutann á eftir # vantar. Biddu sendandann um allan tengilinn.',
  keyDamaged:
    'Tengillinn er skemmdur: hlutinn á eftir # er rangur. Biddu sendandann um allan tengilinn.',
  keyWrong: 'Þessi lykill opnar það ekki.',
  secretDamaged: 'Dulkóðaða leyndarmálið er skemmt eða ófullgert.',
  decrypting: 'Afkóðar…',
  decrypt: 'Afkóða',
  decryptWithAge: 'Opnaðu það með forritinu age: {command}',
  decryptNoScript: 'Dulkóðað. Opnaðu það í vafra með JavaScript eða með: {command}',
  openTitle: 'Opna dulkóðað leyndarmál',
  openText: 'Límdu inn dulkóðað leyndarmál og lykil þess. Þau fara ekki úr vafranum þínum.',
  encryptedSecret: 'Dulkóðað leyndarmál',
  key: 'Lykill',
  requestTitle: 'Einhver biður þig um leyndarmál',
  requestFrom: 'Beiðni frá {name}.',
  requestUnexpected:
    'Áttirðu ekki von á þessu? Gakktu úr skugga um, til dæmis í síma, að þetta komi frá þeim sem þú heldur.',
  showRequest: 'Birta beiðnina',
  question: 'Það sem beðið er um',
  yourAnswer: 'Svarið þitt',
  answerHint:
    'Þú getur aðeins svarað einu sinni. Sá sem bað getur lesið svarið einu sinni; eftir það er því eytt.',
  answerEncrypted: 'Svarið þitt er dulkóðað í þessum vafra. Aðeins sá sem bað getur afkóðað það.',
  answerUnencrypted:
    'Án JavaScript er svarið sent ódulkóðað til þessa netþjóns, sem gæti lesið það.',
  answerServerKey:
    'Án hans er svarið þitt dulkóðað með lykli netþjónsins sjálfs og sá sem rekur netþjóninn gæti lesið það.',
  answerReadable:
    'Svarið þitt er ekki dulkóðað í þessum vafra. Sá sem rekur þennan netþjón getur lesið það.',
  sendAnswer: 'Senda svar',
  sending: 'Sendir…',
  sendFailed: 'Svarið var ekki sent. Athugaðu tenginguna og reyndu aftur.',
  sentTitle: 'Svarið þitt var sent',
  sentText: 'Sá sem bað getur nú lesið það.',
  answeredTitle: 'Þessari beiðni hefur þegar verið svarað',
  answeredText:
    'Beiðni tekur aðeins við einu svari. Ef svarið var ekki frá þér skaltu láta þann vita sem bað.',
};
