import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Os segredos são criptografados e excluídos quando o link expira.',
  contact: 'Dúvidas? Entre em contato: {contact}.',
  previewText: 'Este link expira após um certo número de visualizações ou dias.',

  sharedTitle: 'Um segredo foi compartilhado com você',
  pressToShow: 'Clique no botão para vê-lo.',
  enterPassphrase:
    'Digite a frase secreta que o remetente informou a você, talvez por telefone ou em outra mensagem.',
  unexpected: 'Não esperava por isto? Fale com o remetente antes de abrir.',
  passphrase: 'Frase secreta',
  showPassphrase: 'Mostrar a frase secreta',
  hidePassphrase: 'Ocultar a frase secreta',
  showSecret: 'Mostrar o segredo',
  passphraseMissing: 'Digite a frase secreta.',
  passphraseWrong: 'Frase secreta incorreta.',
  passphraseWrongLeft: {
    one: 'Frase secreta incorreta. Por enquanto, resta {count} tentativa.',
    many: 'Frase secreta incorreta. Por enquanto, restam {count} tentativas.',
    other: 'Frase secreta incorreta. Por enquanto, restam {count} tentativas.',
  },
  passphraseWrongWait: 'Frase secreta incorreta. Aguarde um minuto antes de tentar novamente.',
  passphraseTooOften: 'Muitas tentativas. Tente novamente {when}.',
  passphraseIsKey:
    'Esta é a chave de um segredo criptografado, não uma frase secreta. Ela não foi enviada: este servidor não deve vê-la.',

  viewsLeft: {
    one: 'Resta {count} visualização.',
    many: 'Restam {count} visualizações.',
    other: 'Restam {count} visualizações.',
  },
  openingUsesOne: 'Abrir o segredo consome uma.',
  openingUsesLast:
    'Abrir o segredo consome essa visualização; por isso, tenha um lugar seguro pronto para guardá-lo.',
  reloadingUsesOne: 'Recarregar esta página consome uma.',
  expires: 'Expira {when}.',
  lastView: 'Essa foi a última visualização.',
  lastViewText:
    'O segredo foi excluído do servidor. Esta página é a única cópia e não pode ser carregada novamente.',
  lastViewFiles:
    'Esta página não pode ser carregada novamente. Os arquivos serão excluídos quando os botões de download expirarem.',

  secretTitle: 'O segredo',
  filesTitle: {
    one: '{count} arquivo foi compartilhado com você',
    many: '{count} arquivos foram compartilhados com você',
    other: '{count} arquivos foram compartilhados com você',
  },
  keepSafe: 'Guarde-o em um lugar seguro antes de sair desta página.',
  closeWhenDone: 'Feche esta página quando terminar. Quem a vir verá o segredo.',
  saveFiles: 'Salve os arquivos antes de sair desta página.',
  text: 'Texto',
  message: 'Mensagem',
  link: 'Link',
  qrCode: 'QR Code',
  qrText: 'Texto do QR Code',
  showText: 'Mostrar o texto',
  showMessage: 'Mostrar a mensagem',
  showLink: 'Mostrar o link',
  showQrCode: 'Mostrar o QR Code',
  hide: 'Ocultar',
  copy: 'Copiar',
  copyText: 'Copiar texto',
  copied: 'Copiado para a área de transferência.',
  copyFailed:
    'O navegador não permitiu a cópia. O texto agora está selecionado: copie-o pelo teclado ou pelo menu.',
  nullCharacters:
    'O texto contém caracteres nulos, que uma página não consegue exibir. Eles são exibidos e copiados como {sign}. Para obter o texto exato, use {command}.',
  leadsTo: 'Este link leva a {host}',
  linkSignIn: 'A parte antes do @ contém dados de login. Ela não indica para onde o link leva.',
  linkUnencrypted:
    'A conexão com este site não é criptografada. Outras pessoas podem ler o que for enviado.',
  linkLetters:
    'O nome deste site tem letras fora do intervalo de a a z, e algumas letras são parecidas entre si. Os computadores escrevem nomes assim com {prefix} no início.',
  openInNewTab: 'Abrir em uma nova guia',
  qrTooLong: 'Este texto deveria ser um QR Code, mas é longo demais para isso.',
  download: 'Baixar',
  downloadFile: 'Baixar {name}',
  downloadAll: 'Baixar tudo',
  downloadsUntil:
    'Os botões de download funcionam até {time}. Um download já iniciado continua depois disso.',
  downloadsLeft:
    'Os botões de download funcionam por mais {time}. Um download já iniciado continua depois disso.',
  downloadsExpired: 'Os botões de download expiraram.',
  downloadsExpiredReload:
    'Os botões de download expiraram. Recarregue esta página para obter novos. Isso consome uma visualização.',
  deleteSecret: 'Excluir o segredo agora',
  deleteWarning: 'O link deixará de funcionar para todos. Isso não pode ser desfeito.',
  deleteForEveryone: 'Excluir para todos',
  deletedTitle: 'O segredo foi excluído',
  deletedText: 'O link não funciona mais, e nada do segredo foi mantido.',
  closePage: 'Você pode fechar esta página.',

  goneTitle: 'Este link não está mais disponível',
  goneText:
    'Ele expirou, foi excluído ou nunca existiu. Não informamos qual dos casos, para que não seja possível adivinhar links.',
  goneAdvice:
    'Peça um novo link ao remetente. Se ele veio em uma mensagem, verifique se você o copiou por inteiro.',

  forbiddenTitle: 'Isso não é permitido',
  foreignForm:
    'Este formulário foi enviado de outro site. Abra você mesmo o link e clique no botão na página dele.',
  usersOnly: 'Somente os usuários deste servidor podem abrir os segredos dele, por meio da API.',
  notDeletable: 'Somente o remetente pode excluir este segredo.',
  tooLargeTitle: 'Grande demais',
  tooLargeText: 'O que você enviou é maior do que este servidor aceita.',
  tooManyTitle: 'Solicitações demais',
  tooManyText: 'Você enviou mais solicitações do que este servidor aceita de uma só vez.',
  busyTitle: 'O serviço está ocupado',
  busyText: 'Ele não pode responder a esta solicitação no momento.',
  fullTitle: 'Não há mais espaço',
  fullText: 'Este servidor não tem espaço em disco suficiente para novos segredos.',
  invalidTitle: 'Não funcionou',
  invalidText: 'A solicitação não é válida. Volte e tente novamente.',
  errorTitle: 'Algo deu errado',
  errorText: 'O serviço não conseguiu responder a esta solicitação. O motivo está no log dele.',
  tryAgain: 'Tentar novamente',
  tryAgainIn: 'Tente novamente {when}.',

  frontTitle: 'Compartilhe um segredo por um link que expira',
  frontText:
    'Digite uma senha, uma chave ou qualquer outro texto. Você recebe um link que deixa de funcionar após o número de visualizações ou dias que escolher.',
  frontTextFiles:
    'Digite um texto ou escolha arquivos. Você recebe um link que deixa de funcionar após o número de visualizações ou dias que escolher.',
  frontTextUsers:
    'Os segredos neste servidor são criptografados e excluídos após um certo número de visualizações ou dias.',
  secretText: 'Texto secreto',
  files: 'Arquivos',
  filesLimit: {
    one: 'Máximo de {count} arquivo, com até {size}.',
    many: 'Máximo de {count} arquivos, com até {size} cada.',
    other: 'Máximo de {count} arquivos, com até {size} cada.',
  },
  views: 'Número de visualizações',
  days: 'Número de dias',
  passphraseOptional: 'Frase secreta (opcional)',
  passphraseHint: 'O destinatário precisa dela para abrir o segredo. Não a envie junto com o link.',
  createLink: 'Criar link',
  receivedTitle: 'Recebeu um link?',
  receivedText: 'Abra-o exatamente como o recebeu. Ele começa com {address}.',
  cliTitle: 'Na linha de comando',
  cliText: 'Instale o programa uma única vez. Ele pede o segredo e exibe o link.',
  cliTextUsers:
    'Instale o programa uma única vez e faça login com o seu token. Depois disso, ele pede o segredo e exibe o link.',

  problemText: 'Digite um texto.',
  problemTextOrFiles: 'Digite um texto ou escolha arquivos.',
  problemTextTooLarge: 'O texto é grande demais. O limite é {size}.',
  problemNumber: 'Digite um número inteiro de {min} a {max}.',
  problemPassphrase: {
    one: 'A frase secreta é longa demais. O limite é de {count} caractere.',
    many: 'A frase secreta é longa demais. O limite é de {count} caracteres.',
    other: 'A frase secreta é longa demais. O limite é de {count} caracteres.',
  },
  problemFiles: {
    one: 'Escolha no máximo {count} arquivo.',
    many: 'Escolha no máximo {count} arquivos.',
    other: 'Escolha no máximo {count} arquivos.',
  },
  problemFileTooLarge: 'Um arquivo é grande demais. O limite é {size}.',
  problemValue: 'Este valor não é válido.',
  problemFilesAgain: 'Escolha os arquivos novamente.',
  problemPassphraseAgain: 'Digite a frase secreta novamente.',

  createdTitle: 'Seu link está pronto',
  createdText: 'Envie-o ao destinatário. Qualquer pessoa que o tenha pode abrir o segredo.',
  createdPassphrase:
    'Envie-o ao destinatário. Informe a frase secreta de outra forma, por exemplo, por telefone.',
  createdHint:
    'Copie-o agora: esta página não pode ser carregada novamente. Abrir o link consome uma visualização.',
  yourLink: 'Seu link',
  qrOfLink: 'QR Code do link',
  createAnother: 'Criar outro link',

  encryptInBrowser: 'Criptografar no navegador, para que este servidor não possa ler o conteúdo',
  encrypting: 'Criptografando…',
  enterKeyWords:
    'Este segredo está criptografado. Digite as palavras da chave que o remetente informou a você.',
  keyWords: 'Palavras da chave',
  keyMissing:
    'O link está incompleto: falta a parte depois de #. Peça o link inteiro ao remetente.',
  keyDamaged:
    'O link está danificado: a parte depois de # não está correta. Peça o link inteiro ao remetente.',
  keyWrong: 'Essa chave não abre o segredo.',
  secretDamaged: 'O segredo criptografado está danificado ou incompleto.',
  decrypting: 'Descriptografando…',
  decrypt: 'Descriptografar',
  decryptWithAge: 'Abra com o age: {command}',
  decryptNoScript: 'Criptografado. Abra em um navegador com JavaScript ou com o comando: {command}',
  openTitle: 'Abrir um segredo criptografado',
  openText: 'Cole um segredo criptografado e a chave dele. Eles não saem do seu navegador.',
  encryptedSecret: 'Segredo criptografado',
  key: 'Chave',
  requestTitle: 'Alguém está pedindo um segredo a você',
  requestFrom: 'Pedido de {name}.',
  requestUnexpected:
    'Não esperava por isto? Confirme, por exemplo por telefone, que o pedido é da pessoa que você imagina.',
  showRequest: 'Mostrar o pedido',
  question: 'O que está sendo pedido',
  yourAnswer: 'Sua resposta',
  answerHint:
    'Você pode responder só uma vez. Quem pediu pode ler a resposta uma vez; depois ela é excluída.',
  answerEncrypted:
    'Sua resposta é criptografada neste navegador. Só quem pediu pode descriptografá-la.',
  answerUnencrypted:
    'Sem JavaScript, a resposta é enviada sem criptografia a este servidor, que poderia lê-la.',
  answerServerKey:
    'Sem essa parte, sua resposta é criptografada com a chave do próprio servidor, e quem o administra poderia lê-la.',
  answerReadable:
    'Sua resposta não é criptografada neste navegador. Quem administra este servidor pode lê-la.',
  sendAnswer: 'Enviar resposta',
  sending: 'Enviando…',
  sendFailed: 'A resposta não foi enviada. Verifique sua conexão e tente novamente.',
  sentTitle: 'Sua resposta foi enviada',
  sentText: 'Quem pediu já pode lê-la.',
  answeredTitle: 'Este pedido já foi respondido',
  answeredText: 'Um pedido aceita só uma resposta. Se a resposta não foi sua, avise quem pediu.',
};
