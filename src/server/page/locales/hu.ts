import type { Strings } from './en';

export const strings: Strings = {
  footer: 'A titkokat titkosítva tároljuk, és a hivatkozás lejártakor töröljük.',
  contact: 'Kérdése van? Kapcsolat: {contact}.',
  previewText: 'Ez a hivatkozás bizonyos számú megtekintés vagy nap után lejár.',

  sharedTitle: 'Egy titkot osztottak meg Önnel',
  pressToShow: 'A megtekintéséhez nyomja meg a gombot.',
  enterPassphrase:
    'Adja meg a jelmondatot, amelyet a feladótól kapott, például telefonon vagy egy másik üzenetben.',
  unexpected: 'Nem számított erre? Kérdezze meg a feladót, mielőtt megnyitja.',
  passphrase: 'Jelmondat',
  showPassphrase: 'Jelmondat megjelenítése',
  hidePassphrase: 'Jelmondat elrejtése',
  showSecret: 'Titok megjelenítése',
  passphraseMissing: 'Adja meg a jelmondatot.',
  passphraseWrong: 'Helytelen jelmondat.',
  passphraseWrongLeft: {
    one: 'Helytelen jelmondat. Egyelőre még {count} próbálkozása maradt.',
    other: 'Helytelen jelmondat. Egyelőre még {count} próbálkozása maradt.',
  },
  passphraseWrongWait: 'Helytelen jelmondat. Várjon egy percet, mielőtt újra próbálkozik.',
  passphraseTooOften: 'Túl sok próbálkozás. Próbálja újra {when}.',
  passphraseIsKey:
    'Ez egy titkosított titok kulcsa, nem jelmondat. Nem küldtük el, mert ez a kiszolgáló nem láthatja.',

  viewsLeft: {
    one: 'Még {count} megtekintés maradt.',
    other: 'Még {count} megtekintés maradt.',
  },
  openingUsesOne: 'A titok megnyitása egyet felhasznál.',
  openingUsesLast:
    'A titok megnyitása ezt felhasználja, ezért készítsen elő egy biztonságos helyet a titoknak.',
  reloadingUsesOne: 'Az oldal újbóli betöltése egyet felhasznál.',
  expires: 'Lejár {when}.',
  lastView: 'Ez volt az utolsó megtekintés.',
  lastViewText:
    'A titkot töröltük a kiszolgálóról. Ez az oldal az egyetlen példány, és nem tölthető be újra.',
  lastViewFiles: 'Ez az oldal nem tölthető be újra. A fájlok a letöltőgombok lejártakor törlődnek.',

  secretTitle: 'A titok',
  filesTitle: {
    one: '{count} fájlt osztottak meg Önnel',
    other: '{count} fájlt osztottak meg Önnel',
  },
  keepSafe: 'Mentse biztonságos helyre, mielőtt elhagyja ezt az oldalt.',
  closeWhenDone: 'Ha végzett, zárja be ezt az oldalt. Aki látja az oldalt, látja a titkot is.',
  saveFiles: 'Mentse a fájlokat, mielőtt elhagyja ezt az oldalt.',
  text: 'Szöveg',
  message: 'Üzenet',
  link: 'Hivatkozás',
  qrCode: 'QR-kód',
  qrText: 'A QR-kód szövege',
  showText: 'Szöveg megjelenítése',
  showMessage: 'Üzenet megjelenítése',
  showLink: 'Hivatkozás megjelenítése',
  showQrCode: 'QR-kód megjelenítése',
  hide: 'Elrejtés',
  copy: 'Másolás',
  copyText: 'Szöveg másolása',
  copied: 'A vágólapra másolva.',
  copyFailed:
    'A böngésző nem engedélyezte a másolást. A szöveg most ki van jelölve: másolja a billentyűzettel vagy a menüből.',
  nullCharacters:
    'A szöveg null karaktereket tartalmaz, amelyek nem jeleníthetők meg az oldalon. Helyettük a következő jel látható és másolódik: {sign}. A pontos szöveget ezzel a paranccsal kaphatja meg: {command}.',
  leadsTo: 'A hivatkozás ide vezet: {host}',
  linkSignIn: 'A @ előtti rész bejelentkezési adat. Nem azt mutatja, hová vezet a hivatkozás.',
  linkUnencrypted:
    'A kapcsolat ezzel a webhellyel nincs titkosítva. Mások elolvashatják az elküldött adatokat.',
  linkLetters:
    'A webhely neve az a–z betűkön kívül más betűket is tartalmaz, és egyes betűk hasonlítanak egymásra. A számítógépek az ilyen nevet {prefix} előtaggal írják.',
  openInNewTab: 'Megnyitás új lapon',
  qrTooLong: 'Ezt a szöveget QR-kódnak szánták, de ahhoz túl hosszú.',
  download: 'Letöltés',
  downloadFile: '{name} letöltése',
  downloadAll: 'Összes letöltése',
  downloadsUntil:
    'A letöltőgombok eddig működnek: {time}. A már elindított letöltés ezután is folytatódik.',
  downloadsLeft:
    'A letöltőgombok még ennyi ideig működnek: {time}. A már elindított letöltés ezután is folytatódik.',
  downloadsExpired: 'A letöltőgombok lejártak.',
  downloadsExpiredReload:
    'A letöltőgombok lejártak. Töltse be újra az oldalt, hogy újakat kapjon. Ez egy megtekintést használ fel.',
  deleteSecret: 'Titok törlése most',
  deleteWarning: 'A hivatkozás senkinek sem fog többé működni. Ez nem vonható vissza.',
  deleteForEveryone: 'Törlés mindenkinél',
  deletedTitle: 'A titok törölve',
  deletedText: 'A hivatkozás már nem működik, és a titokból semmit sem őriztünk meg.',
  closePage: 'Bezárhatja ezt az oldalt.',

  goneTitle: 'Ez a hivatkozás már nem érhető el',
  goneText:
    'Lejárt, törölték vagy sosem létezett. Nem áruljuk el, melyik, hogy a hivatkozásokat ne lehessen kitalálni.',
  goneAdvice:
    'Kérjen új hivatkozást a feladótól. Ha üzenetben kapta, ellenőrizze, hogy a teljes hivatkozást kimásolta-e.',

  forbiddenTitle: 'Ez nem engedélyezett',
  foreignForm:
    'Ezt az űrlapot egy másik webhelyről küldték. Nyissa meg saját maga a hivatkozást, és ott nyomja meg a gombot.',
  usersOnly:
    'Csak ennek a kiszolgálónak a felhasználói nyithatják meg az itt tárolt titkokat, az API-n keresztül.',
  notDeletable: 'Ezt a titkot csak a feladó törölheti.',
  tooLargeTitle: 'Túl nagy',
  tooLargeText: 'Amit küldött, nagyobb annál, mint amit ez a kiszolgáló elfogad.',
  tooManyTitle: 'Túl sok kérés',
  tooManyText: 'Több kérést küldött, mint amennyit ez a kiszolgáló egyszerre elfogad.',
  busyTitle: 'A szolgáltatás foglalt',
  busyText: 'Jelenleg nem tud válaszolni erre a kérésre.',
  fullTitle: 'Nincs több hely',
  fullText: 'Ezen a kiszolgálón nincs elég lemezterület új titkok számára.',
  invalidTitle: 'Ez nem sikerült',
  invalidText: 'A kérés érvénytelen. Lépjen vissza, és próbálja újra.',
  errorTitle: 'Hiba történt',
  errorText: 'A szolgáltatás nem tudott válaszolni erre a kérésre. Az ok a naplójában található.',
  tryAgain: 'Próbálja újra',
  tryAgainIn: 'Próbálja újra {when}.',

  frontTitle: 'Osszon meg egy titkot lejáró hivatkozással',
  frontText:
    'Adjon meg egy jelszót, egy kulcsot vagy bármilyen más szöveget. Olyan hivatkozást kap, amely az Ön által választott számú megtekintés vagy nap után nem működik többé.',
  frontTextFiles:
    'Adjon meg egy szöveget, vagy válasszon fájlokat. Olyan hivatkozást kap, amely az Ön által választott számú megtekintés vagy nap után nem működik többé.',
  frontTextUsers:
    'Ezen a kiszolgálón a titkokat titkosítva tároljuk, és bizonyos számú megtekintés vagy nap után töröljük.',
  secretText: 'Titkos szöveg',
  files: 'Fájlok',
  filesLimit: {
    one: 'Legfeljebb {count} fájl, legfeljebb {size} méretű.',
    other: 'Legfeljebb {count} fájl, egyenként legfeljebb {size} méretű.',
  },
  views: 'Megtekintések száma',
  days: 'Napok száma',
  passphraseOptional: 'Jelmondat (nem kötelező)',
  passphraseHint:
    'A címzettnek szüksége van rá a titok megnyitásához. Ne küldje el a hivatkozással együtt.',
  createLink: 'Hivatkozás létrehozása',
  receivedTitle: 'Hivatkozást kapott?',
  receivedText: 'Nyissa meg úgy, ahogyan kapta. Így kezdődik: {address}.',
  cliTitle: 'Parancssorban',
  cliText: 'Telepítse egyszer a programot. Bekéri a titkot, és kiírja a hivatkozást.',
  cliTextUsers:
    'Telepítse egyszer a programot, és jelentkezzen be a tokenjével. Ezután bekéri a titkot, és kiírja a hivatkozást.',

  problemText: 'Adjon meg egy szöveget.',
  problemTextOrFiles: 'Adjon meg egy szöveget, vagy válasszon fájlokat.',
  problemTextTooLarge: 'A szöveg túl nagy. A korlát {size}.',
  problemNumber: 'Adjon meg egy egész számot {min} és {max} között.',
  problemPassphrase: {
    one: 'A jelmondat túl hosszú. A korlát {count} karakter.',
    other: 'A jelmondat túl hosszú. A korlát {count} karakter.',
  },
  problemFiles: {
    one: 'Legfeljebb {count} fájlt válasszon.',
    other: 'Legfeljebb {count} fájlt válasszon.',
  },
  problemFileTooLarge: 'Az egyik fájl túl nagy. A korlát {size}.',
  problemValue: 'Ez az érték érvénytelen.',
  problemFilesAgain: 'Válassza ki újra a fájlokat.',
  problemPassphraseAgain: 'Adja meg újra a jelmondatot.',

  createdTitle: 'A hivatkozás elkészült',
  createdText: 'Küldje el a címzettnek. Bárki megnyithatja a titkot, akinél a hivatkozás megvan.',
  createdPassphrase:
    'Küldje el a címzettnek. A jelmondatot más módon adja meg neki, például telefonon.',
  createdHint:
    'Másolja ki most: ez az oldal nem tölthető be újra. A hivatkozás megnyitása egy megtekintést használ fel.',
  yourLink: 'Az Ön hivatkozása',
  qrOfLink: 'A hivatkozás QR-kódja',
  createAnother: 'Újabb hivatkozás létrehozása',

  encryptInBrowser: 'Titkosítás a böngészőben, hogy ez a kiszolgáló ne olvashassa el',
  encrypting: 'Titkosítás…',
  enterKeyWords:
    'Ez a titok titkosítva van. Adja meg a kulcs szavait, amelyeket a feladótól kapott.',
  keyWords: 'A kulcs szavai',
  keyMissing:
    'A hivatkozás hiányos: hiányzik a # utáni rész. Kérje el a feladótól a teljes hivatkozást.',
  keyDamaged:
    'A hivatkozás sérült: a # utáni rész hibás. Kérje el a feladótól a teljes hivatkozást.',
  keyWrong: 'Ez a kulcs nem nyitja meg.',
  secretDamaged: 'A titkosított titok sérült vagy hiányos.',
  decrypting: 'Visszafejtés…',
  decrypt: 'Visszafejtés',
  decryptWithAge: 'Nyissa meg az age programmal: {command}',
  decryptNoScript:
    'Titkosítva. Nyissa meg JavaScriptet támogató böngészővel vagy ezzel a paranccsal: {command}',
  openTitle: 'Titkosított titok megnyitása',
  openText: 'Illessze be a titkosított titkot és a kulcsát. Ezek nem hagyják el a böngészőjét.',
  encryptedSecret: 'Titkosított titok',
  key: 'Kulcs',
  requestTitle: 'Valaki egy titkot kér Öntől',
  requestFrom: 'Kérő: {name}.',
  requestUnexpected:
    'Nem számított erre? Győződjön meg róla, például telefonon, hogy a kérés attól származik, akire gondol.',
  showRequest: 'Kérés megjelenítése',
  question: 'Amit kérnek',
  yourAnswer: 'Az Ön válasza',
  answerHint:
    'Csak egyszer válaszolhat. A kérő egyszer olvashatja el a választ, utána az törlődik.',
  answerEncrypted: 'A választ ez a böngésző titkosítja. Csak a kérő tudja visszafejteni.',
  answerUnencrypted:
    'JavaScript nélkül a válasz titkosítatlanul kerül erre a kiszolgálóra, amely el tudná olvasni.',
  answerServerKey:
    'E rész nélkül a választ a kiszolgáló saját kulcsa titkosítja, és a kiszolgáló üzemeltetője el tudná olvasni.',
  answerReadable:
    'A választ nem titkosítja ez a böngésző. A kiszolgáló üzemeltetője el tudja olvasni.',
  sendAnswer: 'Válasz küldése',
  sending: 'Küldés…',
  sendFailed: 'A válasz nem lett elküldve. Ellenőrizze a kapcsolatot, és próbálja újra.',
  sentTitle: 'A válasza elküldve',
  sentText: 'A kérő most már elolvashatja.',
  answeredTitle: 'Erre a kérésre már érkezett válasz',
  answeredText:
    'Egy kérésre csak egy válasz adható. Ha a válasz nem Öntől jött, szóljon a kérőnek.',
};
