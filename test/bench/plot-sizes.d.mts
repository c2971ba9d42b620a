export function plotSizes(sizes: string): string;
