export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Whether `features` of a version, or a part of it, has that feature on: it is an object or a boolean. */
export function hasFeature(features: unknown, name: string): boolean {
  const feature = isObject(features) ? features[name] : undefined;
  return feature === true || (isObject(feature) && feature.enabled === true);
}
