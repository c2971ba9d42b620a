import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Les secrets sont chiffrés, puis supprimés à l’expiration du lien.',
  contact: 'Des questions ? Contact : {contact}.',
  previewText: 'Ce lien expire après un certain nombre de consultations ou de jours.',
  sharedTitle: 'Un secret a été partagé avec vous',
  pressToShow: 'Appuyez sur le bouton pour l’afficher.',
  enterPassphrase:
    'Saisissez la phrase de passe que l’expéditeur vous a communiquée, par exemple par téléphone ou dans un autre message.',
  unexpected: 'Vous n’attendiez rien ? Renseignez-vous auprès de l’expéditeur avant de l’ouvrir.',
  passphrase: 'Phrase de passe',
  showPassphrase: 'Afficher la phrase de passe',
  hidePassphrase: 'Masquer la phrase de passe',
  showSecret: 'Afficher le secret',
  passphraseMissing: 'Saisissez la phrase de passe.',
  passphraseWrong: 'Phrase de passe incorrecte.',
  passphraseWrongLeft: {
    one: 'Phrase de passe incorrecte. Il vous reste {count} tentative pour le moment.',
    many: 'Phrase de passe incorrecte. Il vous reste {count} de tentatives pour le moment.',
    other: 'Phrase de passe incorrecte. Il vous reste {count} tentatives pour le moment.',
  },
  passphraseWrongWait: 'Phrase de passe incorrecte. Patientez une minute avant de réessayer.',
  passphraseTooOften: 'Trop de tentatives. Réessayez {when}.',
  passphraseIsKey:
    'C’est la clé d’un secret chiffré, et non une phrase de passe. Elle n’a pas été envoyée : ce serveur ne doit pas la voir.',
  viewsLeft: {
    one: '{count} consultation restante.',
    many: '{count} de consultations restantes.',
    other: '{count} consultations restantes.',
  },
  openingUsesOne: 'L’ouverture du secret en utilise une.',
  openingUsesLast: 'L’ouverture du secret l’utilise : prévoyez un endroit sûr où le conserver.',
  reloadingUsesOne: 'Recharger cette page en utilise une.',
  expires: 'Expire {when}.',
  lastView: 'C’était la dernière consultation.',
  lastViewText:
    'Le secret est supprimé du serveur. Cette page en est la seule copie et ne peut pas être rechargée.',
  lastViewFiles:
    'Cette page ne peut pas être rechargée. Les fichiers seront supprimés à l’expiration des boutons de téléchargement.',
  secretTitle: 'Le secret',
  filesTitle: {
    one: '{count} fichier a été partagé avec vous',
    many: '{count} de fichiers ont été partagés avec vous',
    other: '{count} fichiers ont été partagés avec vous',
  },
  keepSafe: 'Conservez-le en lieu sûr avant de quitter cette page.',
  closeWhenDone:
    'Fermez cette page lorsque vous avez terminé. Toute personne qui la voit voit le secret.',
  saveFiles: 'Enregistrez les fichiers avant de quitter cette page.',
  text: 'Texte',
  message: 'Message',
  link: 'Lien',
  qrCode: 'Code QR',
  qrText: 'Texte du code QR',
  showText: 'Afficher le texte',
  showMessage: 'Afficher le message',
  showLink: 'Afficher le lien',
  showQrCode: 'Afficher le code QR',
  hide: 'Masquer',
  copy: 'Copier',
  copyText: 'Copier le texte',
  copied: 'Copié dans le presse-papiers.',
  copyFailed:
    'Le navigateur n’a pas autorisé la copie. Le texte est maintenant sélectionné : copiez-le au clavier ou depuis le menu.',
  nullCharacters:
    'Le texte contient des caractères nuls, qu’une page ne peut pas afficher. Ils sont affichés et copiés sous la forme {sign}. Pour obtenir le texte exact, utilisez {command}.',
  leadsTo: 'Ce lien mène à {host}',
  linkSignIn:
    'La partie qui précède le @ contient des données de connexion. Elle n’indique pas où mène le lien.',
  linkUnencrypted:
    'La connexion à ce site n’est pas chiffrée. D’autres personnes pourraient lire ce qui est envoyé.',
  linkLetters:
    'Le nom de ce site comporte des lettres autres que a à z, et certaines lettres se ressemblent. Les ordinateurs écrivent un tel nom en le faisant commencer par {prefix}.',
  openInNewTab: 'Ouvrir dans un nouvel onglet',
  qrTooLong: 'Ce texte devait être un code QR, mais il est trop long pour cela.',
  download: 'Télécharger',
  downloadFile: 'Télécharger {name}',
  downloadAll: 'Tout télécharger',
  downloadsUntil:
    'Les boutons de téléchargement fonctionnent jusqu’à {time}. Un téléchargement déjà commencé se poursuit au-delà.',
  downloadsLeft:
    'Les boutons de téléchargement fonctionnent encore pendant {time}. Un téléchargement déjà commencé se poursuit au-delà.',
  downloadsExpired: 'Les boutons de téléchargement ont expiré.',
  downloadsExpiredReload:
    'Les boutons de téléchargement ont expiré. Rechargez cette page pour en obtenir de nouveaux. Cela utilise une consultation.',
  deleteSecret: 'Supprimer le secret maintenant',
  deleteWarning: 'Le lien ne fonctionnera plus pour personne. Cette action est irréversible.',
  deleteForEveryone: 'Supprimer pour tous',
  deletedTitle: 'Le secret est supprimé',
  deletedText: 'Le lien ne fonctionne plus et rien du secret n’est conservé.',
  closePage: 'Vous pouvez fermer cette page.',
  goneTitle: 'Ce lien n’est plus disponible',
  goneText:
    'Il a expiré, a été supprimé ou n’a jamais existé. Nous ne précisons pas lequel de ces cas s’applique, afin que les liens ne puissent pas être devinés.',
  goneAdvice:
    'Demandez un nouveau lien à l’expéditeur. Si vous l’avez reçu dans un message, vérifiez que vous l’avez copié en entier.',
  forbiddenTitle: 'Action non autorisée',
  foreignForm:
    'Ce formulaire a été envoyé depuis un autre site. Ouvrez vous-même le lien et appuyez sur le bouton qui s’y trouve.',
  usersOnly:
    'Seuls les utilisateurs de cette instance peuvent ouvrir ses secrets, au moyen de l’API.',
  notDeletable: 'Seul l’expéditeur peut supprimer ce secret.',
  tooLargeTitle: 'Trop volumineux',
  tooLargeText: 'Votre envoi dépasse la taille acceptée par cette instance.',
  tooManyTitle: 'Trop de requêtes',
  tooManyText: 'Vous avez envoyé plus de requêtes que cette instance n’en accepte à la fois.',
  busyTitle: 'Le service est surchargé',
  busyText: 'Il ne peut pas répondre à cette requête pour le moment.',
  fullTitle: 'Espace insuffisant',
  fullText: 'Cette instance ne dispose pas d’assez d’espace disque pour de nouveaux secrets.',
  invalidTitle: 'L’opération a échoué',
  invalidText: 'La requête n’est pas valide. Revenez en arrière et réessayez.',
  errorTitle: 'Une erreur s’est produite',
  errorText: 'Le service n’a pas pu répondre à cette requête. Son journal en indique la raison.',
  tryAgain: 'Réessayer',
  tryAgainIn: 'Réessayez {when}.',
  frontTitle: 'Partagez un secret au moyen d’un lien qui expire',
  frontText:
    'Saisissez un mot de passe, une clé ou tout autre texte. Vous obtenez un lien qui cesse de fonctionner après le nombre de consultations ou de jours de votre choix.',
  frontTextFiles:
    'Saisissez un texte ou choisissez des fichiers. Vous obtenez un lien qui cesse de fonctionner après le nombre de consultations ou de jours de votre choix.',
  frontTextUsers:
    'Les secrets de cette instance sont chiffrés, puis supprimés après un certain nombre de consultations ou de jours.',
  secretText: 'Texte secret',
  files: 'Fichiers',
  filesLimit: {
    one: 'Jusqu’à {count} fichier de {size} maximum.',
    many: 'Jusqu’à {count} de fichiers de {size} maximum chacun.',
    other: 'Jusqu’à {count} fichiers de {size} maximum chacun.',
  },
  views: 'Nombre de consultations',
  days: 'Nombre de jours',
  passphraseOptional: 'Phrase de passe (facultative)',
  passphraseHint:
    'Le destinataire en a besoin pour ouvrir le secret. Ne l’envoyez pas avec le lien.',
  createLink: 'Créer le lien',
  receivedTitle: 'Vous avez reçu un lien ?',
  receivedText: 'Ouvrez-le tel que vous l’avez reçu. Il commence par {address}.',
  cliTitle: 'En ligne de commande',
  cliText: 'Installez le programme une seule fois. Il demande le secret et affiche le lien.',
  cliTextUsers:
    'Installez le programme une seule fois et connectez-vous avec votre jeton. Il demande ensuite le secret et affiche le lien.',
  problemText: 'Saisissez un texte.',
  problemTextOrFiles: 'Saisissez un texte ou choisissez des fichiers.',
  problemTextTooLarge: 'Le texte est trop long. La limite est de {size}.',
  problemNumber: 'Saisissez un nombre entier de {min} à {max}.',
  problemPassphrase: {
    one: 'La phrase de passe est trop longue. La limite est de {count} caractère.',
    many: 'La phrase de passe est trop longue. La limite est de {count} de caractères.',
    other: 'La phrase de passe est trop longue. La limite est de {count} caractères.',
  },
  problemFiles: {
    one: 'Choisissez au maximum {count} fichier.',
    many: 'Choisissez au maximum {count} de fichiers.',
    other: 'Choisissez au maximum {count} fichiers.',
  },
  problemFileTooLarge: 'Un fichier est trop volumineux. La limite est de {size}.',
  problemValue: 'Cette valeur n’est pas valide.',
  problemFilesAgain: 'Choisissez de nouveau les fichiers.',
  problemPassphraseAgain: 'Saisissez de nouveau la phrase de passe.',
  createdTitle: 'Votre lien est prêt',
  createdText: 'Envoyez-le au destinataire. Toute personne qui le possède peut ouvrir le secret.',
  createdPassphrase:
    'Envoyez-le au destinataire. Communiquez-lui la phrase de passe par un autre moyen, par exemple par téléphone.',
  createdHint:
    'Copiez-le maintenant : cette page ne peut pas être rechargée. L’ouverture du lien utilise une consultation.',
  yourLink: 'Votre lien',
  qrOfLink: 'Code QR du lien',
  createAnother: 'Créer un autre lien',
  encryptInBrowser:
    'Chiffrer dans le navigateur, afin que ce serveur ne puisse pas lire le contenu',
  encrypting: 'Chiffrement…',
  enterKeyWords:
    'Ce secret est chiffré. Saisissez les mots de la clé que l’expéditeur vous a communiqués.',
  keyWords: 'Mots de la clé',
  keyMissing:
    'Le lien est incomplet : la partie qui suit le # est absente. Demandez le lien complet à l’expéditeur.',
  keyDamaged:
    'Le lien est endommagé : la partie qui suit le # est incorrecte. Demandez le lien complet à l’expéditeur.',
  keyWrong: 'Cette clé ne permet pas de l’ouvrir.',
  secretDamaged: 'Le secret chiffré est endommagé ou incomplet.',
  decrypting: 'Déchiffrement…',
  decrypt: 'Déchiffrer',
  decryptWithAge: 'Ouvrez-le avec age : {command}',
  decryptNoScript:
    'Contenu chiffré. Ouvrez-le dans un navigateur avec JavaScript, ou avec : {command}',
  openTitle: 'Ouvrir un secret chiffré',
  openText: 'Collez un secret chiffré et sa clé. Ils ne quittent pas votre navigateur.',
  encryptedSecret: 'Secret chiffré',
  key: 'Clé',
  requestTitle: 'On vous demande un secret',
  requestFrom: 'Demande de {name}.',
  requestUnexpected:
    'Vous n’attendiez rien ? Vérifiez, par exemple par téléphone, que la demande vient bien de la personne à laquelle vous pensez.',
  showRequest: 'Afficher la demande',
  question: 'Ce qui vous est demandé',
  yourAnswer: 'Votre réponse',
  answerHint:
    'Vous ne pouvez répondre qu’une fois. La personne qui vous sollicite peut lire la réponse une fois ; elle est ensuite supprimée.',
  answerEncrypted:
    'Votre réponse est chiffrée dans ce navigateur. Seule la personne qui vous sollicite peut la déchiffrer.',
  answerUnencrypted:
    'Sans JavaScript, la réponse est envoyée non chiffrée à ce serveur, qui pourrait la lire.',
  answerServerKey:
    'Sans cette partie, votre réponse est chiffrée avec la clé du serveur lui-même, et la personne qui l’exploite pourrait la lire.',
  answerReadable:
    'Votre réponse n’est pas chiffrée dans ce navigateur. La personne qui exploite ce serveur peut la lire.',
  sendAnswer: 'Envoyer la réponse',
  sending: 'Envoi…',
  sendFailed: 'La réponse n’a pas été envoyée. Vérifiez votre connexion et réessayez.',
  sentTitle: 'Votre réponse a été envoyée',
  sentText: 'La personne qui vous a sollicité peut maintenant la lire.',
  answeredTitle: 'Cette demande a déjà reçu une réponse',
  answeredText:
    'Une demande n’accepte qu’une réponse. Si elle n’est pas de vous, prévenez la personne qui vous a sollicité.',
};
