import { repairedPath } from '../../../contract/link-marks';

/*
 * Repairs a link that does not work: mail gateways write %23 for the # before the key of an encrypted secret, and
 * append parameters to links. The new address has the origin, as a path that begins with two slashes would name a host.
 */
const [path, key] = repairedPath(location.pathname) ?? [];
if (path) location.replace(`${location.origin}${path}${key ? `#${key}` : location.hash}`);
