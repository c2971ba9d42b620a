import type { Strings } from './en';

export const strings: Strings = {
  footer: '비밀 정보는 암호화되어 보관되며 링크가 만료되면 삭제됩니다.',
  contact: '궁금한 점이 있으신가요? 문의처: {contact}',
  previewText: '이 링크는 정해진 열람 횟수나 기간이 지나면 만료됩니다.',

  sharedTitle: '비밀 정보가 공유되었습니다',
  pressToShow: '버튼을 누르면 내용을 볼 수 있습니다.',
  enterPassphrase: '보낸 사람이 전화나 다른 메시지 등으로 알려 준 암호 문구를 입력하세요.',
  unexpected: '예상하지 못한 내용인가요? 열기 전에 보낸 사람에게 확인하세요.',
  passphrase: '암호 문구',
  showPassphrase: '암호 문구 표시',
  hidePassphrase: '암호 문구 숨기기',
  showSecret: '비밀 정보 보기',
  passphraseMissing: '암호 문구를 입력하세요.',
  passphraseWrong: '암호 문구가 올바르지 않습니다.',
  passphraseWrongLeft: {
    other: '암호 문구가 올바르지 않습니다. 지금은 {count}번 더 시도할 수 있습니다.',
  },
  passphraseWrongWait: '암호 문구가 올바르지 않습니다. 1분 정도 기다린 후 다시 시도하세요.',
  passphraseTooOften: '시도 횟수가 너무 많습니다. {when} 다시 시도하세요.',
  passphraseIsKey:
    '이것은 암호화된 비밀 정보의 키이며 암호 문구가 아닙니다. 이 서버가 알아서는 안 되므로 전송하지 않았습니다.',

  viewsLeft: { other: '{count}회 더 열람할 수 있습니다.' },
  openingUsesOne: '비밀 정보를 열면 1회가 차감됩니다.',
  openingUsesLast:
    '비밀 정보를 열면 남은 횟수가 모두 사용되므로, 안전하게 보관할 곳을 미리 준비하세요.',
  reloadingUsesOne: '이 페이지를 다시 불러오면 1회가 차감됩니다.',
  expires: '{when} 만료됩니다.',
  lastView: '마지막 열람이었습니다.',
  lastViewText:
    '비밀 정보가 서버에서 삭제되었습니다. 이 페이지가 유일한 사본이며 다시 불러올 수 없습니다.',
  lastViewFiles: '이 페이지는 다시 불러올 수 없습니다. 다운로드 버튼이 만료되면 파일이 삭제됩니다.',

  secretTitle: '비밀 정보',
  filesTitle: { other: '파일 {count}개가 공유되었습니다' },
  keepSafe: '이 페이지를 떠나기 전에 내용을 안전한 곳에 보관하세요.',
  closeWhenDone:
    '확인이 끝나면 이 페이지를 닫으세요. 이 페이지를 보는 사람은 누구나 비밀 정보를 볼 수 있습니다.',
  saveFiles: '이 페이지를 떠나기 전에 파일을 저장하세요.',
  text: '텍스트',
  message: '메시지',
  link: '링크',
  qrCode: 'QR 코드',
  qrText: 'QR 코드의 텍스트',
  showText: '텍스트 보기',
  showMessage: '메시지 보기',
  showLink: '링크 보기',
  showQrCode: 'QR 코드 보기',
  hide: '숨기기',
  copy: '복사',
  copyText: '텍스트 복사',
  copied: '클립보드에 복사되었습니다.',
  copyFailed:
    '브라우저에서 복사를 허용하지 않았습니다. 텍스트가 선택되어 있으니 키보드나 메뉴로 복사하세요.',
  nullCharacters:
    '텍스트에 페이지에서 표시할 수 없는 널 문자가 포함되어 있습니다. 널 문자는 {sign} 기호로 표시되고 복사됩니다. 정확한 텍스트를 얻으려면 {command} 명령을 사용하세요.',
  leadsTo: '이 링크가 연결되는 곳: {host}',
  linkSignIn: '@ 앞부분은 로그인 정보이며, 링크가 어디로 연결되는지를 나타내지 않습니다.',
  linkUnencrypted:
    '이 사이트와의 연결은 암호화되지 않습니다. 전송하는 내용을 다른 사람이 읽을 수도 있습니다.',
  linkLetters:
    '이 사이트의 이름에는 a~z 이외의 문자가 있으며, 서로 비슷해 보이는 문자도 있습니다. 컴퓨터에서는 이런 이름 앞에 {prefix} 접두사를 붙여 표기합니다.',
  openInNewTab: '새 탭에서 열기',
  qrTooLong: '이 텍스트는 QR 코드로 표시될 예정이었으나, 너무 길어 QR 코드로 만들 수 없습니다.',
  download: '다운로드',
  downloadFile: '{name} 다운로드',
  downloadAll: '모두 다운로드',
  downloadsUntil:
    '다운로드 버튼은 {time}까지 사용할 수 있습니다. 이미 시작된 다운로드는 그 후에도 계속됩니다.',
  downloadsLeft:
    '다운로드 버튼을 사용할 수 있는 시간이 {time} 남았습니다. 이미 시작된 다운로드는 그 후에도 계속됩니다.',
  downloadsExpired: '다운로드 버튼이 만료되었습니다.',
  downloadsExpiredReload:
    '다운로드 버튼이 만료되었습니다. 이 페이지를 다시 불러오면 새 버튼이 표시됩니다. 이때 열람 횟수 1회가 차감됩니다.',
  deleteSecret: '비밀 정보 지금 삭제',
  deleteWarning:
    '모든 사람이 이 링크를 더 이상 사용할 수 없게 됩니다. 이 작업은 되돌릴 수 없습니다.',
  deleteForEveryone: '모두에게서 삭제',
  deletedTitle: '비밀 정보가 삭제되었습니다',
  deletedText: '링크는 더 이상 작동하지 않으며, 비밀 정보는 전혀 남아 있지 않습니다.',
  closePage: '이 페이지를 닫아도 됩니다.',

  goneTitle: '이 링크는 더 이상 사용할 수 없습니다',
  goneText:
    '만료되었거나 삭제되었거나 처음부터 없던 링크입니다. 링크를 추측할 수 없도록 정확한 이유는 알려 드리지 않습니다.',
  goneAdvice:
    '보낸 사람에게 새 링크를 요청하세요. 메시지로 받은 링크라면 전체를 빠짐없이 복사했는지 확인하세요.',

  forbiddenTitle: '허용되지 않습니다',
  foreignForm:
    '이 양식은 다른 사이트에서 전송되었습니다. 링크를 직접 열고 해당 페이지에서 버튼을 누르세요.',
  usersOnly: '이 서버의 비밀 정보는 서버 사용자만 API를 통해 열 수 있습니다.',
  notDeletable: '보낸 사람만 이 비밀 정보를 삭제할 수 있습니다.',
  tooLargeTitle: '크기가 너무 큽니다',
  tooLargeText: '보내신 내용이 이 서버에서 허용하는 크기를 초과합니다.',
  tooManyTitle: '요청이 너무 많습니다',
  tooManyText: '이 서버에서 한 번에 허용하는 것보다 많은 요청을 보내셨습니다.',
  busyTitle: '서비스가 혼잡합니다',
  busyText: '지금은 이 요청에 응답할 수 없습니다.',
  fullTitle: '남은 공간이 없습니다',
  fullText: '이 서버에 새 비밀 정보를 저장할 디스크 공간이 부족합니다.',
  invalidTitle: '처리하지 못했습니다',
  invalidText: '요청이 올바르지 않습니다. 이전 페이지로 돌아가 다시 시도하세요.',
  errorTitle: '문제가 발생했습니다',
  errorText: '서비스가 이 요청에 응답하지 못했습니다. 원인은 서비스 로그에 기록되어 있습니다.',
  tryAgain: '다시 시도',
  tryAgainIn: '{when} 다시 시도하세요.',

  frontTitle: '만료되는 링크로 비밀 정보를 공유하세요',
  frontText:
    '비밀번호, 키 또는 다른 텍스트를 입력하세요. 선택한 열람 횟수나 일수가 지나면 작동하지 않는 링크가 만들어집니다.',
  frontTextFiles:
    '텍스트를 입력하거나 파일을 선택하세요. 선택한 열람 횟수나 일수가 지나면 작동하지 않는 링크가 만들어집니다.',
  frontTextUsers:
    '이 서버의 비밀 정보는 암호화되어 보관되며, 정해진 열람 횟수나 일수가 지나면 삭제됩니다.',
  secretText: '비밀 텍스트',
  files: '파일',
  filesLimit: { other: '파일은 최대 {count}개까지, 파일당 {size} 이하로 첨부할 수 있습니다.' },
  views: '열람 횟수',
  days: '일수',
  passphraseOptional: '암호 문구(선택 사항)',
  passphraseHint: '받는 사람이 비밀 정보를 열 때 필요합니다. 링크와 함께 보내지 마세요.',
  createLink: '링크 만들기',
  receivedTitle: '링크를 받으셨나요?',
  receivedText: '받은 링크를 그대로 여세요. 링크는 다음과 같이 시작합니다: {address}',
  cliTitle: '명령줄에서 사용하기',
  cliText: '한 번만 설치하면 됩니다. 비밀 정보를 입력하면 링크가 출력됩니다.',
  cliTextUsers:
    '한 번만 설치하고 토큰으로 로그인하세요. 그런 다음 비밀 정보를 입력하면 링크가 출력됩니다.',

  problemText: '텍스트를 입력하세요.',
  problemTextOrFiles: '텍스트를 입력하거나 파일을 선택하세요.',
  problemTextTooLarge: '텍스트가 너무 큽니다. 최대 크기는 {size}입니다.',
  problemNumber: '{min}에서 {max} 사이의 정수를 입력하세요.',
  problemPassphrase: { other: '암호 문구가 너무 깁니다. 최대 {count}자까지 입력할 수 있습니다.' },
  problemFiles: { other: '파일은 최대 {count}개까지 선택할 수 있습니다.' },
  problemFileTooLarge: '너무 큰 파일이 있습니다. 최대 크기는 {size}입니다.',
  problemValue: '올바르지 않은 값입니다.',
  problemFilesAgain: '파일을 다시 선택하세요.',
  problemPassphraseAgain: '암호 문구를 다시 입력하세요.',

  createdTitle: '링크가 준비되었습니다',
  createdText: '받는 사람에게 보내세요. 이 링크가 있는 사람은 누구나 비밀 정보를 열 수 있습니다.',
  createdPassphrase: '받는 사람에게 보내세요. 암호 문구는 전화 등 다른 방법으로 알려 주세요.',
  createdHint:
    '지금 링크를 복사하세요. 이 페이지는 다시 불러올 수 없습니다. 링크를 열면 열람 횟수 1회가 차감됩니다.',
  yourLink: '내 링크',
  qrOfLink: '링크의 QR 코드',
  createAnother: '다른 링크 만들기',

  encryptInBrowser: '이 서버가 읽을 수 없도록 브라우저에서 암호화',
  encrypting: '암호화하는 중…',
  enterKeyWords: '이 비밀 정보는 암호화되어 있습니다. 보낸 사람이 알려 준 키 단어를 입력하세요.',
  keyWords: '키 단어',
  keyMissing:
    '링크가 완전하지 않습니다. # 뒷부분이 빠져 있습니다. 보낸 사람에게 전체 링크를 요청하세요.',
  keyDamaged:
    '링크가 손상되었습니다. # 뒷부분이 올바르지 않습니다. 보낸 사람에게 전체 링크를 요청하세요.',
  keyWrong: '이 키로는 열 수 없습니다.',
  secretDamaged: '암호화된 비밀 정보가 손상되었거나 완전하지 않습니다.',
  decrypting: '복호화하는 중…',
  decrypt: '복호화',
  decryptWithAge: 'age로 열기: {command}',
  decryptNoScript:
    '암호화되어 있습니다. JavaScript를 지원하는 브라우저나 다음 명령으로 여세요: {command}',
  openTitle: '암호화된 비밀 정보 열기',
  openText:
    '암호화된 비밀 정보와 키를 붙여 넣으세요. 입력한 내용은 브라우저 밖으로 전송되지 않습니다.',
  encryptedSecret: '암호화된 비밀 정보',
  key: '키',
  requestTitle: '누군가 비밀 정보를 요청했습니다',
  requestFrom: '요청자: {name}',
  requestUnexpected:
    '예상하지 못한 요청인가요? 생각하는 사람이 보낸 요청이 맞는지 전화 등으로 확인하세요.',
  showRequest: '요청 보기',
  question: '요청 내용',
  yourAnswer: '답변',
  answerHint:
    '한 번만 답변할 수 있습니다. 요청자는 답변을 한 번 읽을 수 있으며, 그 후 답변은 삭제됩니다.',
  answerEncrypted: '답변은 이 브라우저에서 암호화됩니다. 요청자만 복호화할 수 있습니다.',
  answerUnencrypted:
    'JavaScript가 없으면 답변이 암호화되지 않은 채 이 서버로 전송되며, 서버가 읽을 수 있습니다.',
  answerServerKey:
    '이 부분이 없으면 답변이 서버 자체의 키로 암호화되며, 서버 운영자가 읽을 수 있습니다.',
  answerReadable:
    '답변이 이 브라우저에서 암호화되지 않습니다. 이 서버의 운영자가 읽을 수 있습니다.',
  sendAnswer: '답변 보내기',
  sending: '보내는 중…',
  sendFailed: '답변을 보내지 못했습니다. 연결을 확인하고 다시 시도하세요.',
  sentTitle: '답변을 보냈습니다',
  sentText: '이제 요청자가 읽을 수 있습니다.',
  answeredTitle: '이미 답변이 완료된 요청입니다',
  answeredText: '요청에는 한 번만 답변할 수 있습니다. 본인의 답변이 아니라면 요청자에게 알리세요.',
};
