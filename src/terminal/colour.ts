import { Chalk } from 'chalk';
import type { Paint } from './style';

// Whether to colour is decided before this is loaded; 16 colours follow the terminal's own theme.
const chalk = new Chalk({ level: 1 });

export const chalkPaint: Paint = (style, text) => chalk[style](text);
