import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Sekretuak zifratuta gordetzen dira, eta ezabatu egiten dira esteka iraungitzean.',
  contact: 'Galderarik? Harremanetarako: {contact}.',
  previewText: 'Esteka hau ikustaldi edo egun kopuru jakin baten ondoren iraungitzen da.',

  sharedTitle: 'Sekretu bat partekatu dute zurekin',
  pressToShow: 'Sakatu botoia ikusteko.',
  enterPassphrase:
    'Idatzi bidaltzaileak eman dizun pasaesaldia, agian telefonoz edo beste mezu batean emana.',
  unexpected: 'Ez zenuen espero? Galdetu bidaltzaileari ireki aurretik.',
  passphrase: 'Pasaesaldia',
  showPassphrase: 'Erakutsi pasaesaldia',
  hidePassphrase: 'Ezkutatu pasaesaldia',
  showSecret: 'Erakutsi sekretua',
  passphraseMissing: 'Idatzi pasaesaldia.',
  passphraseWrong: 'Pasaesaldi okerra.',
  passphraseWrongLeft: {
    one: 'Pasaesaldi okerra. Oraingoz saiakera {count} geratzen zaizu.',
    other: 'Pasaesaldi okerra. Oraingoz {count} saiakera geratzen zaizkizu.',
  },
  passphraseWrongWait: 'Pasaesaldi okerra. Itxaron minutu bat berriro saiatu aurretik.',
  passphraseTooOften: 'Saiakera gehiegi. Saiatu berriro {when}.',
  passphraseIsKey:
    'Hau sekretu zifratu baten gakoa da, ez pasaesaldia. Ez da bidali: zerbitzari honek ez du ikusi behar.',

  viewsLeft: {
    one: 'Ikustaldi {count} geratzen da.',
    other: '{count} ikustaldi geratzen dira.',
  },
  openingUsesOne: 'Sekretua irekitzeak ikustaldi bat erabiltzen du.',
  openingUsesLast:
    'Sekretua irekitzeak ikustaldi hori erabiltzen du; beraz, izan prest leku seguru bat sekretua gordetzeko.',
  reloadingUsesOne: 'Orri hau berriro kargatzeak ikustaldi bat erabiltzen du.',
  expires: 'Iraungitzea: {when}.',
  lastView: 'Hori izan da azken ikustaldia.',
  lastViewText:
    'Sekretua zerbitzaritik ezabatu da. Orri hau da kopia bakarra, eta ezin da berriro kargatu.',
  lastViewFiles:
    'Orri hau ezin da berriro kargatu. Fitxategiak ezabatu egingo dira deskargatzeko botoiak iraungitzean.',

  secretTitle: 'Sekretua',
  filesTitle: {
    one: 'Fitxategi {count} partekatu dute zurekin',
    other: '{count} fitxategi partekatu dituzte zurekin',
  },
  keepSafe: 'Gorde leku seguru batean orri hau utzi aurretik.',
  closeWhenDone: 'Itxi orri hau amaitzen duzunean. Orria ikusten duen edonork sekretua ikusten du.',
  saveFiles: 'Gorde fitxategiak orri hau utzi aurretik.',
  text: 'Testua',
  message: 'Mezua',
  link: 'Esteka',
  qrCode: 'QR kodea',
  qrText: 'QR kodearen testua',
  showText: 'Erakutsi testua',
  showMessage: 'Erakutsi mezua',
  showLink: 'Erakutsi esteka',
  showQrCode: 'Erakutsi QR kodea',
  hide: 'Ezkutatu',
  copy: 'Kopiatu',
  copyText: 'Kopiatu testua',
  copied: 'Arbelean kopiatu da.',
  copyFailed:
    'Nabigatzaileak ez du kopiatzen utzi. Testua hautatuta dago orain: kopiatu teklatuarekin edo menuarekin.',
  nullCharacters:
    'Testuak karaktere nuluak ditu, eta orri batek ezin ditu erakutsi. {sign} gisa erakusten eta kopiatzen dira. Testu zehatza lortzeko, erabili {command}.',
  leadsTo: 'Esteka honek hona eramaten du: {host}',
  linkSignIn:
    'Saioa hasteko datuak dira @ zeinuaren aurreko zatia. Ez du adierazten estekak nora eramaten duen.',
  linkUnencrypted:
    'Gune honekiko konexioa ez dago zifratuta. Baliteke beste batzuek bidaltzen dena irakurtzea.',
  linkLetters:
    'Gune honen izenak a-tik z-ra bitartekoez bestelako letrak ditu, eta letra batzuk elkarren antzekoak dira. Ordenagailuek {prefix} jartzen dute halako izenen hasieran.',
  openInNewTab: 'Ireki fitxa berri batean',
  qrTooLong: 'Testu hau QR kode bat izatekoa zen, baina luzeegia da horretarako.',
  download: 'Deskargatu',
  downloadFile: 'Deskargatu {name}',
  downloadAll: 'Deskargatu guztiak',
  downloadsUntil:
    'Deskargatzeko botoiek ordu honetara arte funtzionatuko dute: {time}. Hasita dagoen deskarga batek aurrera jarraituko du ondoren ere.',
  downloadsLeft:
    'Deskargatzeko botoiek denbora honetan funtzionatuko dute oraindik: {time}. Hasita dagoen deskarga batek aurrera jarraituko du ondoren ere.',
  downloadsExpired: 'Deskargatzeko botoiak iraungi dira.',
  downloadsExpiredReload:
    'Deskargatzeko botoiak iraungi dira. Kargatu orri hau berriro botoi berriak lortzeko. Horrek ikustaldi bat erabiltzen du.',
  deleteSecret: 'Ezabatu sekretua orain',
  deleteWarning: 'Estekak guztiontzat utziko dio funtzionatzeari. Hori ezin da desegin.',
  deleteForEveryone: 'Ezabatu guztiontzat',
  deletedTitle: 'Sekretua ezabatu da',
  deletedText: 'Estekak jada ez du funtzionatzen, eta ez da sekretuaren ezer gordetzen.',
  closePage: 'Orri hau itxi dezakezu.',

  goneTitle: 'Esteka hau jada ez dago erabilgarri',
  goneText:
    'Iraungi da, ezabatu egin dute edo ez da inoiz existitu. Ez dugu zehazten zein den kasua, estekak asmatu ezin izateko.',
  goneAdvice:
    'Eskatu esteka berri bat bidaltzaileari. Mezu batean jaso baduzu, egiaztatu osorik kopiatu duzula.',

  forbiddenTitle: 'Hori ez dago baimenduta',
  foreignForm:
    'Inprimaki hau beste gune batetik bidali da. Ireki zuk zeuk esteka eta sakatu hango botoia.',
  usersOnly:
    'Zerbitzari honen erabiltzaileek soilik ireki ditzakete bertako sekretuak, APIaren bidez.',
  notDeletable: 'Bidaltzaileak soilik ezaba dezake sekretu hau.',
  tooLargeTitle: 'Handiegia',
  tooLargeText: 'Bidali duzuna zerbitzari honek onartzen duena baino handiagoa da.',
  tooManyTitle: 'Eskaera gehiegi',
  tooManyText:
    'Zerbitzari honek aldi berean onartzen dituenak baino eskaera gehiago bidali dituzu.',
  busyTitle: 'Zerbitzua lanpetuta dago',
  busyText: 'Une honetan ezin dio eskaera honi erantzun.',
  fullTitle: 'Ez da lekurik geratzen',
  fullText: 'Zerbitzari honek ez du behar adina leku diskoan sekretu berrietarako.',
  invalidTitle: 'Horrek ez du funtzionatu',
  invalidText: 'Eskaera ez da baliozkoa. Egin atzera eta saiatu berriro.',
  errorTitle: 'Arazoren bat izan da',
  errorText: 'Zerbitzuak ezin izan dio eskaera honi erantzun. Arrazoia haren erregistroan dago.',
  tryAgain: 'Saiatu berriro',
  tryAgainIn: 'Saiatu berriro {when}.',

  frontTitle: 'Partekatu sekretu bat iraungitzen den esteka baten bidez',
  frontText:
    'Idatzi pasahitz bat, gako bat edo beste edozein testu. Esteka bat jasoko duzu, eta funtzionatzeari utziko dio aukeratzen duzun ikustaldi edo egun kopuruaren ondoren.',
  frontTextFiles:
    'Idatzi testu bat edo aukeratu fitxategiak. Esteka bat jasoko duzu, eta funtzionatzeari utziko dio aukeratzen duzun ikustaldi edo egun kopuruaren ondoren.',
  frontTextUsers:
    'Zerbitzari honetako sekretuak zifratuta gordetzen dira, eta ikustaldi edo egun kopuru jakin baten ondoren ezabatzen dira.',
  secretText: 'Testu sekretua',
  files: 'Fitxategiak',
  filesLimit: {
    one: 'Gehienez fitxategi {count}, {size} artekoa.',
    other: 'Gehienez {count} fitxategi, bakoitza {size} artekoa.',
  },
  views: 'Ikustaldi kopurua',
  days: 'Egun kopurua',
  passphraseOptional: 'Pasaesaldia (aukerakoa)',
  passphraseHint:
    'Hartzaileak pasaesaldia behar du sekretua irekitzeko. Ez bidali estekarekin batera.',
  createLink: 'Sortu esteka',
  receivedTitle: 'Esteka bat jaso duzu?',
  receivedText: 'Ireki jaso duzun bezalaxe. Honela hasten da: {address}.',
  cliTitle: 'Komando-lerroan',
  cliText: 'Instalatu programa behin. Sekretua eskatuko dizu, eta esteka erakutsiko du.',
  cliTextUsers:
    'Instalatu programa behin eta hasi saioa zure tokenarekin. Ondoren, sekretua eskatuko dizu, eta esteka erakutsiko du.',

  problemText: 'Idatzi testu bat.',
  problemTextOrFiles: 'Idatzi testu bat edo aukeratu fitxategiak.',
  problemTextTooLarge: 'Testua handiegia da. Muga: {size}.',
  problemNumber: 'Idatzi zenbaki oso bat, {min} eta {max} artekoa.',
  problemPassphrase: {
    one: 'Pasaesaldia luzeegia da. Muga karaktere {count} da.',
    other: 'Pasaesaldia luzeegia da. Muga {count} karaktere da.',
  },
  problemFiles: {
    one: 'Aukeratu gehienez fitxategi {count}.',
    other: 'Aukeratu gehienez {count} fitxategi.',
  },
  problemFileTooLarge: 'Fitxategi bat handiegia da. Muga: {size}.',
  problemValue: 'Balio hau ez da baliozkoa.',
  problemFilesAgain: 'Aukeratu fitxategiak berriro.',
  problemPassphraseAgain: 'Idatzi pasaesaldia berriro.',

  createdTitle: 'Zure esteka prest dago',
  createdText: 'Bidali esteka hartzaileari. Esteka duen edonork ireki dezake sekretua.',
  createdPassphrase:
    'Bidali esteka hartzaileari. Eman pasaesaldia beste bide batetik, adibidez telefonoz.',
  createdHint:
    'Kopiatu orain: orri hau ezin da berriro kargatu. Esteka irekitzeak ikustaldi bat erabiltzen du.',
  yourLink: 'Zure esteka',
  qrOfLink: 'Estekaren QR kodea',
  createAnother: 'Sortu beste esteka bat',

  encryptInBrowser: 'Zifratu nabigatzailean, zerbitzari honek irakurri ezin izateko',
  encrypting: 'Zifratzen…',
  enterKeyWords: 'Sekretu hau zifratuta dago. Idatzi bidaltzaileak eman dizkizun gakoaren hitzak.',
  keyWords: 'Gakoaren hitzak',
  keyMissing:
    'Esteka osatu gabe dago: # zeinuaren ondorengo zatia falta da. Eskatu esteka osoa bidaltzaileari.',
  keyDamaged:
    'Esteka hondatuta dago: # zeinuaren ondorengo zatia ez da zuzena. Eskatu esteka osoa bidaltzaileari.',
  keyWrong: 'Gako horrek ez du irekitzen.',
  secretDamaged: 'Zifratutako sekretua hondatuta edo osatu gabe dago.',
  decrypting: 'Deszifratzen…',
  decrypt: 'Deszifratu',
  decryptWithAge: 'Ireki age programarekin: {command}',
  decryptNoScript:
    'Zifratuta dago. Ireki JavaScript duen nabigatzaile batekin, edo honekin: {command}',
  openTitle: 'Ireki zifratutako sekretu bat',
  openText:
    'Itsatsi zifratutako sekretu bat eta haren gakoa. Ez dira zure nabigatzailetik aterako.',
  encryptedSecret: 'Zifratutako sekretua',
  key: 'Gakoa',
  requestTitle: 'Norbaitek sekretu bat eskatzen dizu',
  requestFrom: 'Eskatzailea: {name}.',
  requestUnexpected:
    'Ez zenuen espero? Egiaztatu, adibidez telefonoz, zuk uste duzun pertsonak eskatu duela.',
  showRequest: 'Erakutsi eskaera',
  question: 'Eskatzen dizutena',
  yourAnswer: 'Zure erantzuna',
  answerHint:
    'Behin bakarrik erantzun dezakezu. Eskatzaileak behin irakur dezake erantzuna; gero ezabatu egiten da.',
  answerEncrypted:
    'Zure erantzuna nabigatzaile honetan zifratzen da. Eskatzaileak bakarrik deszifra dezake.',
  answerUnencrypted:
    'JavaScript gabe, erantzuna zifratu gabe bidaltzen da zerbitzari honetara, eta zerbitzariak irakur lezake.',
  answerServerKey:
    'Zati hori gabe, zure erantzuna zerbitzariaren gakoarekin zifratzen da, eta zerbitzariaren kudeatzaileak irakur lezake.',
  answerReadable:
    'Zure erantzuna ez da nabigatzaile honetan zifratzen. Zerbitzari honen kudeatzaileak irakur dezake.',
  sendAnswer: 'Bidali erantzuna',
  sending: 'Bidaltzen…',
  sendFailed: 'Erantzuna ez da bidali. Egiaztatu konexioa eta saiatu berriro.',
  sentTitle: 'Zure erantzuna bidali da',
  sentText: 'Eskatzaileak irakur dezake orain.',
  answeredTitle: 'Eskaera honi erantzun diote dagoeneko',
  answeredText:
    'Eskaera batek erantzun bakarra onartzen du. Erantzuna zurea ez bazen, esan eskatzaileari.',
};
