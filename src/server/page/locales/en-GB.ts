export { strings } from './en';
