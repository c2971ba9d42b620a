// qrcode-terminal has no types; only its encoder is used.
interface QRSegment {
  readonly mode: number;
  getLength(): number;
  write(buffer: { put(value: number, bits: number): void }): void;
}
declare module 'qrcode-terminal/vendor/QRCode/index.js' {
  export default class QRCode {
    constructor(typeNumber: number, errorCorrectLevel: number);
    modules: boolean[][];
    readonly dataList: QRSegment[];
    make(): void;
    getBestMaskPattern(): number;
  }
}
declare module 'qrcode-terminal/vendor/QRCode/QRRSBlock.js' {
  const blocks: {
    getRSBlocks(version: number, level: number): readonly { readonly dataCount: number }[];
  };
  export default blocks;
}
declare module 'qrcode-terminal/vendor/QRCode/QRUtil.js' {
  const util: { getLengthInBits(mode: number, version: number): number };
  export default util;
}
declare module 'qrcode-terminal/vendor/QRCode/QRErrorCorrectLevel.js' {
  const levels: { readonly L: number; readonly M: number; readonly Q: number; readonly H: number };
  export default levels;
}
