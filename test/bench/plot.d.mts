export function plot(results: string, peers: string): string;
export function plotSizes(sizes: string): string;
