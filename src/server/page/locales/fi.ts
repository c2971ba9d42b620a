import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Salaisuudet salataan, ja ne poistetaan, kun linkki vanhenee.',
  contact: 'Kysyttävää? Ota yhteyttä: {contact}.',
  previewText: 'Tämä linkki vanhenee tietyn katselukertojen tai päivien määrän jälkeen.',

  sharedTitle: 'Kanssasi on jaettu salaisuus',
  pressToShow: 'Näytä se painamalla painiketta.',
  enterPassphrase:
    'Anna tunnuslause, jonka sait lähettäjältä esimerkiksi puhelimitse tai toisessa viestissä.',
  unexpected: 'Etkö odottanut tätä? Kysy lähettäjältä, ennen kuin avaat sen.',
  passphrase: 'Tunnuslause',
  showPassphrase: 'Näytä tunnuslause',
  hidePassphrase: 'Piilota tunnuslause',
  showSecret: 'Näytä salaisuus',
  passphraseMissing: 'Anna tunnuslause.',
  passphraseWrong: 'Väärä tunnuslause.',
  passphraseWrongLeft: {
    one: 'Väärä tunnuslause. Toistaiseksi {count} yritys jäljellä.',
    other: 'Väärä tunnuslause. Toistaiseksi {count} yritystä jäljellä.',
  },
  passphraseWrongWait: 'Väärä tunnuslause. Odota minuutti, ennen kuin yrität uudelleen.',
  passphraseTooOften: 'Liian monta yritystä. Yritä uudelleen {when}.',
  passphraseIsKey:
    'Tämä on salatun salaisuuden avain eikä tunnuslause. Sitä ei lähetetty, koska tämä palvelin ei saa nähdä sitä.',

  viewsLeft: {
    one: '{count} katselukerta jäljellä.',
    other: '{count} katselukertaa jäljellä.',
  },
  openingUsesOne: 'Salaisuuden avaaminen käyttää yhden.',
  openingUsesLast:
    'Salaisuuden avaaminen käyttää sen, joten varaa salaisuudelle valmiiksi turvallinen paikka.',
  reloadingUsesOne: 'Tämän sivun lataaminen uudelleen käyttää yhden.',
  expires: 'Vanhenee {when}.',
  lastView: 'Tämä oli viimeinen katselukerta.',
  lastViewText:
    'Salaisuus on poistettu palvelimelta. Tämä sivu on ainoa kopio, eikä sitä voi ladata uudelleen.',
  lastViewFiles:
    'Tätä sivua ei voi ladata uudelleen. Tiedostot poistetaan, kun latauspainikkeet vanhenevat.',

  secretTitle: 'Salaisuus',
  filesTitle: {
    one: 'Kanssasi on jaettu {count} tiedosto',
    other: 'Kanssasi on jaettu {count} tiedostoa',
  },
  keepSafe: 'Tallenna se turvalliseen paikkaan, ennen kuin poistut tältä sivulta.',
  closeWhenDone: 'Sulje tämä sivu, kun olet valmis. Jokainen, joka näkee sivun, näkee salaisuuden.',
  saveFiles: 'Tallenna tiedostot, ennen kuin poistut tältä sivulta.',
  text: 'Teksti',
  message: 'Viesti',
  link: 'Linkki',
  qrCode: 'QR-koodi',
  qrText: 'QR-koodin teksti',
  showText: 'Näytä teksti',
  showMessage: 'Näytä viesti',
  showLink: 'Näytä linkki',
  showQrCode: 'Näytä QR-koodi',
  hide: 'Piilota',
  copy: 'Kopioi',
  copyText: 'Kopioi teksti',
  copied: 'Kopioitu leikepöydälle.',
  copyFailed:
    'Selain ei sallinut kopiointia. Teksti on nyt valittuna: kopioi se näppäimistöllä tai valikosta.',
  nullCharacters:
    'Tekstissä on nollamerkkejä, joita sivulla ei voi näyttää. Ne näytetään ja kopioidaan merkkinä {sign}. Täsmällisen tekstin saat komennolla {command}.',
  leadsTo: 'Tämän linkin kohde on {host}',
  linkSignIn: '@-merkkiä edeltävä osa on kirjautumistietoja. Se ei kerro, minne linkki johtaa.',
  linkUnencrypted:
    'Yhteyttä tähän sivustoon ei ole salattu. Muut saattavat pystyä lukemaan lähetetyt tiedot.',
  linkLetters:
    'Tämän sivuston nimessä on muita kirjaimia kuin a–z, ja jotkin kirjaimet näyttävät samalta. Tietokoneet kirjoittavat tällaisen nimen alkuun merkit {prefix}.',
  openInNewTab: 'Avaa uudessa välilehdessä',
  qrTooLong: 'Tämä teksti oli tarkoitettu QR-koodiksi, mutta se on siihen liian pitkä.',
  download: 'Lataa',
  downloadFile: 'Lataa {name}',
  downloadAll: 'Lataa kaikki',
  downloadsUntil:
    'Latauspainikkeet toimivat kello {time} asti. Jo alkanut lataus jatkuu senkin jälkeen.',
  downloadsLeft: 'Latauspainikkeet toimivat vielä {time}. Jo alkanut lataus jatkuu senkin jälkeen.',
  downloadsExpired: 'Latauspainikkeet ovat vanhentuneet.',
  downloadsExpiredReload:
    'Latauspainikkeet ovat vanhentuneet. Saat uudet lataamalla tämän sivun uudelleen. Tämä käyttää yhden katselukerran.',
  deleteSecret: 'Poista salaisuus nyt',
  deleteWarning: 'Linkki lakkaa toimimasta kaikilta. Tätä ei voi kumota.',
  deleteForEveryone: 'Poista kaikilta',
  deletedTitle: 'Salaisuus on poistettu',
  deletedText: 'Linkki ei enää toimi, eikä salaisuudesta ole säilytetty mitään.',
  closePage: 'Voit sulkea tämän sivun.',

  goneTitle: 'Tämä linkki ei ole enää käytettävissä',
  goneText:
    'Se on vanhentunut, se on poistettu tai sitä ei ole koskaan ollutkaan. Emme kerro, mikä näistä on syynä, jotta linkkejä ei voi arvata.',
  goneAdvice:
    'Pyydä lähettäjältä uusi linkki. Jos linkki tuli viestissä, tarkista, että kopioit sen kokonaan.',

  forbiddenTitle: 'Tämä ei ole sallittua',
  foreignForm:
    'Tämä lomake lähetettiin toiselta sivustolta. Avaa linkki itse ja paina painiketta siellä.',
  usersOnly: 'Vain tämän palvelimen käyttäjät voivat avata sen salaisuuksia API-rajapinnan kautta.',
  notDeletable: 'Vain lähettäjä voi poistaa tämän salaisuuden.',
  tooLargeTitle: 'Liian suuri',
  tooLargeText: 'Lähettämäsi sisältö on suurempi kuin tämä palvelin hyväksyy.',
  tooManyTitle: 'Liian monta pyyntöä',
  tooManyText: 'Lähetit enemmän pyyntöjä kuin tämä palvelin hyväksyy kerralla.',
  busyTitle: 'Palvelu on varattu',
  busyText: 'Se ei voi vastata tähän pyyntöön juuri nyt.',
  fullTitle: 'Tila on lopussa',
  fullText: 'Tällä palvelimella ei ole riittävästi levytilaa uusille salaisuuksille.',
  invalidTitle: 'Tämä ei onnistunut',
  invalidText: 'Pyyntö on virheellinen. Palaa takaisin ja yritä uudelleen.',
  errorTitle: 'Jokin meni vikaan',
  errorText: 'Palvelu ei voinut vastata tähän pyyntöön. Syy löytyy sen lokista.',
  tryAgain: 'Yritä uudelleen',
  tryAgainIn: 'Yritä uudelleen {when}.',

  frontTitle: 'Jaa salaisuus vanhenevalla linkillä',
  frontText:
    'Anna salasana, avain tai muu teksti. Saat linkin, joka lakkaa toimimasta valitsemasi katselukertojen tai päivien määrän jälkeen.',
  frontTextFiles:
    'Anna teksti tai valitse tiedostoja. Saat linkin, joka lakkaa toimimasta valitsemasi katselukertojen tai päivien määrän jälkeen.',
  frontTextUsers:
    'Tämän palvelimen salaisuudet salataan ja poistetaan tietyn katselukertojen tai päivien määrän jälkeen.',
  secretText: 'Salainen teksti',
  files: 'Tiedostot',
  filesLimit: {
    one: 'Enintään {count} tiedosto, koko enintään {size}.',
    other: 'Enintään {count} tiedostoa, kunkin koko enintään {size}.',
  },
  views: 'Katselukertojen määrä',
  days: 'Päivien määrä',
  passphraseOptional: 'Tunnuslause (valinnainen)',
  passphraseHint:
    'Vastaanottaja tarvitsee sen salaisuuden avaamiseen. Älä lähetä sitä yhdessä linkin kanssa.',
  createLink: 'Luo linkki',
  receivedTitle: 'Saitko linkin?',
  receivedText: 'Avaa se sellaisena kuin sait sen. Sen alku on {address}.',
  cliTitle: 'Komentorivillä',
  cliText: 'Asenna ohjelma kerran. Se kysyy salaisuuden ja tulostaa linkin.',
  cliTextUsers:
    'Asenna ohjelma kerran ja kirjaudu sisään tunnisteellasi. Sen jälkeen se kysyy salaisuuden ja tulostaa linkin.',

  problemText: 'Anna teksti.',
  problemTextOrFiles: 'Anna teksti tai valitse tiedostoja.',
  problemTextTooLarge: 'Teksti on liian suuri. Enimmäiskoko on {size}.',
  problemNumber: 'Anna kokonaisluku väliltä {min}–{max}.',
  problemPassphrase: {
    one: 'Tunnuslause on liian pitkä. Enimmäispituus on {count} merkki.',
    other: 'Tunnuslause on liian pitkä. Enimmäispituus on {count} merkkiä.',
  },
  problemFiles: {
    one: 'Valitse enintään {count} tiedosto.',
    other: 'Valitse enintään {count} tiedostoa.',
  },
  problemFileTooLarge: 'Tiedosto on liian suuri. Enimmäiskoko on {size}.',
  problemValue: 'Tämä arvo on virheellinen.',
  problemFilesAgain: 'Valitse tiedostot uudelleen.',
  problemPassphraseAgain: 'Anna tunnuslause uudelleen.',

  createdTitle: 'Linkkisi on valmis',
  createdText: 'Lähetä se vastaanottajalle. Jokainen, jolla on linkki, voi avata salaisuuden.',
  createdPassphrase:
    'Lähetä se vastaanottajalle. Kerro tunnuslause toista kautta, esimerkiksi puhelimitse.',
  createdHint:
    'Kopioi se nyt: tätä sivua ei voi ladata uudelleen. Linkin avaaminen käyttää yhden katselukerran.',
  yourLink: 'Linkkisi',
  qrOfLink: 'Linkin QR-koodi',
  createAnother: 'Luo toinen linkki',

  encryptInBrowser: 'Salaa selaimessa, jotta tämä palvelin ei voi lukea sitä',
  encrypting: 'Salataan…',
  enterKeyWords: 'Tämä salaisuus on salattu. Anna avaimen sanat, jotka sait lähettäjältä.',
  keyWords: 'Avaimen sanat',
  keyMissing:
    'Linkki on puutteellinen: #-merkin jälkeinen osa puuttuu. Pyydä lähettäjältä koko linkki.',
  keyDamaged:
    'Linkki on vioittunut: #-merkin jälkeinen osa on virheellinen. Pyydä lähettäjältä koko linkki.',
  keyWrong: 'Se ei aukea tällä avaimella.',
  secretDamaged: 'Salattu salaisuus on vioittunut tai puutteellinen.',
  decrypting: 'Puretaan salausta…',
  decrypt: 'Pura salaus',
  decryptWithAge: 'Avaa se age-ohjelmalla: {command}',
  decryptNoScript: 'Salattu. Avaa se JavaScriptiä tukevalla selaimella tai komennolla: {command}',
  openTitle: 'Avaa salattu salaisuus',
  openText: 'Liitä salattu salaisuus ja sen avain. Ne eivät poistu selaimestasi.',
  encryptedSecret: 'Salattu salaisuus',
  key: 'Avain',
  requestTitle: 'Joku pyytää sinulta salaisuutta',
  requestFrom: 'Pyytäjä: {name}.',
  requestUnexpected:
    'Etkö odottanut tätä? Varmista esimerkiksi puhelimitse, että pyyntö tulee siltä, jolta luulet.',
  showRequest: 'Näytä pyyntö',
  question: 'Mitä pyydetään',
  yourAnswer: 'Vastauksesi',
  answerHint:
    'Voit vastata vain kerran. Pyytäjä voi lukea vastauksen kerran, minkä jälkeen se poistetaan.',
  answerEncrypted: 'Vastauksesi salataan tässä selaimessa. Vain pyytäjä voi purkaa salauksen.',
  answerUnencrypted:
    'Ilman JavaScriptiä vastaus lähetetään salaamattomana tälle palvelimelle, joka voisi lukea sen.',
  answerServerKey:
    'Ilman sitä vastauksesi salataan palvelimen omalla avaimella, ja palvelimen ylläpitäjä voisi lukea sen.',
  answerReadable:
    'Vastaustasi ei salata tässä selaimessa. Tämän palvelimen ylläpitäjä voi lukea sen.',
  sendAnswer: 'Lähetä vastaus',
  sending: 'Lähetetään…',
  sendFailed: 'Vastausta ei lähetetty. Tarkista yhteytesi ja yritä uudelleen.',
  sentTitle: 'Vastauksesi on lähetetty',
  sentText: 'Pyytäjä voi nyt lukea sen.',
  answeredTitle: 'Tähän pyyntöön on jo vastattu',
  answeredText:
    'Pyyntöön voi vastata vain kerran. Jos vastaus ei ollut sinun, kerro siitä pyytäjälle.',
};
