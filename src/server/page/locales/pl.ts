import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Sekrety są przechowywane w postaci zaszyfrowanej i usuwane po wygaśnięciu linku.',
  contact: 'Masz pytania? Kontakt: {contact}.',
  previewText: 'Ten link wygaśnie po określonej liczbie wyświetleń lub dni.',

  sharedTitle: 'Udostępniono Ci sekret',
  pressToShow: 'Naciśnij przycisk, aby go zobaczyć.',
  enterPassphrase:
    'Wpisz hasło dostępu otrzymane od nadawcy, na przykład przez telefon lub w innej wiadomości.',
  unexpected: 'Nie spodziewasz się tego? Zanim otworzysz sekret, zapytaj nadawcę.',
  passphrase: 'Hasło dostępu',
  showPassphrase: 'Pokaż hasło dostępu',
  hidePassphrase: 'Ukryj hasło dostępu',
  showSecret: 'Pokaż sekret',
  passphraseMissing: 'Wpisz hasło dostępu.',
  passphraseWrong: 'Nieprawidłowe hasło dostępu.',
  passphraseWrongLeft: {
    one: 'Nieprawidłowe hasło dostępu. Na razie pozostała {count} próba.',
    few: 'Nieprawidłowe hasło dostępu. Na razie pozostały {count} próby.',
    many: 'Nieprawidłowe hasło dostępu. Na razie pozostało {count} prób.',
    other: 'Nieprawidłowe hasło dostępu. Na razie pozostało {count} próby.',
  },
  passphraseWrongWait: 'Nieprawidłowe hasło dostępu. Odczekaj minutę przed następną próbą.',
  passphraseTooOften: 'Zbyt wiele prób. Spróbuj ponownie {when}.',
  passphraseIsKey:
    'To jest klucz zaszyfrowanego sekretu, a nie hasło dostępu. Nie został wysłany: ten serwer nie może go zobaczyć.',

  viewsLeft: {
    one: 'Pozostało {count} wyświetlenie.',
    few: 'Pozostały {count} wyświetlenia.',
    many: 'Pozostało {count} wyświetleń.',
    other: 'Pozostało {count} wyświetlenia.',
  },
  openingUsesOne: 'Otwarcie sekretu zużywa jedno wyświetlenie.',
  openingUsesLast:
    'Otwarcie sekretu je zużyje, dlatego wcześniej przygotuj bezpieczne miejsce, w którym go zapiszesz.',
  reloadingUsesOne: 'Ponowne wczytanie tej strony zużywa jedno wyświetlenie.',
  expires: 'Wygasa {when}.',
  lastView: 'To było ostatnie wyświetlenie.',
  lastViewText:
    'Sekret został usunięty z serwera. Ta strona to jedyna kopia i nie można jej wczytać ponownie.',
  lastViewFiles:
    'Tej strony nie można wczytać ponownie. Pliki zostaną usunięte, gdy wygasną przyciski pobierania.',

  secretTitle: 'Sekret',
  filesTitle: {
    one: 'Udostępniono Ci {count} plik',
    few: 'Udostępniono Ci {count} pliki',
    many: 'Udostępniono Ci {count} plików',
    other: 'Udostępniono Ci {count} pliku',
  },
  keepSafe: 'Zanim opuścisz tę stronę, zapisz sekret w bezpiecznym miejscu.',
  closeWhenDone: 'Na koniec zamknij tę stronę. Każdy, kto ją zobaczy, zobaczy też sekret.',
  saveFiles: 'Zanim opuścisz tę stronę, zapisz pliki.',
  text: 'Tekst',
  message: 'Wiadomość',
  link: 'Link',
  qrCode: 'Kod QR',
  qrText: 'Tekst kodu QR',
  showText: 'Pokaż tekst',
  showMessage: 'Pokaż wiadomość',
  showLink: 'Pokaż link',
  showQrCode: 'Pokaż kod QR',
  hide: 'Ukryj',
  copy: 'Kopiuj',
  copyText: 'Kopiuj tekst',
  copied: 'Skopiowano do schowka.',
  copyFailed:
    'Przeglądarka nie zezwoliła na kopiowanie. Tekst jest teraz zaznaczony: skopiuj go za pomocą klawiatury lub menu.',
  nullCharacters:
    'Tekst zawiera znaki null, których nie można pokazać na stronie. Są wyświetlane i kopiowane jako {sign}. Aby uzyskać dokładny tekst, użyj polecenia {command}.',
  leadsTo: 'Ten link prowadzi do {host}',
  linkSignIn: 'Część przed znakiem @ to dane logowania. Nie mówi ona, dokąd prowadzi link.',
  linkUnencrypted:
    'Połączenie z tą witryną nie jest szyfrowane. Przesyłane dane mogą odczytać inne osoby.',
  linkLetters:
    'Nazwa tej witryny zawiera litery inne niż a–z, a niektóre litery są do siebie podobne. Komputery zapisują takie nazwy z {prefix} na początku.',
  openInNewTab: 'Otwórz w nowej karcie',
  qrTooLong: 'Ten tekst miał być kodem QR, ale jest na to za długi.',
  download: 'Pobierz',
  downloadFile: 'Pobierz {name}',
  downloadAll: 'Pobierz wszystkie',
  downloadsUntil:
    'Przyciski pobierania działają do {time}. Rozpoczęte pobieranie będzie trwać także później.',
  downloadsLeft:
    'Przyciski pobierania będą działać jeszcze przez {time}. Rozpoczęte pobieranie będzie trwać także później.',
  downloadsExpired: 'Przyciski pobierania wygasły.',
  downloadsExpiredReload:
    'Przyciski pobierania wygasły. Wczytaj tę stronę ponownie, aby otrzymać nowe. Zużyje to jedno wyświetlenie.',
  deleteSecret: 'Usuń sekret teraz',
  deleteWarning: 'Link przestanie działać dla wszystkich. Tego nie można cofnąć.',
  deleteForEveryone: 'Usuń dla wszystkich',
  deletedTitle: 'Sekret został usunięty',
  deletedText: 'Link już nie działa, a po sekrecie nic nie zostało.',
  closePage: 'Możesz zamknąć tę stronę.',

  goneTitle: 'Ten link nie jest już dostępny',
  goneText:
    'Wygasł, został usunięty lub nigdy nie istniał. Nie podajemy, co się stało, aby nie można było odgadywać linków.',
  goneAdvice:
    'Poproś nadawcę o nowy link. Jeśli link przyszedł w wiadomości, sprawdź, czy skopiowano go w całości.',

  forbiddenTitle: 'To jest niedozwolone',
  foreignForm:
    'Ten formularz wysłano z innej witryny. Otwórz link samodzielnie i naciśnij przycisk na jego stronie.',
  usersOnly: 'Sekrety na tym serwerze mogą otwierać tylko jego użytkownicy, przez API.',
  notDeletable: 'Tylko nadawca może usunąć ten sekret.',
  tooLargeTitle: 'Za duży rozmiar',
  tooLargeText: 'Przesłano więcej danych, niż przyjmuje ten serwer.',
  tooManyTitle: 'Zbyt wiele żądań',
  tooManyText: 'Wysłano więcej żądań, niż ten serwer przyjmuje naraz.',
  busyTitle: 'Usługa jest zajęta',
  busyText: 'W tej chwili nie może odpowiedzieć na to żądanie.',
  fullTitle: 'Brak miejsca',
  fullText: 'Na tym serwerze nie ma dość miejsca na dysku na nowe sekrety.',
  invalidTitle: 'Nie udało się',
  invalidText: 'Żądanie jest nieprawidłowe. Wróć i spróbuj ponownie.',
  errorTitle: 'Coś poszło nie tak',
  errorText: 'Usługa nie mogła odpowiedzieć na to żądanie. Przyczyna jest podana w jej dzienniku.',
  tryAgain: 'Spróbuj ponownie',
  tryAgainIn: 'Spróbuj ponownie {when}.',

  frontTitle: 'Udostępnij sekret za pomocą wygasającego linku',
  frontText:
    'Wpisz hasło, klucz lub dowolny inny tekst. Otrzymasz link, który przestanie działać po wybranej liczbie wyświetleń lub dni.',
  frontTextFiles:
    'Wpisz tekst lub wybierz pliki. Otrzymasz link, który przestanie działać po wybranej liczbie wyświetleń lub dni.',
  frontTextUsers:
    'Sekrety na tym serwerze są przechowywane w postaci zaszyfrowanej i usuwane po określonej liczbie wyświetleń lub dni.',
  secretText: 'Tajny tekst',
  files: 'Pliki',
  filesLimit: {
    one: 'Maksymalnie {count} plik o rozmiarze do {size}.',
    few: 'Maksymalnie {count} pliki, każdy o rozmiarze do {size}.',
    many: 'Maksymalnie {count} plików, każdy o rozmiarze do {size}.',
    other: 'Maksymalnie {count} pliku, każdy o rozmiarze do {size}.',
  },
  views: 'Liczba wyświetleń',
  days: 'Liczba dni',
  passphraseOptional: 'Hasło dostępu (opcjonalnie)',
  passphraseHint: 'Odbiorca potrzebuje go, aby otworzyć sekret. Nie wysyłaj go razem z linkiem.',
  createLink: 'Utwórz link',
  receivedTitle: 'Masz link do otwarcia?',
  receivedText: 'Otwórz go dokładnie w otrzymanej postaci. Zaczyna się od {address}.',
  cliTitle: 'W wierszu poleceń',
  cliText: 'Wystarczy zainstalować program raz. Zapyta o sekret i wypisze link.',
  cliTextUsers:
    'Wystarczy raz zainstalować program i zalogować się za pomocą swojego tokenu. Potem program pyta o sekret i wypisuje link.',

  problemText: 'Wpisz tekst.',
  problemTextOrFiles: 'Wpisz tekst lub wybierz pliki.',
  problemTextTooLarge: 'Tekst jest za duży. Limit wynosi {size}.',
  problemNumber: 'Wpisz liczbę całkowitą od {min} do {max}.',
  problemPassphrase: {
    one: 'Hasło dostępu jest za długie. Limit wynosi {count} znak.',
    few: 'Hasło dostępu jest za długie. Limit wynosi {count} znaki.',
    many: 'Hasło dostępu jest za długie. Limit wynosi {count} znaków.',
    other: 'Hasło dostępu jest za długie. Limit wynosi {count} znaku.',
  },
  problemFiles: {
    one: 'Wybierz najwyżej {count} plik.',
    few: 'Wybierz najwyżej {count} pliki.',
    many: 'Wybierz najwyżej {count} plików.',
    other: 'Wybierz najwyżej {count} pliku.',
  },
  problemFileTooLarge: 'Plik jest za duży. Limit wynosi {size}.',
  problemValue: 'Ta wartość jest nieprawidłowa.',
  problemFilesAgain: 'Wybierz pliki ponownie.',
  problemPassphraseAgain: 'Wpisz hasło dostępu ponownie.',

  createdTitle: 'Twój link jest gotowy',
  createdText: 'Wyślij go odbiorcy. Każdy, kto ma link, może otworzyć sekret.',
  createdPassphrase:
    'Wyślij go odbiorcy. Hasło dostępu przekaż w inny sposób, na przykład przez telefon.',
  createdHint:
    'Skopiuj go teraz: tej strony nie można wczytać ponownie. Otwarcie linku zużywa jedno wyświetlenie.',
  yourLink: 'Twój link',
  qrOfLink: 'Kod QR linku',
  createAnother: 'Utwórz kolejny link',

  encryptInBrowser: 'Szyfruj w przeglądarce, aby ten serwer nie mógł odczytać sekretu',
  encrypting: 'Szyfrowanie…',
  enterKeyWords: 'Ten sekret jest zaszyfrowany. Wpisz słowa klucza otrzymane od nadawcy.',
  keyWords: 'Słowa klucza',
  keyMissing: 'Link jest niekompletny: brakuje części po znaku #. Poproś nadawcę o cały link.',
  keyDamaged:
    'Link jest uszkodzony: część po znaku # jest nieprawidłowa. Poproś nadawcę o cały link.',
  keyWrong: 'Ten klucz nie pasuje.',
  secretDamaged: 'Zaszyfrowany sekret jest uszkodzony lub niekompletny.',
  decrypting: 'Odszyfrowywanie…',
  decrypt: 'Odszyfruj',
  decryptWithAge: 'Otwórz za pomocą age: {command}',
  decryptNoScript:
    'Zaszyfrowane. Otwórz w przeglądarce z obsługą JavaScriptu lub za pomocą polecenia: {command}',
  openTitle: 'Otwórz zaszyfrowany sekret',
  openText: 'Wklej zaszyfrowany sekret i jego klucz. Nie opuszczą one Twojej przeglądarki.',
  encryptedSecret: 'Zaszyfrowany sekret',
  key: 'Klucz',
  requestTitle: 'Ktoś prosi Cię o sekret',
  requestFrom: 'Prosi: {name}.',
  requestUnexpected:
    'Nie spodziewasz się tego? Upewnij się, na przykład telefonicznie, że prośba pochodzi od osoby, o której myślisz.',
  showRequest: 'Pokaż prośbę',
  question: 'O co chodzi w prośbie',
  yourAnswer: 'Twoja odpowiedź',
  answerHint:
    'Odpowiedzieć można tylko raz. Osoba, która prosi, może przeczytać odpowiedź raz; potem zostanie ona usunięta.',
  answerEncrypted:
    'Twoja odpowiedź zostanie zaszyfrowana w tej przeglądarce. Odszyfrować ją może tylko osoba, która prosi.',
  answerUnencrypted:
    'Bez JavaScriptu odpowiedź jest wysyłana niezaszyfrowana na ten serwer, który mógłby ją odczytać.',
  answerServerKey:
    'Bez niej odpowiedź zostanie zaszyfrowana kluczem samego serwera i jego operator mógłby ją odczytać.',
  answerReadable:
    'Twoja odpowiedź nie jest szyfrowana w tej przeglądarce. Operator tego serwera może ją odczytać.',
  sendAnswer: 'Wyślij odpowiedź',
  sending: 'Wysyłanie…',
  sendFailed: 'Odpowiedź nie została wysłana. Sprawdź połączenie i spróbuj ponownie.',
  sentTitle: 'Twoja odpowiedź została wysłana',
  sentText: 'Osoba, która o nią prosiła, może ją teraz przeczytać.',
  answeredTitle: 'Na tę prośbę już odpowiedziano',
  answeredText:
    'Prośba przyjmuje tylko jedną odpowiedź. Jeśli nie pochodziła od Ciebie, powiadom osobę, która prosiła.',
};
