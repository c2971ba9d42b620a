import type { Strings } from './en';

export const strings: Strings = {
  footer: 'Criptítear rúin agus scriostar iad nuair a théann an nasc in éag.',
  contact: 'Ceisteanna? Eolas teagmhála: {contact}.',
  previewText: 'Téann an nasc seo in éag tar éis líon áirithe amharc nó laethanta.',

  sharedTitle: 'Roinneadh rún leat',
  pressToShow: 'Brúigh an cnaipe chun é a fheiceáil.',
  enterPassphrase:
    'Cuir isteach an pasfhrása a thug an seoltóir duit, ar an bhfón nó i dteachtaireacht eile b’fhéidir.',
  unexpected: 'Nach raibh tú ag súil leis seo? Fiafraigh den seoltóir faoi sula n-osclaíonn tú é.',
  passphrase: 'Pasfhrása',
  showPassphrase: 'Taispeáin an pasfhrása',
  hidePassphrase: 'Folaigh an pasfhrása',
  showSecret: 'Taispeáin an rún',
  passphraseMissing: 'Cuir isteach an pasfhrása.',
  passphraseWrong: 'Pasfhrása mícheart.',
  passphraseWrongLeft: {
    one: 'Pasfhrása mícheart. {count} iarracht fágtha faoi láthair.',
    two: 'Pasfhrása mícheart. {count} iarracht fágtha faoi láthair.',
    few: 'Pasfhrása mícheart. {count} iarracht fágtha faoi láthair.',
    many: 'Pasfhrása mícheart. {count} n-iarracht fágtha faoi láthair.',
    other: 'Pasfhrása mícheart. {count} iarracht fágtha faoi láthair.',
  },
  passphraseWrongWait: 'Pasfhrása mícheart. Fan nóiméad sula mbaineann tú triail eile as.',
  passphraseTooOften: 'An iomarca iarrachtaí. Bain triail eile as {when}.',
  passphraseIsKey:
    'Eochair rúin chriptithe í seo, ní pasfhrása. Níor seoladh í: níor cheart don fhreastalaí seo í a fheiceáil.',

  viewsLeft: {
    one: '{count} amharc fágtha.',
    two: '{count} amharc fágtha.',
    few: '{count} amharc fágtha.',
    many: '{count} n-amharc fágtha.',
    other: '{count} amharc fágtha.',
  },
  openingUsesOne: 'Úsáidtear amharc amháin nuair a osclaítear an rún.',
  openingUsesLast:
    'Úsáidtear an t-amharc sin nuair a osclaítear an rún, mar sin bíodh áit shábháilte réidh agat dó.',
  reloadingUsesOne: 'Úsáidtear amharc amháin nuair a athlódáiltear an leathanach seo.',
  expires: 'Rachaidh sé in éag {when}.',
  lastView: 'Ba é sin an t-amharc deireanach.',
  lastViewText:
    'Tá an rún scriosta den fhreastalaí. Is é an leathanach seo an t-aon chóip, agus ní féidir é a lódáil arís.',
  lastViewFiles:
    'Ní féidir an leathanach seo a lódáil arís. Scriosfar na comhaid nuair a rachaidh na cnaipí íoslódála in éag.',

  secretTitle: 'An rún',
  filesTitle: {
    one: 'Roinneadh {count} chomhad leat',
    two: 'Roinneadh {count} chomhad leat',
    few: 'Roinneadh {count} chomhad leat',
    many: 'Roinneadh {count} gcomhad leat',
    other: 'Roinneadh {count} comhad leat',
  },
  keepSafe: 'Coinnigh in áit shábháilte é sula bhfágann tú an leathanach seo.',
  closeWhenDone:
    'Dún an leathanach seo nuair a bheidh tú críochnaithe. Duine ar bith a fheiceann é, feiceann sé an rún.',
  saveFiles: 'Sábháil na comhaid sula bhfágann tú an leathanach seo.',
  text: 'Téacs',
  message: 'Teachtaireacht',
  link: 'Nasc',
  qrCode: 'Cód QR',
  qrText: 'Téacs an chóid QR',
  showText: 'Taispeáin an téacs',
  showMessage: 'Taispeáin an teachtaireacht',
  showLink: 'Taispeáin an nasc',
  showQrCode: 'Taispeáin an cód QR',
  hide: 'Folaigh',
  copy: 'Cóipeáil',
  copyText: 'Cóipeáil an téacs',
  copied: 'Cóipeáilte chuig an ngearrthaisce.',
  copyFailed:
    'Níor cheadaigh an brabhsálaí cóipeáil. Tá an téacs roghnaithe anois: cóipeáil é leis an méarchlár nó leis an roghchlár.',
  nullCharacters:
    'Tá carachtair nialais sa téacs, nach féidir a thaispeáint ar leathanach. Taispeántar agus cóipeáiltear iad mar {sign}. Chun an téacs cruinn a fháil, úsáid {command}.',
  leadsTo: 'Téann an nasc seo go dtí {host}',
  linkSignIn: 'Sonraí sínithe isteach atá sa chuid roimh an @. Ní insíonn sí cá dtéann an nasc.',
  linkUnencrypted:
    'Níl an ceangal leis an suíomh seo criptithe. D’fhéadfadh daoine eile an méid a sheoltar a léamh.',
  linkLetters:
    'Tá litreacha seachas a go z in ainm an tsuímh seo, agus tá cuma chosúil ar roinnt litreacha. Scríobhann ríomhairí ainm den sórt sin le {prefix} ag a thús.',
  openInNewTab: 'Oscail i gcluaisín nua',
  qrTooLong: 'Bhí an téacs seo ceaptha a bheith ina chód QR, ach tá sé rófhada dó.',
  download: 'Íoslódáil',
  downloadFile: 'Íoslódáil {name}',
  downloadAll: 'Íoslódáil gach ceann',
  downloadsUntil:
    'Oibreoidh na cnaipí íoslódála go dtí {time}. Leanfaidh íoslódáil atá tosaithe ar aghaidh ina dhiaidh sin.',
  downloadsLeft:
    'Oibreoidh na cnaipí íoslódála go ceann {time} eile. Leanfaidh íoslódáil atá tosaithe ar aghaidh ina dhiaidh sin.',
  downloadsExpired: 'Tá na cnaipí íoslódála imithe in éag.',
  downloadsExpiredReload:
    'Tá na cnaipí íoslódála imithe in éag. Athlódáil an leathanach seo chun cinn nua a fháil. Úsáidtear amharc amháin leis sin.',
  deleteSecret: 'Scrios an rún anois',
  deleteWarning: 'Ní oibreoidh an nasc d’aon duine a thuilleadh. Ní féidir é seo a chealú.',
  deleteForEveryone: 'Scrios do chách',
  deletedTitle: 'Tá an rún scriosta',
  deletedText: 'Ní oibríonn an nasc a thuilleadh, agus ní choinnítear aon chuid den rún.',
  closePage: 'Is féidir leat an leathanach seo a dhúnadh.',

  goneTitle: 'Níl an nasc seo ar fáil a thuilleadh',
  goneText:
    'Chuaigh sé in éag, scriosadh é nó ní raibh sé ann riamh. Ní deirimid cé acu, ionas nach féidir naisc a thomhas.',
  goneAdvice:
    'Iarr nasc nua ar an seoltóir. Más i dteachtaireacht a tháinig sé, cinntigh gur chóipeáil tú an nasc ar fad.',

  forbiddenTitle: 'Ní cheadaítear é seo',
  foreignForm:
    'Seoladh an fhoirm seo ó shuíomh eile. Oscail an nasc tú féin agus brúigh an cnaipe ansin.',
  usersOnly:
    'Ní féidir ach le húsáideoirí an fhreastalaí seo na rúin atá air a oscailt, tríd an API.',
  notDeletable: 'Ní féidir ach leis an seoltóir an rún seo a scriosadh.',
  tooLargeTitle: 'Rómhór',
  tooLargeText: 'Tá an méid a sheol tú níos mó ná mar a ghlacann an freastalaí seo leis.',
  tooManyTitle: 'An iomarca iarratas',
  tooManyText:
    'Sheol tú níos mó iarratas ná mar a ghlacann an freastalaí seo leo in aon am amháin.',
  busyTitle: 'Tá an tseirbhís gnóthach',
  busyText: 'Ní féidir léi an t-iarratas seo a fhreagairt faoi láthair.',
  fullTitle: 'Níl spás fágtha',
  fullText: 'Níl go leor spáis diosca ag an bhfreastalaí seo do rúin nua.',
  invalidTitle: 'Níor oibrigh sé sin',
  invalidText: 'Níl an t-iarratas bailí. Téigh siar agus bain triail eile as.',
  errorTitle: 'Chuaigh rud éigin amú',
  errorText:
    'Níorbh fhéidir leis an tseirbhís an t-iarratas seo a fhreagairt. Tá an chúis ina loga.',
  tryAgain: 'Triail arís',
  tryAgainIn: 'Bain triail eile as {when}.',

  frontTitle: 'Roinn rún le nasc a théann in éag',
  frontText:
    'Cuir isteach pasfhocal, eochair nó aon téacs eile. Gheobhaidh tú nasc a stopfaidh d’oibriú tar éis an líon amharc nó laethanta a roghnaíonn tú.',
  frontTextFiles:
    'Cuir isteach téacs nó roghnaigh comhaid. Gheobhaidh tú nasc a stopfaidh d’oibriú tar éis an líon amharc nó laethanta a roghnaíonn tú.',
  frontTextUsers:
    'Criptítear rúin ar an bhfreastalaí seo, agus scriostar iad tar éis líon áirithe amharc nó laethanta.',
  secretText: 'Téacs rúnda',
  files: 'Comhaid',
  filesLimit: {
    one: 'Suas le {count} chomhad, {size} ar a mhéad.',
    two: 'Suas le {count} chomhad, {size} an ceann ar a mhéad.',
    few: 'Suas le {count} chomhad, {size} an ceann ar a mhéad.',
    many: 'Suas le {count} gcomhad, {size} an ceann ar a mhéad.',
    other: 'Suas le {count} comhad, {size} an ceann ar a mhéad.',
  },
  views: 'Líon na n-amharc',
  days: 'Líon na laethanta',
  passphraseOptional: 'Pasfhrása (roghnach)',
  passphraseHint:
    'Teastaíonn sé ón bhfaighteoir chun an rún a oscailt. Ná seol in éineacht leis an nasc é.',
  createLink: 'Cruthaigh nasc',
  receivedTitle: 'An bhfuair tú nasc?',
  receivedText: 'Oscail é díreach mar a fuair tú é. Tosaíonn sé le {address}.',
  cliTitle: 'Ar líne na n-orduithe',
  cliText: 'Suiteáil an clár uair amháin. Iarrfaidh sé an rún ort agus taispeánfaidh sé an nasc.',
  cliTextUsers:
    'Suiteáil an clár uair amháin agus logáil isteach le do cheadchomhartha. Ansin iarrfaidh sé an rún ort agus taispeánfaidh sé an nasc.',

  problemText: 'Cuir isteach téacs.',
  problemTextOrFiles: 'Cuir isteach téacs nó roghnaigh comhaid.',
  problemTextTooLarge: 'Tá an téacs rómhór. Is é {size} an teorainn.',
  problemNumber: 'Cuir isteach slánuimhir ó {min} go {max}.',
  problemPassphrase: {
    one: 'Tá an pasfhrása rófhada. Is é {count} charachtar an teorainn.',
    two: 'Tá an pasfhrása rófhada. Is é {count} charachtar an teorainn.',
    few: 'Tá an pasfhrása rófhada. Is é {count} charachtar an teorainn.',
    many: 'Tá an pasfhrása rófhada. Is é {count} gcarachtar an teorainn.',
    other: 'Tá an pasfhrása rófhada. Is é {count} carachtar an teorainn.',
  },
  problemFiles: {
    one: 'Roghnaigh {count} chomhad ar a mhéad.',
    two: 'Roghnaigh {count} chomhad ar a mhéad.',
    few: 'Roghnaigh {count} chomhad ar a mhéad.',
    many: 'Roghnaigh {count} gcomhad ar a mhéad.',
    other: 'Roghnaigh {count} comhad ar a mhéad.',
  },
  problemFileTooLarge: 'Tá comhad rómhór. Is é {size} an teorainn.',
  problemValue: 'Níl an luach seo bailí.',
  problemFilesAgain: 'Roghnaigh na comhaid arís.',
  problemPassphraseAgain: 'Cuir isteach an pasfhrása arís.',

  createdTitle: 'Tá do nasc réidh',
  createdText:
    'Seol chuig an bhfaighteoir é. Is féidir le duine ar bith a bhfuil an nasc aige an rún a oscailt.',
  createdPassphrase:
    'Seol chuig an bhfaighteoir é. Tabhair an pasfhrása dó ar bhealach eile, ar an bhfón mar shampla.',
  createdHint:
    'Cóipeáil anois é: ní féidir an leathanach seo a lódáil arís. Úsáidtear amharc amháin nuair a osclaítear an nasc.',
  yourLink: 'Do nasc',
  qrOfLink: 'Cód QR an naisc',
  createAnother: 'Cruthaigh nasc eile',

  encryptInBrowser: 'Criptigh sa bhrabhsálaí, ionas nach féidir leis an bhfreastalaí seo é a léamh',
  encrypting: 'Á chriptiú…',
  enterKeyWords:
    'Tá an rún seo criptithe. Cuir isteach focail na heochrach a thug an seoltóir duit.',
  keyWords: 'Focail na heochrach',
  keyMissing:
    'Tá an nasc neamhiomlán: tá an chuid i ndiaidh # ar iarraidh. Iarr an nasc iomlán ar an seoltóir.',
  keyDamaged:
    'Tá damáiste déanta don nasc: tá an chuid i ndiaidh # mícheart. Iarr an nasc iomlán ar an seoltóir.',
  keyWrong: 'Ní osclaíonn an eochair sin é.',
  secretDamaged: 'Tá an rún criptithe damáistithe nó neamhiomlán.',
  decrypting: 'Á dhíchriptiú…',
  decrypt: 'Díchriptigh',
  decryptWithAge: 'Oscail é le age: {command}',
  decryptNoScript: 'Criptithe. Oscail é le brabhsálaí a bhfuil JavaScript ann, nó le: {command}',
  openTitle: 'Oscail rún criptithe',
  openText: 'Greamaigh rún criptithe agus a eochair. Ní fhágfaidh siad do bhrabhsálaí.',
  encryptedSecret: 'Rún criptithe',
  key: 'Eochair',
  requestTitle: 'Tá duine ag iarraidh rúin ort',
  requestFrom: 'Iarrtha ag {name}.',
  requestUnexpected:
    'Nach raibh tú ag súil leis seo? Deimhnigh, ar an bhfón mar shampla, gur ón duine atá i gceist agat a tháinig sé.',
  showRequest: 'Taispeáin an t-iarratas',
  question: 'Cad atá á iarraidh',
  yourAnswer: 'Do fhreagra',
  answerHint:
    'Ní féidir leat freagairt ach uair amháin. Is féidir leis an iarrthóir an freagra a léamh uair amháin; scriostar é ansin.',
  answerEncrypted:
    'Criptítear do fhreagra sa bhrabhsálaí seo. Is é an t-iarrthóir amháin atá in ann é a dhíchriptiú.',
  answerUnencrypted:
    'Gan JavaScript, seoltar an freagra gan chriptiú chuig an bhfreastalaí seo, agus d’fhéadfadh sé é a léamh.',
  answerServerKey:
    'Gan an chuid sin, criptítear do fhreagra le heochair an fhreastalaí féin, agus d’fhéadfadh an té a ritheann é an freagra a léamh.',
  answerReadable:
    'Ní chriptítear do fhreagra sa bhrabhsálaí seo. Is féidir leis an té a ritheann an freastalaí seo é a léamh.',
  sendAnswer: 'Seol an freagra',
  sending: 'Á sheoladh…',
  sendFailed: 'Níor seoladh an freagra. Seiceáil do nasc agus triail arís.',
  sentTitle: 'Seoladh do fhreagra',
  sentText: 'Is féidir leis an iarrthóir é a léamh anois.',
  answeredTitle: 'Freagraíodh an t-iarratas seo cheana',
  answeredText:
    'Ní ghlacann iarratas ach le freagra amháin. Murar leatsa an freagra, abair leis an iarrthóir é.',
};
