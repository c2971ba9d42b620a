type Figures = Partial<Record<'push' | 'get' | 'help' | 'version' | 'kib' | 'wait', number>>;

export const limits: Readonly<Required<Figures>>;
export function best(runs: readonly Figures[]): Figures;
export function failures(figures: Figures): string[];
