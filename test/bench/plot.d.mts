export function plot(results: string, peers: string): string;
export function draw(): void;
