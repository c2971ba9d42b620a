declare const __VERSION__: string | undefined;

/** The version of package.json, set by the build; tests run from source. */
export const version = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source';
