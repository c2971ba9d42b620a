import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Secretele sunt criptate și se șterg la expirarea linkului.',
  contact: 'Aveți întrebări? Contact: {contact}.',
  previewText: 'Acest link expiră după un anumit număr de vizualizări sau de zile.',
  sharedTitle: 'Vi s-a trimis un secret',
  pressToShow: 'Apăsați butonul pentru a-l vedea.',
  enterPassphrase:
    'Introduceți fraza de acces primită de la expeditor, de exemplu la telefon sau într-un alt mesaj.',
  unexpected: 'Nu vă așteptați la acest secret? Întrebați expeditorul înainte de a-l deschide.',
  passphrase: 'Frază de acces',
  showPassphrase: 'Afișați fraza de acces',
  hidePassphrase: 'Ascundeți fraza de acces',
  showSecret: 'Afișați secretul',
  passphraseMissing: 'Introduceți fraza de acces.',
  passphraseWrong: 'Fraza de acces este greșită.',
  passphraseWrongLeft: {
    one: 'Fraza de acces este greșită. Deocamdată mai aveți {count} încercare.',
    few: 'Fraza de acces este greșită. Deocamdată mai aveți {count} încercări.',
    other: 'Fraza de acces este greșită. Deocamdată mai aveți {count} de încercări.',
  },
  passphraseWrongWait:
    'Fraza de acces este greșită. Așteptați un minut înainte de a încerca din nou.',
  passphraseTooOften: 'Prea multe încercări. Încercați din nou {when}.',
  passphraseIsKey:
    'Aceasta este cheia unui secret criptat, nu o frază de acces. Nu a fost trimisă: acest server nu trebuie să o vadă.',
  viewsLeft: {
    one: 'A mai rămas {count} vizualizare.',
    few: 'Au mai rămas {count} vizualizări.',
    other: 'Au mai rămas {count} de vizualizări.',
  },
  openingUsesOne: 'Deschiderea secretului consumă una.',
  openingUsesLast:
    'Deschiderea secretului o consumă, așa că pregătiți dinainte un loc sigur în care să îl păstrați.',
  reloadingUsesOne: 'Reîncărcarea acestei pagini consumă una.',
  expires: 'Expiră {when}.',
  lastView: 'Aceasta a fost ultima vizualizare.',
  lastViewText:
    'Secretul a fost șters de pe server. Această pagină este singura copie și nu poate fi reîncărcată.',
  lastViewFiles:
    'Această pagină nu poate fi reîncărcată. Fișierele se șterg la expirarea butoanelor de descărcare.',
  secretTitle: 'Secretul',
  filesTitle: {
    one: 'Vi s-a trimis {count} fișier',
    few: 'Vi s-au trimis {count} fișiere',
    other: 'Vi s-au trimis {count} de fișiere',
  },
  keepSafe: 'Salvați-l într-un loc sigur înainte de a părăsi această pagină.',
  closeWhenDone: 'Închideți pagina când ați terminat. Oricine o vede poate vedea secretul.',
  saveFiles: 'Salvați fișierele înainte de a părăsi această pagină.',
  text: 'Text',
  message: 'Mesaj',
  link: 'Link',
  qrCode: 'Cod QR',
  qrText: 'Textul codului QR',
  showText: 'Afișați textul',
  showMessage: 'Afișați mesajul',
  showLink: 'Afișați linkul',
  showQrCode: 'Afișați codul QR',
  hide: 'Ascundeți',
  copy: 'Copiați',
  copyText: 'Copiați textul',
  copied: 'S-a copiat în clipboard.',
  copyFailed:
    'Browserul nu a permis copierea. Textul este acum selectat: copiați-l de la tastatură sau din meniu.',
  nullCharacters:
    'Textul conține caractere nule, pe care o pagină nu le poate afișa. Ele apar și se copiază ca {sign}. Pentru textul exact, folosiți {command}.',
  leadsTo: 'Acest link duce la {host}',
  linkSignIn: 'Partea dinainte de @ conține date de autentificare. Ea nu arată unde duce linkul.',
  linkUnencrypted:
    'Conexiunea la acest site nu este criptată. Alte persoane pot citi datele transmise.',
  linkLetters:
    'Numele acestui site conține și alte litere decât cele de la a la z, iar unele litere seamănă între ele. Calculatoarele scriu un astfel de nume cu {prefix} la început.',
  openInNewTab: 'Deschideți într-o filă nouă',
  qrTooLong: 'Acest text trebuia să fie un cod QR, dar este prea lung.',
  download: 'Descărcați',
  downloadFile: 'Descărcați {name}',
  downloadAll: 'Descărcați tot',
  downloadsUntil:
    'Butoanele de descărcare funcționează până la {time}. O descărcare deja începută continuă și după aceea.',
  downloadsLeft:
    'Butoanele de descărcare mai funcționează {time}. O descărcare deja începută continuă și după aceea.',
  downloadsExpired: 'Butoanele de descărcare au expirat.',
  downloadsExpiredReload:
    'Butoanele de descărcare au expirat. Reîncărcați pagina pentru a obține altele noi. Astfel se consumă o vizualizare.',
  deleteSecret: 'Ștergeți secretul acum',
  deleteWarning: 'Linkul nu va mai funcționa pentru nimeni. Acțiunea nu poate fi anulată.',
  deleteForEveryone: 'Ștergeți pentru toți',
  deletedTitle: 'Secretul a fost șters',
  deletedText: 'Linkul nu mai funcționează și nu se păstrează nimic din secret.',
  closePage: 'Puteți închide această pagină.',
  goneTitle: 'Acest link nu mai este disponibil',
  goneText:
    'A expirat, a fost șters sau nu a existat niciodată. Nu precizăm care este cazul, pentru ca linkurile să nu poată fi ghicite.',
  goneAdvice:
    'Cereți expeditorului un link nou. Dacă l-ați primit într-un mesaj, verificați că l-ați copiat în întregime.',
  forbiddenTitle: 'Acest lucru nu este permis',
  foreignForm:
    'Acest formular a fost trimis de pe alt site. Deschideți personal linkul și apăsați butonul de acolo.',
  usersOnly: 'Numai utilizatorii acestui server pot deschide secretele de aici, prin API.',
  notDeletable: 'Numai expeditorul poate șterge acest secret.',
  tooLargeTitle: 'Prea mare',
  tooLargeText: 'Datele trimise depășesc dimensiunea acceptată de acest server.',
  tooManyTitle: 'Prea multe cereri',
  tooManyText: 'Ați trimis mai multe cereri decât acceptă acest server deodată.',
  busyTitle: 'Serviciul este ocupat',
  busyText: 'Nu poate răspunde la această cerere în acest moment.',
  fullTitle: 'Nu mai este spațiu',
  fullText: 'Acest server nu are suficient spațiu pe disc pentru secrete noi.',
  invalidTitle: 'Nu a funcționat',
  invalidText: 'Cererea nu este validă. Reveniți și încercați din nou.',
  errorTitle: 'A apărut o eroare',
  errorText: 'Serviciul nu a putut răspunde la această cerere. Motivul se află în jurnalul său.',
  tryAgain: 'Încercați din nou',
  tryAgainIn: 'Încercați din nou {when}.',
  frontTitle: 'Trimiteți un secret printr-un link care expiră',
  frontText:
    'Introduceți o parolă, o cheie sau orice alt text. Primiți un link care nu mai funcționează după numărul de vizualizări sau de zile ales.',
  frontTextFiles:
    'Introduceți un text sau alegeți fișiere. Primiți un link care nu mai funcționează după numărul de vizualizări sau de zile ales.',
  frontTextUsers:
    'Secretele de pe acest server sunt criptate și se șterg după un anumit număr de vizualizări sau de zile.',
  secretText: 'Text secret',
  files: 'Fișiere',
  filesLimit: {
    one: 'Cel mult {count} fișier de maximum {size}.',
    few: 'Cel mult {count} fișiere de maximum {size} fiecare.',
    other: 'Cel mult {count} de fișiere de maximum {size} fiecare.',
  },
  views: 'Număr de vizualizări',
  days: 'Număr de zile',
  passphraseOptional: 'Frază de acces (opțională)',
  passphraseHint:
    'Destinatarul are nevoie de ea pentru a deschide secretul. Nu o trimiteți împreună cu linkul.',
  createLink: 'Creați linkul',
  receivedTitle: 'Ați primit un link?',
  receivedText: 'Deschideți-l așa cum l-ați primit. Începe cu {address}.',
  cliTitle: 'În linia de comandă',
  cliText: 'Programul se instalează o singură dată. Cere secretul și afișează linkul.',
  cliTextUsers:
    'Instalați programul o singură dată și conectați-vă cu tokenul dumneavoastră. Apoi programul cere secretul și afișează linkul.',
  problemText: 'Introduceți un text.',
  problemTextOrFiles: 'Introduceți un text sau alegeți fișiere.',
  problemTextTooLarge: 'Textul este prea mare. Limita este de {size}.',
  problemNumber: 'Introduceți un număr întreg de la {min} la {max}.',
  problemPassphrase: {
    one: 'Fraza de acces este prea lungă. Limita este de {count} caracter.',
    few: 'Fraza de acces este prea lungă. Limita este de {count} caractere.',
    other: 'Fraza de acces este prea lungă. Limita este de {count} de caractere.',
  },
  problemFiles: {
    one: 'Alegeți cel mult {count} fișier.',
    few: 'Alegeți cel mult {count} fișiere.',
    other: 'Alegeți cel mult {count} de fișiere.',
  },
  problemFileTooLarge: 'Un fișier este prea mare. Limita este de {size}.',
  problemValue: 'Această valoare nu este validă.',
  problemFilesAgain: 'Alegeți din nou fișierele.',
  problemPassphraseAgain: 'Introduceți din nou fraza de acces.',
  createdTitle: 'Linkul este gata',
  createdText: 'Trimiteți-l destinatarului. Oricine îl are poate deschide secretul.',
  createdPassphrase:
    'Trimiteți-l destinatarului. Comunicați-i fraza de acces pe altă cale, de exemplu la telefon.',
  createdHint:
    'Copiați-l acum: această pagină nu poate fi reîncărcată. Deschiderea linkului consumă o vizualizare.',
  yourLink: 'Linkul dumneavoastră',
  qrOfLink: 'Codul QR al linkului',
  createAnother: 'Creați alt link',
  encryptInBrowser: 'Criptați în browser, astfel încât acest server să nu poată citi conținutul',
  encrypting: 'Se criptează…',
  enterKeyWords: 'Acest secret este criptat. Introduceți cuvintele cheii, primite de la expeditor.',
  keyWords: 'Cuvintele cheii',
  keyMissing:
    'Linkul este incomplet: lipsește partea de după #. Cereți expeditorului linkul întreg.',
  keyDamaged:
    'Linkul este deteriorat: partea de după # nu este corectă. Cereți expeditorului linkul întreg.',
  keyWrong: 'Secretul nu poate fi deschis cu această cheie.',
  secretDamaged: 'Secretul criptat este deteriorat sau incomplet.',
  decrypting: 'Se decriptează…',
  decrypt: 'Decriptați',
  decryptWithAge: 'Deschideți-l cu age: {command}',
  decryptNoScript:
    'Criptat. Deschideți-l într-un browser cu JavaScript sau cu ajutorul comenzii: {command}',
  openTitle: 'Deschideți un secret criptat',
  openText: 'Lipiți un secret criptat și cheia acestuia. Ele nu părăsesc browserul.',
  encryptedSecret: 'Secret criptat',
  key: 'Cheie',
  requestTitle: 'Cineva vă cere un secret',
  requestFrom: 'Cerere de la {name}.',
  requestUnexpected:
    'Nu vă așteptați la această cerere? Asigurați-vă, de exemplu la telefon, că vine de la persoana la care vă gândiți.',
  showRequest: 'Afișați cererea',
  question: 'Ce vi se cere',
  yourAnswer: 'Răspunsul dumneavoastră',
  answerHint:
    'Puteți răspunde o singură dată. Cel care a cerut poate citi răspunsul o dată; apoi acesta se șterge.',
  answerEncrypted:
    'Răspunsul este criptat în acest browser. Numai cel care a cerut îl poate decripta.',
  answerUnencrypted:
    'Fără JavaScript, răspunsul este trimis necriptat acestui server, care l-ar putea citi.',
  answerServerKey:
    'Fără această parte, răspunsul este criptat cu cheia serverului, iar cine administrează serverul l-ar putea citi.',
  answerReadable:
    'Răspunsul nu este criptat în acest browser. Cine administrează acest server îl poate citi.',
  sendAnswer: 'Trimiteți răspunsul',
  sending: 'Se trimite…',
  sendFailed: 'Răspunsul nu a fost trimis. Verificați conexiunea și încercați din nou.',
  sentTitle: 'Răspunsul a fost trimis',
  sentText: 'Cel care l-a cerut îl poate citi acum.',
  answeredTitle: 'La această cerere s-a răspuns deja',
  answeredText:
    'O cerere acceptă un singur răspuns. Dacă răspunsul nu a fost al dumneavoastră, anunțați-l pe cel care a cerut.',
};
