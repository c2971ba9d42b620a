/** The first element that matches. Its page always has one. */
export function find<T extends HTMLElement = HTMLElement>(within: ParentNode, selector: string): T {
  return within.querySelector(selector) as T;
}
