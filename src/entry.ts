/** What the launcher needs of it all, in one file. */
export { run } from './main';
export { crash, leave, systemContext } from './system/process';
