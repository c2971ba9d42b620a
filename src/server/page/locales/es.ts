import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Los secretos se cifran y se eliminan cuando el enlace caduca.',
  contact: '¿Alguna pregunta? Contacto: {contact}.',
  previewText: 'Este enlace caduca tras un número determinado de visualizaciones o días.',
  sharedTitle: 'Han compartido un secreto con usted',
  pressToShow: 'Pulse el botón para verlo.',
  enterPassphrase:
    'Introduzca la frase de contraseña que le ha facilitado el remitente, quizá por teléfono o en otro mensaje.',
  unexpected: '¿No esperaba esto? Consulte al remitente antes de abrirlo.',
  passphrase: 'Frase de contraseña',
  showPassphrase: 'Mostrar la frase de contraseña',
  hidePassphrase: 'Ocultar la frase de contraseña',
  showSecret: 'Mostrar el secreto',
  passphraseMissing: 'Introduzca la frase de contraseña.',
  passphraseWrong: 'La frase de contraseña es incorrecta.',
  passphraseWrongLeft: {
    one: 'La frase de contraseña es incorrecta. Por ahora le queda {count} intento.',
    many: 'La frase de contraseña es incorrecta. Por ahora le quedan {count} de intentos.',
    other: 'La frase de contraseña es incorrecta. Por ahora le quedan {count} intentos.',
  },
  passphraseWrongWait:
    'La frase de contraseña es incorrecta. Espere un minuto antes de volver a intentarlo.',
  passphraseTooOften: 'Demasiados intentos. Vuelva a intentarlo {when}.',
  passphraseIsKey:
    'Esta es la clave de un secreto cifrado, no una frase de contraseña. No se ha enviado: este servidor no debe verla.',
  viewsLeft: {
    one: 'Queda {count} visualización.',
    many: 'Quedan {count} de visualizaciones.',
    other: 'Quedan {count} visualizaciones.',
  },
  openingUsesOne: 'Al abrir el secreto se consume una.',
  openingUsesLast:
    'Al abrir el secreto se consume esta visualización, así que tenga preparado un lugar seguro donde guardarlo.',
  reloadingUsesOne: 'Al volver a cargar esta página se consume una.',
  expires: 'Caduca {when}.',
  lastView: 'Era la última visualización.',
  lastViewText:
    'El secreto se ha eliminado del servidor. Esta página es la única copia y no se puede volver a cargar.',
  lastViewFiles:
    'Esta página no se puede volver a cargar. Los archivos se eliminarán cuando caduquen los botones de descarga.',
  secretTitle: 'El secreto',
  filesTitle: {
    one: 'Han compartido {count} archivo con usted',
    many: 'Han compartido {count} de archivos con usted',
    other: 'Han compartido {count} archivos con usted',
  },
  keepSafe: 'Guárdelo en un lugar seguro antes de salir de esta página.',
  closeWhenDone: 'Cierre esta página cuando termine. Cualquiera que la vea verá el secreto.',
  saveFiles: 'Guarde los archivos antes de salir de esta página.',
  text: 'Texto',
  message: 'Mensaje',
  link: 'Enlace',
  qrCode: 'Código QR',
  qrText: 'Texto del código QR',
  showText: 'Mostrar el texto',
  showMessage: 'Mostrar el mensaje',
  showLink: 'Mostrar el enlace',
  showQrCode: 'Mostrar el código QR',
  hide: 'Ocultar',
  copy: 'Copiar',
  copyText: 'Copiar el texto',
  copied: 'Copiado al portapapeles.',
  copyFailed:
    'El navegador no ha permitido copiar. El texto está ahora seleccionado: cópielo con el teclado o desde el menú.',
  nullCharacters:
    'El texto contiene caracteres nulos, que una página no puede mostrar. Se muestran y se copian como {sign}. Para obtener el texto exacto, utilice {command}.',
  leadsTo: 'Este enlace lleva a {host}',
  linkSignIn:
    'La parte anterior a la @ contiene datos de inicio de sesión. No indica adónde lleva el enlace.',
  linkUnencrypted:
    'La conexión con este sitio no está cifrada. Otras personas podrían leer lo que se envíe.',
  linkLetters:
    'El nombre de este sitio contiene letras distintas de las comprendidas entre la a y la z, y algunas letras se parecen entre sí. Los sistemas informáticos escriben los nombres de este tipo con {prefix} al principio.',
  openInNewTab: 'Abrir en una pestaña nueva',
  qrTooLong: 'Este texto debía ser un código QR, pero es demasiado largo para ello.',
  download: 'Descargar',
  downloadFile: 'Descargar {name}',
  downloadAll: 'Descargar todo',
  downloadsUntil:
    'Los botones de descarga funcionan hasta esta hora: {time}. Las descargas ya iniciadas continuarán después.',
  downloadsLeft:
    'Los botones de descarga funcionarán durante {time} más. Las descargas ya iniciadas continuarán después.',
  downloadsExpired: 'Los botones de descarga han caducado.',
  downloadsExpiredReload:
    'Los botones de descarga han caducado. Vuelva a cargar esta página para obtener otros nuevos. Esto consume una visualización.',
  deleteSecret: 'Eliminar el secreto ahora',
  deleteWarning: 'El enlace dejará de funcionar para todos. Esta acción no se puede deshacer.',
  deleteForEveryone: 'Eliminar para todos',
  deletedTitle: 'El secreto se ha eliminado',
  deletedText: 'El enlace ya no funciona y no se conserva nada del secreto.',
  closePage: 'Puede cerrar esta página.',
  goneTitle: 'Este enlace ya no está disponible',
  goneText:
    'Ha caducado, se ha eliminado o nunca ha existido. No indicamos cuál es el caso para que los enlaces no se puedan adivinar.',
  goneAdvice:
    'Pida un enlace nuevo al remitente. Si lo recibió en un mensaje, compruebe que lo ha copiado entero.',
  forbiddenTitle: 'Acción no permitida',
  foreignForm:
    'Este formulario se ha enviado desde otro sitio. Abra el enlace directamente y pulse el botón de esa página.',
  usersOnly: 'Solo los usuarios de esta instancia pueden abrir sus secretos, mediante la API.',
  notDeletable: 'Solo el remitente puede eliminar este secreto.',
  tooLargeTitle: 'Demasiado grande',
  tooLargeText: 'Lo que ha enviado supera el tamaño que admite esta instancia.',
  tooManyTitle: 'Demasiadas solicitudes',
  tooManyText: 'Ha enviado más solicitudes de las que esta instancia admite a la vez.',
  busyTitle: 'El servicio está ocupado',
  busyText: 'No puede responder a esta solicitud en este momento.',
  fullTitle: 'No queda espacio',
  fullText: 'Esta instancia no tiene suficiente espacio en disco para nuevos secretos.',
  invalidTitle: 'No ha funcionado',
  invalidText: 'La solicitud no es válida. Vuelva atrás e inténtelo de nuevo.',
  errorTitle: 'Se ha producido un error',
  errorText:
    'El servicio no ha podido responder a esta solicitud. El motivo consta en su registro.',
  tryAgain: 'Reintentar',
  tryAgainIn: 'Vuelva a intentarlo {when}.',
  frontTitle: 'Comparta un secreto mediante un enlace que caduca',
  frontText:
    'Introduzca una contraseña, una clave o cualquier otro texto. Obtendrá un enlace que dejará de funcionar tras el número de visualizaciones o días que elija.',
  frontTextFiles:
    'Introduzca un texto o elija archivos. Obtendrá un enlace que dejará de funcionar tras el número de visualizaciones o días que elija.',
  frontTextUsers:
    'Los secretos de esta instancia se cifran y se eliminan tras un número determinado de visualizaciones o días.',
  secretText: 'Texto secreto',
  files: 'Archivos',
  filesLimit: {
    one: 'Hasta {count} archivo de hasta {size}.',
    many: 'Hasta {count} de archivos de hasta {size} cada uno.',
    other: 'Hasta {count} archivos de hasta {size} cada uno.',
  },
  views: 'Número de visualizaciones',
  days: 'Número de días',
  passphraseOptional: 'Frase de contraseña (opcional)',
  passphraseHint:
    'El destinatario la necesita para abrir el secreto. No la envíe junto con el enlace.',
  createLink: 'Crear enlace',
  receivedTitle: '¿Ha recibido un enlace?',
  receivedText: 'Ábralo tal como lo ha recibido. Empieza por {address}.',
  cliTitle: 'En la línea de comandos',
  cliText: 'Instale el programa una sola vez. Le pedirá el secreto y mostrará el enlace.',
  cliTextUsers:
    'Instale el programa una sola vez e inicie sesión con su token. Después le pedirá el secreto y mostrará el enlace.',
  problemText: 'Introduzca un texto.',
  problemTextOrFiles: 'Introduzca un texto o elija archivos.',
  problemTextTooLarge: 'El texto es demasiado largo. El límite es de {size}.',
  problemNumber: 'Introduzca un número entero entre {min} y {max}.',
  problemPassphrase: {
    one: 'La frase de contraseña es demasiado larga. El límite es de {count} carácter.',
    many: 'La frase de contraseña es demasiado larga. El límite es de {count} de caracteres.',
    other: 'La frase de contraseña es demasiado larga. El límite es de {count} caracteres.',
  },
  problemFiles: {
    one: 'Elija como máximo {count} archivo.',
    many: 'Elija como máximo {count} de archivos.',
    other: 'Elija como máximo {count} archivos.',
  },
  problemFileTooLarge: 'Un archivo es demasiado grande. El límite es de {size}.',
  problemValue: 'Este valor no es válido.',
  problemFilesAgain: 'Vuelva a elegir los archivos.',
  problemPassphraseAgain: 'Vuelva a introducir la frase de contraseña.',
  createdTitle: 'Su enlace está listo',
  createdText: 'Envíelo al destinatario. Cualquiera que lo tenga podrá abrir el secreto.',
  createdPassphrase:
    'Envíelo al destinatario. Facilítele la frase de contraseña por otro medio, por ejemplo, por teléfono.',
  createdHint:
    'Cópielo ahora: esta página no se puede volver a cargar. Al abrir el enlace se consume una visualización.',
  yourLink: 'Su enlace',
  qrOfLink: 'Código QR del enlace',
  createAnother: 'Crear otro enlace',
  encryptInBrowser: 'Cifrar en el navegador, para que este servidor no pueda leer el contenido',
  encrypting: 'Cifrando…',
  enterKeyWords:
    'Este secreto está cifrado. Introduzca las palabras de la clave que le ha facilitado el remitente.',
  keyWords: 'Palabras de la clave',
  keyMissing:
    'El enlace está incompleto: falta la parte que sigue a #. Pida el enlace completo al remitente.',
  keyDamaged:
    'El enlace está dañado: la parte que sigue a # no es correcta. Pida el enlace completo al remitente.',
  keyWrong: 'No se puede abrir con esta clave.',
  secretDamaged: 'El secreto cifrado está dañado o incompleto.',
  decrypting: 'Descifrando…',
  decrypt: 'Descifrar',
  decryptWithAge: 'Ábralo con age: {command}',
  decryptNoScript: 'Contenido cifrado. Ábralo en un navegador con JavaScript o con: {command}',
  openTitle: 'Abrir un secreto cifrado',
  openText: 'Pegue un secreto cifrado y su clave. Ninguno de los dos sale de su navegador.',
  encryptedSecret: 'Secreto cifrado',
  key: 'Clave',
  requestTitle: 'Alguien le pide un secreto',
  requestFrom: 'Lo pide {name}.',
  requestUnexpected:
    '¿No esperaba esto? Compruebe, por ejemplo por teléfono, que la petición es de la persona que usted cree.',
  showRequest: 'Mostrar la petición',
  question: 'Qué se le pide',
  yourAnswer: 'Su respuesta',
  answerHint:
    'Solo puede responder una vez. Quien se lo pide puede leer la respuesta una vez; después se elimina.',
  answerEncrypted:
    'Su respuesta se cifra en este navegador. Solo quien se la pide puede descifrarla.',
  answerUnencrypted:
    'Sin JavaScript, la respuesta se envía sin cifrar a este servidor, que podría leerla.',
  answerServerKey:
    'Sin esa parte, su respuesta se cifra con la clave del propio servidor, y quien lo administra podría leerla.',
  answerReadable:
    'Su respuesta no se cifra en este navegador. Quien administra este servidor puede leerla.',
  sendAnswer: 'Enviar respuesta',
  sending: 'Enviando…',
  sendFailed: 'La respuesta no se ha enviado. Compruebe la conexión e inténtelo de nuevo.',
  sentTitle: 'Su respuesta se ha enviado',
  sentText: 'Quien se la pidió ya puede leerla.',
  answeredTitle: 'Esta petición ya se ha respondido',
  answeredText:
    'Cada petición admite una sola respuesta. Si no fue suya, avise a quien se la pidió.',
};
