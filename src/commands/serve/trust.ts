import { choice, filledText, flag, list, operand, parsed } from '../../cli/declare';
import { trustList } from '../../cli/terminal/listings';
import type { Entry } from '../../cli/terminal/output';
import { table } from '../../cli/terminal/table';
import { count } from '../../cli/terminal/wording';
import { seconds } from '../../cli/values';
import { scopes } from '../../contract/api';
import { usageError } from '../../platform/errors';
import addHelp from '../help/serve-trust-add.txt?raw';
import { type CommandObject, command } from '../planned';
import { withData } from './open-pushes';
import { type DataOptions, dataRows, planWithData } from './serve-options';

const rows = dataRows();

const addRows = {
  name: operand('<name>', 'of the trust'),
  issuer: filledText('--issuer <url>', 'who signs the identity tokens'),
  audience: filledText('--audience <text>', 'whom they are for (default: this service)'),
  claim: list('--claim <name=value>', 'what they must say; repeat it: all must match'),
  user: filledText('--user <name>', 'new or existing user, whose tokens are given'),
  scope: choice('--scope <scope>', 'what these may do: push (default) or all', scopes),
  lifetime: parsed('--lifetime <time>', 'how long they work, 1m to 1h (default: 10m)', seconds),
  privateIssuer: flag('--private-issuer', 'the issuer may be in a private network'),
  ...rows,
};

const nameRows = { name: operand('<name>', 'of the trust'), ...rows };

export const trust: CommandObject = {
  summary: 'say which identity tokens of CI jobs get API tokens',
  description: 'Say which identity tokens (OpenID Connect) of CI jobs get API tokens.',
  rows: {},
  commands: {
    add: command({
      summary: 'give tokens to jobs of which an issuer says who they are',
      help: addHelp,
      rows: addRows,
      plan: planWithData,
      run: addTrust,
    }),
    list: command({
      summary: 'list the trusts; of several that match, the first counts',
      rows,
      plan: planWithData,
      run: listTrusts,
    }),
    remove: command({
      summary: 'remove a trust, and revoke the tokens that it gave',
      rows: nameRows,
      plan: planWithData,
      run: removeTrust,
    }),
  },
};

async function addTrust(entry: Entry, plan: DataOptions<typeof addRows>): Promise<void> {
  const { issuer, claim: claims, user, scope = 'push', lifetime = 600 } = plan;
  if (issuer === undefined || claims === undefined || user === undefined)
    throw usageError('--issuer, --claim and --user are all required');
  const { name, audience, privateIssuer: private_issuer } = plan;
  const trust = { name, issuer, audience, claims, user, scope, lifetime, private_issuer };
  const older = await withData(entry, plan, ({ trusts }) => trusts.add(trust));
  await entry.say.print({ name, older }, () => `${name}\n`);
  if (older !== null) await entry.say.note(`${older} gives a token to all of these first`);
}

async function listTrusts(entry: Entry, plan: DataOptions<typeof rows>): Promise<void> {
  const trusts = await withData(entry, plan, (data) => data.trusts.list());
  await entry.say.print(trusts, (look) => table(trusts, trustList, look));
}

async function removeTrust(entry: Entry, plan: DataOptions<typeof nameRows>): Promise<void> {
  const { name } = plan;
  const revoked = await withData(entry, plan, ({ trusts }) => trusts.remove(name));
  if (revoked === undefined)
    throw usageError(`no trust "${name}"`, 'take a name from pwpush serve trust list');
  await entry.say.print({ name, revoked }, () => `${name}: ${count(revoked, 'token')} revoked\n`);
}
