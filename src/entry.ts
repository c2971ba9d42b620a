/** What the launcher needs, in one chunk. */
export { run } from './main';
export { crash, leave, systemContext } from './platform/process';
