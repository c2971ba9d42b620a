import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Os segredos são encriptados e eliminados quando a ligação expira.',
  contact: 'Tem dúvidas? Contacte {contact}.',
  previewText: 'Esta ligação expira ao fim de um determinado número de visualizações ou dias.',

  sharedTitle: 'Foi partilhado um segredo consigo',
  pressToShow: 'Prima o botão para o ver.',
  enterPassphrase:
    'Introduza a frase-passe que o remetente lhe deu, talvez por telefone ou noutra mensagem.',
  unexpected: 'Não estava à espera disto? Fale com o remetente antes de abrir.',
  passphrase: 'Frase-passe',
  showPassphrase: 'Mostrar a frase-passe',
  hidePassphrase: 'Ocultar a frase-passe',
  showSecret: 'Mostrar o segredo',
  passphraseMissing: 'Introduza a frase-passe.',
  passphraseWrong: 'Frase-passe incorreta.',
  passphraseWrongLeft: {
    one: 'Frase-passe incorreta. Por agora, resta {count} tentativa.',
    many: 'Frase-passe incorreta. Por agora, restam {count} tentativas.',
    other: 'Frase-passe incorreta. Por agora, restam {count} tentativas.',
  },
  passphraseWrongWait: 'Frase-passe incorreta. Aguarde um minuto antes de tentar novamente.',
  passphraseTooOften: 'Demasiadas tentativas. Tente novamente {when}.',
  passphraseIsKey:
    'Esta é a chave de um segredo encriptado, não uma frase-passe. Não foi enviada: este servidor não a deve ver.',

  viewsLeft: {
    one: 'Resta {count} visualização.',
    many: 'Restam {count} visualizações.',
    other: 'Restam {count} visualizações.',
  },
  openingUsesOne: 'Abrir o segredo gasta uma.',
  openingUsesLast:
    'Abrir o segredo gasta essa visualização; por isso, tenha preparado um local seguro para o guardar.',
  reloadingUsesOne: 'Recarregar esta página gasta uma.',
  expires: 'Expira {when}.',
  lastView: 'Esta foi a última visualização.',
  lastViewText:
    'O segredo foi eliminado do servidor. Esta página é a única cópia e não pode voltar a ser carregada.',
  lastViewFiles:
    'Esta página não pode voltar a ser carregada. Os ficheiros serão eliminados quando os botões de transferência expirarem.',

  secretTitle: 'O segredo',
  filesTitle: {
    one: 'Foi partilhado {count} ficheiro consigo',
    many: 'Foram partilhados {count} ficheiros consigo',
    other: 'Foram partilhados {count} ficheiros consigo',
  },
  keepSafe: 'Guarde-o num local seguro antes de sair desta página.',
  closeWhenDone: 'Feche esta página quando terminar. Quem a vir verá o segredo.',
  saveFiles: 'Guarde os ficheiros antes de sair desta página.',
  text: 'Texto',
  message: 'Mensagem',
  link: 'Ligação',
  qrCode: 'Código QR',
  qrText: 'Texto do código QR',
  showText: 'Mostrar o texto',
  showMessage: 'Mostrar a mensagem',
  showLink: 'Mostrar a ligação',
  showQrCode: 'Mostrar o código QR',
  hide: 'Ocultar',
  copy: 'Copiar',
  copyText: 'Copiar texto',
  copied: 'Copiado para a área de transferência.',
  copyFailed:
    'O navegador não permitiu copiar. O texto está agora selecionado: copie-o com o teclado ou através do menu.',
  nullCharacters:
    'O texto contém caracteres nulos, que uma página não consegue mostrar. São mostrados e copiados como {sign}. Para obter o texto exato, utilize {command}.',
  leadsTo: 'Esta ligação conduz a {host}',
  linkSignIn:
    'A parte antes de @ contém dados de início de sessão. Não indica para onde conduz a ligação.',
  linkUnencrypted:
    'A comunicação com este site não é encriptada. Outras pessoas podem ler o que for enviado.',
  linkLetters:
    'O nome deste site tem letras fora do intervalo de a a z, e algumas letras são parecidas entre si. Os computadores escrevem esses nomes com {prefix} no início.',
  openInNewTab: 'Abrir num novo separador',
  qrTooLong: 'Este texto destinava-se a um código QR, mas é demasiado longo.',
  download: 'Transferir',
  downloadFile: 'Transferir {name}',
  downloadAll: 'Transferir tudo',
  downloadsUntil:
    'Os botões de transferência funcionam até {time}. Uma transferência já iniciada continua depois disso.',
  downloadsLeft:
    'Os botões de transferência funcionam durante mais {time}. Uma transferência já iniciada continua depois disso.',
  downloadsExpired: 'Os botões de transferência expiraram.',
  downloadsExpiredReload:
    'Os botões de transferência expiraram. Recarregue esta página para obter novos. Esta ação gasta uma visualização.',
  deleteSecret: 'Eliminar o segredo agora',
  deleteWarning: 'A ligação deixa de funcionar para todos. Esta ação não pode ser anulada.',
  deleteForEveryone: 'Eliminar para todos',
  deletedTitle: 'O segredo foi eliminado',
  deletedText: 'A ligação já não funciona e nada do segredo foi conservado.',
  closePage: 'Pode fechar esta página.',

  goneTitle: 'Esta ligação já não está disponível',
  goneText:
    'Expirou, foi eliminada ou nunca existiu. Não indicamos qual dos casos, para que não seja possível adivinhar ligações.',
  goneAdvice:
    'Peça uma nova ligação ao remetente. Se a recebeu numa mensagem, verifique se a copiou na íntegra.',

  forbiddenTitle: 'Esta ação não é permitida',
  foreignForm:
    'Este formulário foi enviado a partir de outro site. Abra a ligação diretamente e prima o botão na respetiva página.',
  usersOnly:
    'Só os utilizadores deste servidor podem abrir os segredos nele guardados, através da API.',
  notDeletable: 'Só o remetente pode eliminar este segredo.',
  tooLargeTitle: 'Demasiado grande',
  tooLargeText: 'O que enviou é maior do que este servidor aceita.',
  tooManyTitle: 'Demasiados pedidos',
  tooManyText: 'Enviou mais pedidos do que este servidor aceita de uma só vez.',
  busyTitle: 'O serviço está ocupado',
  busyText: 'Não consegue responder a este pedido neste momento.',
  fullTitle: 'Não há espaço disponível',
  fullText: 'Este servidor não tem espaço em disco suficiente para novos segredos.',
  invalidTitle: 'Não funcionou',
  invalidText: 'O pedido não é válido. Volte atrás e tente novamente.',
  errorTitle: 'Ocorreu um problema',
  errorText:
    'O serviço não conseguiu responder a este pedido. O motivo consta do respetivo registo.',
  tryAgain: 'Tentar novamente',
  tryAgainIn: 'Tente novamente {when}.',

  frontTitle: 'Partilhe um segredo através de uma ligação que expira',
  frontText:
    'Introduza uma palavra-passe, uma chave ou qualquer outro texto. Recebe uma ligação que deixa de funcionar ao fim do número de visualizações ou dias que escolher.',
  frontTextFiles:
    'Introduza um texto ou escolha ficheiros. Recebe uma ligação que deixa de funcionar ao fim do número de visualizações ou dias que escolher.',
  frontTextUsers:
    'Os segredos neste servidor são encriptados e eliminados ao fim de um determinado número de visualizações ou dias.',
  secretText: 'Texto secreto',
  files: 'Ficheiros',
  filesLimit: {
    one: 'Máximo de {count} ficheiro, com até {size}.',
    many: 'Máximo de {count} ficheiros, com até {size} cada.',
    other: 'Máximo de {count} ficheiros, com até {size} cada.',
  },
  views: 'Número de visualizações',
  days: 'Número de dias',
  passphraseOptional: 'Frase-passe (opcional)',
  passphraseHint:
    'O destinatário precisa dela para abrir o segredo. Não a envie juntamente com a ligação.',
  createLink: 'Criar ligação',
  receivedTitle: 'Recebeu uma ligação?',
  receivedText: 'Abra-a tal como a recebeu. Começa por {address}.',
  cliTitle: 'Na linha de comandos',
  cliText: 'Instale o programa uma única vez. Depois, este pede o segredo e apresenta a ligação.',
  cliTextUsers:
    'Instale o programa uma única vez e inicie sessão com o seu token. Depois disso, o programa pede o segredo e apresenta a ligação.',

  problemText: 'Introduza um texto.',
  problemTextOrFiles: 'Introduza um texto ou escolha ficheiros.',
  problemTextTooLarge: 'O texto é demasiado grande. O limite é {size}.',
  problemNumber: 'Introduza um número inteiro de {min} a {max}.',
  problemPassphrase: {
    one: 'A frase-passe é demasiado longa. O limite é de {count} carácter.',
    many: 'A frase-passe é demasiado longa. O limite é de {count} caracteres.',
    other: 'A frase-passe é demasiado longa. O limite é de {count} caracteres.',
  },
  problemFiles: {
    one: 'Escolha, no máximo, {count} ficheiro.',
    many: 'Escolha, no máximo, {count} ficheiros.',
    other: 'Escolha, no máximo, {count} ficheiros.',
  },
  problemFileTooLarge: 'Um ficheiro é demasiado grande. O limite é {size}.',
  problemValue: 'Este valor não é válido.',
  problemFilesAgain: 'Escolha novamente os ficheiros.',
  problemPassphraseAgain: 'Introduza novamente a frase-passe.',

  createdTitle: 'A sua ligação está pronta',
  createdText: 'Envie-a ao destinatário. Qualquer pessoa que a tenha pode abrir o segredo.',
  createdPassphrase:
    'Envie-a ao destinatário. Comunique-lhe a frase-passe de outra forma, por exemplo, por telefone.',
  createdHint:
    'Copie-a agora: esta página não pode voltar a ser carregada. Abrir a ligação gasta uma visualização.',
  yourLink: 'A sua ligação',
  qrOfLink: 'Código QR da ligação',
  createAnother: 'Criar outra ligação',

  encryptInBrowser: 'Encriptar no navegador, para que este servidor não possa ler o conteúdo',
  encrypting: 'A encriptar…',
  enterKeyWords:
    'Este segredo está encriptado. Introduza as palavras da chave que o remetente lhe deu.',
  keyWords: 'Palavras da chave',
  keyMissing:
    'A ligação está incompleta: falta a parte a seguir a #. Peça a ligação completa ao remetente.',
  keyDamaged:
    'A ligação está danificada: a parte a seguir a # não está correta. Peça a ligação completa ao remetente.',
  keyWrong: 'Essa chave não abre o segredo.',
  secretDamaged: 'O segredo encriptado está danificado ou incompleto.',
  decrypting: 'A desencriptar…',
  decrypt: 'Desencriptar',
  decryptWithAge: 'Abra com o age: {command}',
  decryptNoScript: 'Encriptado. Abra num navegador com JavaScript ou com o comando: {command}',
  openTitle: 'Abrir um segredo encriptado',
  openText: 'Cole um segredo encriptado e a respetiva chave. Não saem do seu navegador.',
  encryptedSecret: 'Segredo encriptado',
  key: 'Chave',
  requestTitle: 'Alguém está a pedir-lhe um segredo',
  requestFrom: 'Pedido de {name}.',
  requestUnexpected:
    'Não estava à espera disto? Confirme, por exemplo por telefone, que o pedido é da pessoa em que está a pensar.',
  showRequest: 'Mostrar o pedido',
  question: 'O que lhe é pedido',
  yourAnswer: 'A sua resposta',
  answerHint:
    'Só pode responder uma vez. Quem pediu pode ler a resposta uma vez; depois é eliminada.',
  answerEncrypted:
    'A sua resposta é encriptada neste navegador. Só quem pediu a pode desencriptar.',
  answerUnencrypted:
    'Sem JavaScript, a resposta é enviada sem encriptação para este servidor, que a poderia ler.',
  answerServerKey:
    'Sem essa parte, a sua resposta é encriptada com a chave do próprio servidor, e quem o gere poderia lê-la.',
  answerReadable:
    'A sua resposta não é encriptada neste navegador. Quem gere este servidor pode lê-la.',
  sendAnswer: 'Enviar resposta',
  sending: 'A enviar…',
  sendFailed: 'A resposta não foi enviada. Verifique a sua ligação à rede e tente novamente.',
  sentTitle: 'A sua resposta foi enviada',
  sentText: 'Quem pediu já a pode ler.',
  answeredTitle: 'Este pedido já foi respondido',
  answeredText: 'Um pedido só aceita uma resposta. Se a resposta não foi sua, avise quem pediu.',
};
