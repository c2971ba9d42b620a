import { OPENAPI_PATH, type Route, requestRoutes, routes } from '../../contract/api';
import { json } from './responses';

export const everyRoute: readonly Pick<Route, 'method' | 'path'>[] = [
  ...Object.values(routes),
  ...Object.values(requestRoutes),
  { method: 'GET', path: OPENAPI_PATH },
];

/** The response to a method that a path does not have (RFC 9110, 15.5.6). */
export function wrongMethod(path: string): Response {
  const methods = everyRoute.filter((route) => route.path === path).map(({ method }) => method);
  return json({ error: 'method-not-allowed' }, 405, { allow: methods.join(', ') });
}
