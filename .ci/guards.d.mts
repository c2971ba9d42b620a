type OfRuns = 'push' | 'get' | 'help' | 'version';
type OfRequests = 'lastView' | 'keyOfCreation' | 'keyOfView' | 'keyOfLastView';
type Figures = Partial<Record<OfRuns | OfRequests | 'kib' | 'wait', number>>;

export const limits: Readonly<Required<Figures>>;
export function best(runs: readonly Figures[]): Figures;
export function failures(figures: Figures): string[];
