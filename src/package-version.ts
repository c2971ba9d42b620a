declare const __VERSION__: string | undefined;
declare const __LATEST_URL__: string | undefined;

/** The version of package.json, set by the build; tests run from source. */
export const version = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source';

/** Where the newest release is announced, set by the build of a release; empty in others. */
export const latestUrl = typeof __LATEST_URL__ === 'string' ? __LATEST_URL__ : '';
