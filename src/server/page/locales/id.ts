import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Rahasia dienkripsi dan dihapus saat tautannya kedaluwarsa.',
  contact: 'Ada pertanyaan? Hubungi {contact}.',
  previewText: 'Tautan ini kedaluwarsa setelah sejumlah tampilan atau hari.',

  sharedTitle: 'Sebuah rahasia dibagikan kepada Anda',
  pressToShow: 'Tekan tombol untuk melihatnya.',
  enterPassphrase:
    'Masukkan frasa sandi yang Anda terima dari pengirim, mungkin lewat telepon atau dalam pesan lain.',
  unexpected: 'Tidak menantikan ini? Tanyakan kepada pengirim sebelum Anda membukanya.',
  passphrase: 'Frasa sandi',
  showPassphrase: 'Tampilkan frasa sandi',
  hidePassphrase: 'Sembunyikan frasa sandi',
  showSecret: 'Tampilkan rahasia',
  passphraseMissing: 'Masukkan frasa sandi.',
  passphraseWrong: 'Frasa sandi salah.',
  passphraseWrongLeft: {
    other: 'Frasa sandi salah. Untuk saat ini tersisa {count} percobaan.',
  },
  passphraseWrongWait: 'Frasa sandi salah. Tunggu satu menit sebelum mencoba lagi.',
  passphraseTooOften: 'Terlalu banyak percobaan. Coba lagi {when}.',
  passphraseIsKey:
    'Ini kunci rahasia yang dienkripsi, bukan frasa sandi. Kunci ini tidak dikirim karena server ini tidak boleh melihatnya.',

  viewsLeft: { other: 'Tersisa {count} tampilan.' },
  openingUsesOne: 'Membuka rahasia ini memakai satu tampilan.',
  openingUsesLast:
    'Membuka rahasia ini memakai tampilan tersebut, jadi siapkan tempat yang aman untuk menyimpannya.',
  reloadingUsesOne: 'Memuat ulang halaman ini memakai satu tampilan.',
  expires: 'Kedaluwarsa {when}.',
  lastView: 'Itu adalah tampilan terakhir.',
  lastViewText:
    'Rahasia telah dihapus dari server. Halaman ini adalah satu-satunya salinan dan tidak dapat dimuat ulang.',
  lastViewFiles:
    'Halaman ini tidak dapat dimuat ulang. File dihapus saat tombol unduh kedaluwarsa.',

  secretTitle: 'Rahasia',
  filesTitle: { other: '{count} file dibagikan kepada Anda' },
  keepSafe: 'Simpan di tempat yang aman sebelum Anda meninggalkan halaman ini.',
  closeWhenDone:
    'Tutup halaman ini setelah Anda selesai. Siapa pun yang melihatnya dapat melihat rahasia ini.',
  saveFiles: 'Simpan file sebelum Anda meninggalkan halaman ini.',
  text: 'Teks',
  message: 'Pesan',
  link: 'Tautan',
  qrCode: 'Kode QR',
  qrText: 'Teks kode QR',
  showText: 'Tampilkan teks',
  showMessage: 'Tampilkan pesan',
  showLink: 'Tampilkan tautan',
  showQrCode: 'Tampilkan kode QR',
  hide: 'Sembunyikan',
  copy: 'Salin',
  copyText: 'Salin teks',
  copied: 'Disalin ke papan klip.',
  copyFailed:
    'Browser tidak mengizinkan penyalinan. Teks kini telah dipilih: salin dengan papan ketik atau menu.',
  nullCharacters:
    'Teks ini berisi karakter nol, yang tidak dapat ditampilkan di halaman. Karakter itu ditampilkan dan disalin sebagai {sign}. Untuk teks yang persis sama, gunakan {command}.',
  leadsTo: 'Tautan ini menuju ke {host}',
  linkSignIn: 'Bagian sebelum @ adalah data masuk. Bagian itu tidak menunjukkan tujuan tautan.',
  linkUnencrypted:
    'Koneksi ke situs ini tidak dienkripsi. Orang lain mungkin dapat membaca data yang dikirim.',
  linkLetters:
    'Nama situs ini memuat huruf selain a sampai z, dan beberapa huruf terlihat mirip. Komputer menulis nama seperti ini dengan {prefix} di awalnya.',
  openInNewTab: 'Buka di tab baru',
  qrTooLong: 'Teks ini dimaksudkan sebagai kode QR, tetapi terlalu panjang.',
  download: 'Unduh',
  downloadFile: 'Unduh {name}',
  downloadAll: 'Unduh semua',
  downloadsUntil:
    'Tombol unduh berfungsi hingga pukul {time}. Unduhan yang sudah dimulai tetap berlanjut setelah itu.',
  downloadsLeft:
    'Tombol unduh masih berfungsi selama {time}. Unduhan yang sudah dimulai tetap berlanjut setelah itu.',
  downloadsExpired: 'Tombol unduh telah kedaluwarsa.',
  downloadsExpiredReload:
    'Tombol unduh telah kedaluwarsa. Muat ulang halaman ini untuk mendapatkan tombol baru. Ini memakai satu tampilan.',
  deleteSecret: 'Hapus rahasia sekarang',
  deleteWarning: 'Tautan tidak akan berfungsi lagi bagi siapa pun. Ini tidak dapat dibatalkan.',
  deleteForEveryone: 'Hapus untuk semua orang',
  deletedTitle: 'Rahasia telah dihapus',
  deletedText: 'Tautan tidak berfungsi lagi, dan tidak ada bagian dari rahasia yang disimpan.',
  closePage: 'Anda dapat menutup halaman ini.',

  goneTitle: 'Tautan ini tidak lagi tersedia',
  goneText:
    'Tautan ini telah kedaluwarsa, telah dihapus, atau tidak pernah ada. Kami tidak memberitahukan yang mana, agar tautan tidak dapat ditebak.',
  goneAdvice:
    'Minta tautan baru kepada pengirim. Jika tautan dikirim dalam pesan, pastikan Anda menyalin seluruhnya.',

  forbiddenTitle: 'Ini tidak diizinkan',
  foreignForm:
    'Formulir ini dikirim dari situs lain. Buka sendiri tautannya dan tekan tombol di sana.',
  usersOnly: 'Hanya pengguna server ini yang dapat membuka rahasia di dalamnya, melalui API.',
  notDeletable: 'Hanya pengirim yang dapat menghapus rahasia ini.',
  tooLargeTitle: 'Terlalu besar',
  tooLargeText: 'Data yang Anda kirim lebih besar daripada yang diterima server ini.',
  tooManyTitle: 'Terlalu banyak permintaan',
  tooManyText: 'Anda mengirim lebih banyak permintaan daripada yang diterima server ini sekaligus.',
  busyTitle: 'Layanan sedang sibuk',
  busyText: 'Layanan tidak dapat menjawab permintaan ini sekarang.',
  fullTitle: 'Ruang penyimpanan habis',
  fullText: 'Server ini tidak memiliki cukup ruang disk untuk rahasia baru.',
  invalidTitle: 'Tidak berhasil',
  invalidText: 'Permintaan tidak valid. Kembali dan coba lagi.',
  errorTitle: 'Terjadi kesalahan',
  errorText: 'Layanan tidak dapat menjawab permintaan ini. Penyebabnya tercatat dalam lognya.',
  tryAgain: 'Coba lagi',
  tryAgainIn: 'Coba lagi {when}.',

  frontTitle: 'Bagikan rahasia lewat tautan yang bisa kedaluwarsa',
  frontText:
    'Masukkan kata sandi, kunci, atau teks lain. Anda mendapatkan tautan yang berhenti berfungsi setelah jumlah tampilan atau hari yang Anda pilih.',
  frontTextFiles:
    'Masukkan teks atau pilih file. Anda mendapatkan tautan yang berhenti berfungsi setelah jumlah tampilan atau hari yang Anda pilih.',
  frontTextUsers:
    'Rahasia di server ini dienkripsi, dan dihapus setelah sejumlah tampilan atau hari.',
  secretText: 'Teks rahasia',
  files: 'File',
  filesLimit: { other: 'Maksimal {count} file, masing-masing hingga {size}.' },
  views: 'Jumlah tampilan',
  days: 'Jumlah hari',
  passphraseOptional: 'Frasa sandi (opsional)',
  passphraseHint:
    'Penerima memerlukannya untuk membuka rahasia. Jangan kirim bersama dengan tautannya.',
  createLink: 'Buat tautan',
  receivedTitle: 'Apakah Anda menerima tautan?',
  receivedText: 'Buka tautan itu persis seperti yang Anda terima. Awalnya adalah {address}.',
  cliTitle: 'Di baris perintah',
  cliText: 'Pasang programnya sekali saja. Program meminta rahasia dan mencetak tautannya.',
  cliTextUsers:
    'Pasang programnya sekali saja dan masuk dengan token Anda. Setelah itu program meminta rahasia dan mencetak tautannya.',

  problemText: 'Masukkan teks.',
  problemTextOrFiles: 'Masukkan teks atau pilih file.',
  problemTextTooLarge: 'Teks terlalu besar. Batasnya {size}.',
  problemNumber: 'Masukkan bilangan bulat dari {min} sampai {max}.',
  problemPassphrase: { other: 'Frasa sandi terlalu panjang. Batasnya {count} karakter.' },
  problemFiles: { other: 'Pilih maksimal {count} file.' },
  problemFileTooLarge: 'Ada file yang terlalu besar. Batasnya {size}.',
  problemValue: 'Nilai ini tidak valid.',
  problemFilesAgain: 'Pilih lagi filenya.',
  problemPassphraseAgain: 'Masukkan lagi frasa sandi.',

  createdTitle: 'Tautan Anda sudah siap',
  createdText: 'Kirimkan kepada penerima. Siapa pun yang memilikinya dapat membuka rahasia.',
  createdPassphrase:
    'Kirimkan kepada penerima. Sampaikan frasa sandi dengan cara lain, misalnya lewat telepon.',
  createdHint:
    'Salin sekarang: halaman ini tidak dapat dimuat ulang. Membuka tautan memakai satu tampilan.',
  yourLink: 'Tautan Anda',
  qrOfLink: 'Kode QR tautan',
  createAnother: 'Buat tautan lain',

  encryptInBrowser: 'Enkripsi di browser, agar server ini tidak dapat membacanya',
  encrypting: 'Mengenkripsi…',
  enterKeyWords:
    'Rahasia ini dienkripsi. Masukkan kata-kata kunci dekripsi yang Anda terima dari pengirim.',
  keyWords: 'Kata-kata kunci dekripsi',
  keyMissing:
    'Tautan tidak lengkap: bagian setelah # tidak ada. Minta tautan lengkapnya kepada pengirim.',
  keyDamaged:
    'Tautan rusak: bagian setelah # tidak benar. Minta tautan lengkapnya kepada pengirim.',
  keyWrong: 'Kunci itu tidak dapat membukanya.',
  secretDamaged: 'Rahasia terenkripsi rusak atau tidak lengkap.',
  decrypting: 'Mendekripsi…',
  decrypt: 'Dekripsi',
  decryptWithAge: 'Buka dengan program age: {command}',
  decryptNoScript:
    'Terenkripsi. Buka dengan browser yang mendukung JavaScript, atau dengan: {command}',
  openTitle: 'Buka rahasia terenkripsi',
  openText: 'Tempelkan rahasia terenkripsi dan kuncinya. Keduanya tidak meninggalkan browser Anda.',
  encryptedSecret: 'Rahasia terenkripsi',
  key: 'Kunci',
  requestTitle: 'Seseorang meminta rahasia dari Anda',
  requestFrom: 'Diminta oleh {name}.',
  requestUnexpected:
    'Tidak menantikan ini? Pastikan, misalnya lewat telepon, bahwa permintaan ini berasal dari orang yang Anda kira.',
  showRequest: 'Tampilkan permintaan',
  question: 'Yang diminta',
  yourAnswer: 'Jawaban Anda',
  answerHint:
    'Anda hanya dapat menjawab satu kali. Peminta dapat membaca jawaban satu kali; setelah itu jawaban dihapus.',
  answerEncrypted:
    'Jawaban Anda dienkripsi di browser ini. Hanya peminta yang dapat mendekripsinya.',
  answerUnencrypted:
    'Tanpa JavaScript, jawaban dikirim tanpa enkripsi ke server ini, yang dapat membacanya.',
  answerServerKey:
    'Tanpa bagian itu, jawaban Anda dienkripsi dengan kunci milik server sendiri, dan pengelola server dapat membacanya.',
  answerReadable:
    'Jawaban Anda tidak dienkripsi di browser ini. Pengelola server ini dapat membacanya.',
  sendAnswer: 'Kirim jawaban',
  sending: 'Mengirim…',
  sendFailed: 'Jawaban tidak terkirim. Periksa koneksi Anda dan coba lagi.',
  sentTitle: 'Jawaban Anda telah terkirim',
  sentText: 'Peminta sekarang dapat membacanya.',
  answeredTitle: 'Permintaan ini sudah dijawab',
  answeredText:
    'Satu permintaan hanya menerima satu jawaban. Jika itu bukan jawaban Anda, beri tahu peminta.',
};
