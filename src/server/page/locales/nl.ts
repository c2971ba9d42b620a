import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Geheimen worden versleuteld bewaard en verwijderd zodra de link verloopt.',
  contact: 'Vragen? Neem contact op met {contact}.',
  previewText: 'Deze link verloopt na een aantal weergaven of dagen.',

  sharedTitle: 'Er is een geheim met u gedeeld',
  pressToShow: 'Klik op de knop om het te bekijken.',
  enterPassphrase:
    'Voer de wachtwoordzin in die u van de afzender hebt gekregen, bijvoorbeeld telefonisch of in een ander bericht.',
  unexpected: 'Had u dit niet verwacht? Vraag het na bij de afzender voordat u het opent.',
  passphrase: 'Wachtwoordzin',
  showPassphrase: 'Wachtwoordzin tonen',
  hidePassphrase: 'Wachtwoordzin verbergen',
  showSecret: 'Geheim tonen',
  passphraseMissing: 'Voer de wachtwoordzin in.',
  passphraseWrong: 'Onjuiste wachtwoordzin.',
  passphraseWrongLeft: {
    one: 'Onjuiste wachtwoordzin. U hebt voorlopig nog {count} poging.',
    other: 'Onjuiste wachtwoordzin. U hebt voorlopig nog {count} pogingen.',
  },
  passphraseWrongWait: 'Onjuiste wachtwoordzin. Wacht een minuut voordat u het opnieuw probeert.',
  passphraseTooOften: 'Te veel pogingen. Probeer het {when} opnieuw.',
  passphraseIsKey:
    'Dit is de sleutel van een versleuteld geheim, geen wachtwoordzin. Hij is niet verzonden: deze server mag hem niet zien.',

  viewsLeft: { one: 'Nog {count} weergave over.', other: 'Nog {count} weergaven over.' },
  openingUsesOne: 'Het geheim openen kost één weergave.',
  openingUsesLast:
    'Het geheim openen kost deze weergave. Zorg dus dat u een veilige plek hebt om het te bewaren.',
  reloadingUsesOne: 'Deze pagina opnieuw laden kost één weergave.',
  expires: 'Verloopt {when}.',
  lastView: 'Dit was de laatste weergave.',
  lastViewText:
    'Het geheim is van de server verwijderd. Deze pagina is de enige kopie en kan niet opnieuw worden geladen.',
  lastViewFiles:
    'Deze pagina kan niet opnieuw worden geladen. De bestanden worden verwijderd zodra de downloadknoppen verlopen.',

  secretTitle: 'Het geheim',
  filesTitle: {
    one: 'Er is {count} bestand met u gedeeld',
    other: 'Er zijn {count} bestanden met u gedeeld',
  },
  keepSafe: 'Bewaar het op een veilige plek voordat u deze pagina verlaat.',
  closeWhenDone:
    'Sluit deze pagina als u klaar bent. Iedereen die de pagina ziet, ziet het geheim.',
  saveFiles: 'Sla de bestanden op voordat u deze pagina verlaat.',
  text: 'Tekst',
  message: 'Bericht',
  link: 'Link',
  qrCode: 'QR-code',
  qrText: 'Tekst van de QR-code',
  showText: 'Tekst tonen',
  showMessage: 'Bericht tonen',
  showLink: 'Link tonen',
  showQrCode: 'QR-code tonen',
  hide: 'Verbergen',
  copy: 'Kopiëren',
  copyText: 'Tekst kopiëren',
  copied: 'Gekopieerd naar het klembord.',
  copyFailed:
    'De browser stond kopiëren niet toe. De tekst is nu geselecteerd: kopieer deze met het toetsenbord of via het menu.',
  nullCharacters:
    'De tekst bevat nultekens, die niet op een pagina kunnen worden weergegeven. Ze worden weergegeven en gekopieerd als {sign}. Gebruik voor de exacte tekst {command}.',
  leadsTo: 'Deze link leidt naar {host}',
  linkSignIn:
    'Het deel vóór de @ bestaat uit aanmeldgegevens. Het geeft niet aan waar de link naartoe leidt.',
  linkUnencrypted:
    'De verbinding met deze site is niet versleuteld. Anderen kunnen mogelijk meelezen wat er wordt verzonden.',
  linkLetters:
    'De naam van deze site bevat andere letters dan a tot en met z, en sommige letters lijken op elkaar. Computers schrijven zo’n naam met {prefix} aan het begin.',
  openInNewTab: 'Openen in nieuw tabblad',
  qrTooLong: 'Deze tekst was bedoeld als QR-code, maar is daarvoor te lang.',
  download: 'Downloaden',
  downloadFile: '{name} downloaden',
  downloadAll: 'Alles downloaden',
  downloadsUntil:
    'De downloadknoppen werken tot {time}. Een download die al is gestart, gaat daarna gewoon door.',
  downloadsLeft:
    'De downloadknoppen werken nog {time}. Een download die al is gestart, gaat daarna gewoon door.',
  downloadsExpired: 'De downloadknoppen zijn verlopen.',
  downloadsExpiredReload:
    'De downloadknoppen zijn verlopen. Laad deze pagina opnieuw voor nieuwe knoppen. Dit kost één weergave.',
  deleteSecret: 'Geheim nu verwijderen',
  deleteWarning: 'De link werkt dan voor niemand meer. Dit kan niet ongedaan worden gemaakt.',
  deleteForEveryone: 'Voor iedereen verwijderen',
  deletedTitle: 'Het geheim is verwijderd',
  deletedText: 'De link werkt niet meer en er is niets van het geheim bewaard gebleven.',
  closePage: 'U kunt deze pagina sluiten.',

  goneTitle: 'Deze link is niet meer beschikbaar',
  goneText:
    'De link is verlopen, is verwijderd of heeft nooit bestaan. Welke van de drie het is, zeggen we niet, zodat links niet kunnen worden geraden.',
  goneAdvice:
    'Vraag de afzender om een nieuwe link. Kwam de link in een bericht, controleer dan of u hem helemaal hebt gekopieerd.',

  forbiddenTitle: 'Dit is niet toegestaan',
  foreignForm:
    'Dit formulier is vanaf een andere site verzonden. Open de link zelf en klik daar op de knop.',
  usersOnly: 'Alleen gebruikers van deze server kunnen de geheimen ervan openen, via de API.',
  notDeletable: 'Alleen de afzender kan dit geheim verwijderen.',
  tooLargeTitle: 'Te groot',
  tooLargeText: 'Wat u hebt verzonden, is groter dan deze server accepteert.',
  tooManyTitle: 'Te veel verzoeken',
  tooManyText: 'U hebt meer verzoeken verzonden dan deze server in één keer accepteert.',
  busyTitle: 'De dienst is bezet',
  busyText: 'Dit verzoek kan op dit moment niet worden beantwoord.',
  fullTitle: 'Geen ruimte meer',
  fullText: 'Deze server heeft niet genoeg schijfruimte voor nieuwe geheimen.',
  invalidTitle: 'Dat is niet gelukt',
  invalidText: 'Het verzoek is ongeldig. Ga terug en probeer het opnieuw.',
  errorTitle: 'Er is iets misgegaan',
  errorText: 'De dienst kon dit verzoek niet beantwoorden. De oorzaak staat in het logboek ervan.',
  tryAgain: 'Opnieuw proberen',
  tryAgainIn: 'Probeer het {when} opnieuw.',

  frontTitle: 'Deel een geheim met een link die verloopt',
  frontText:
    'Voer een wachtwoord, een sleutel of een andere tekst in. U krijgt een link die niet meer werkt na het aantal weergaven of dagen dat u kiest.',
  frontTextFiles:
    'Voer een tekst in of kies bestanden. U krijgt een link die niet meer werkt na het aantal weergaven of dagen dat u kiest.',
  frontTextUsers:
    'Geheimen op deze server worden versleuteld bewaard en na een aantal weergaven of dagen verwijderd.',
  secretText: 'Geheime tekst',
  files: 'Bestanden',
  filesLimit: {
    one: 'Maximaal {count} bestand, tot {size}.',
    other: 'Maximaal {count} bestanden, elk tot {size}.',
  },
  views: 'Aantal weergaven',
  days: 'Aantal dagen',
  passphraseOptional: 'Wachtwoordzin (optioneel)',
  passphraseHint:
    'De ontvanger heeft deze nodig om het geheim te openen. Verstuur de wachtwoordzin niet samen met de link.',
  createLink: 'Link maken',
  receivedTitle: 'Hebt u een link ontvangen?',
  receivedText: 'Open de link zoals u hem hebt ontvangen. Hij begint met {address}.',
  cliTitle: 'Op de opdrachtregel',
  cliText: 'Installeer het programma eenmalig. Het vraagt om het geheim en toont de link.',
  cliTextUsers:
    'Installeer het programma eenmalig en meld u aan met uw token. Daarna vraagt het om het geheim en toont het de link.',

  problemText: 'Voer een tekst in.',
  problemTextOrFiles: 'Voer een tekst in of kies bestanden.',
  problemTextTooLarge: 'De tekst is te groot. De limiet is {size}.',
  problemNumber: 'Voer een geheel getal van {min} tot en met {max} in.',
  problemPassphrase: {
    one: 'De wachtwoordzin is te lang. De limiet is {count} teken.',
    other: 'De wachtwoordzin is te lang. De limiet is {count} tekens.',
  },
  problemFiles: {
    one: 'Kies maximaal {count} bestand.',
    other: 'Kies maximaal {count} bestanden.',
  },
  problemFileTooLarge: 'Een bestand is te groot. De limiet is {size}.',
  problemValue: 'Deze waarde is ongeldig.',
  problemFilesAgain: 'Kies de bestanden opnieuw.',
  problemPassphraseAgain: 'Voer de wachtwoordzin opnieuw in.',

  createdTitle: 'Uw link is klaar',
  createdText:
    'Stuur de link naar de ontvanger. Iedereen die de link heeft, kan het geheim openen.',
  createdPassphrase:
    'Stuur de link naar de ontvanger. Geef de wachtwoordzin op een andere manier door, bijvoorbeeld telefonisch.',
  createdHint:
    'Kopieer de link nu: deze pagina kan niet opnieuw worden geladen. De link openen kost één weergave.',
  yourLink: 'Uw link',
  qrOfLink: 'QR-code van de link',
  createAnother: 'Nog een link maken',

  encryptInBrowser: 'Versleutelen in de browser, zodat deze server niet kan meelezen',
  encrypting: 'Versleutelen…',
  enterKeyWords:
    'Dit geheim is versleuteld. Voer de sleutelwoorden in die u van de afzender hebt gekregen.',
  keyWords: 'Sleutelwoorden',
  keyMissing:
    'De link is onvolledig: het deel na # ontbreekt. Vraag de afzender om de volledige link.',
  keyDamaged:
    'De link is beschadigd: het deel na # klopt niet. Vraag de afzender om de volledige link.',
  keyWrong: 'Met die sleutel lukt het openen niet.',
  secretDamaged: 'Het versleutelde geheim is beschadigd of onvolledig.',
  decrypting: 'Ontsleutelen…',
  decrypt: 'Ontsleutelen',
  decryptWithAge: 'Open het met age: {command}',
  decryptNoScript: 'Versleuteld. Open het met een browser met JavaScript of met: {command}',
  openTitle: 'Een versleuteld geheim openen',
  openText: 'Plak een versleuteld geheim en de sleutel ervan. Ze verlaten uw browser niet.',
  encryptedSecret: 'Versleuteld geheim',
  key: 'Sleutel',
  requestTitle: 'Iemand vraagt u om een geheim',
  requestFrom: 'Gevraagd door {name}.',
  requestUnexpected:
    'Had u dit niet verwacht? Ga na, bijvoorbeeld telefonisch, of het verzoek komt van de persoon die u denkt.',
  showRequest: 'Verzoek tonen',
  question: 'Wat er wordt gevraagd',
  yourAnswer: 'Uw antwoord',
  answerHint:
    'U kunt maar één keer antwoorden. De vrager kan het antwoord één keer lezen; daarna wordt het verwijderd.',
  answerEncrypted:
    'Uw antwoord wordt in deze browser versleuteld. Alleen de vrager kan het ontsleutelen.',
  answerUnencrypted:
    'Zonder JavaScript wordt het antwoord onversleuteld naar deze server gestuurd, die het zou kunnen lezen.',
  answerServerKey:
    'Zonder dat deel wordt uw antwoord versleuteld met de eigen sleutel van de server, en wie de server beheert, zou het kunnen lezen.',
  answerReadable:
    'Uw antwoord wordt niet in deze browser versleuteld. Wie deze server beheert, kan het lezen.',
  sendAnswer: 'Antwoord versturen',
  sending: 'Versturen…',
  sendFailed: 'Het antwoord is niet verstuurd. Controleer uw verbinding en probeer het opnieuw.',
  sentTitle: 'Uw antwoord is verstuurd',
  sentText: 'De vrager kan het nu lezen.',
  answeredTitle: 'Dit verzoek is al beantwoord',
  answeredText:
    'Een verzoek accepteert maar één antwoord. Was het antwoord niet van u, laat dat de vrager dan weten.',
};
