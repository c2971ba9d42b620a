/** The page must have a match. */
export function find<T extends HTMLElement = HTMLElement>(within: ParentNode, selector: string): T {
  return within.querySelector(selector) as T;
}

/** Shows a text in the problem box of an element; '' hides the box. */
export function report(within: ParentNode, text: string): void {
  const problem = find(within, '.problem');
  problem.hidden = text === '';
  find(problem, 'span').textContent = text;
}
