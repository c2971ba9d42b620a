/*
 * Repairs a link that does not work: mail gateways write %23 for the # before the key of an encrypted secret, and
 * append parameters to links. The new address has the origin, as a path that begins with two slashes would name a host.
 */
const [whole, path, key] =
  /^(.*\/[pr]\/[\w-]+(?:\/r)?)(?:%(?:25)?23([\w-]{22}|(?:age|AGE)1[a-zA-Z0-9]{58}))?(?:[^\w/-].*)?$/.exec(
    location.pathname,
  ) ?? [];
if (whole && path !== whole)
  location.replace(`${location.origin}${path}${key ? `#${key}` : location.hash}`);
