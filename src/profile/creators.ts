import { accountOf, clientFor } from './connect';
import type { Receipt } from './save-receipt';
import type { NamedItem, Session } from './session';

/** Adds to pushes what the receipts of this machine know of them. */
export interface Creators {
  /**
   * The same push with the token that its receipt has, if there is one: the push was created without a token, so that
   * those of the user are not for it.
   */
  asCreator<T extends NamedItem>(push: T): Promise<T & { readonly receipt?: Receipt }>;
  /**
   * The id of the account that a push belongs to: of its receipt, or else the one that the user chose.
   * @throws CliError (usage) if there is no such account
   */
  accountOfPush(push: NamedItem): Promise<number | undefined>;
}

export function creatorsOf(session: Session): Creators {
  const storedReceipt = async (push: NamedItem) => (await session.receipts()).find(push);
  return {
    asCreator: async (push) => {
      if (session.options.anonymous) return push;
      const receipt = await storedReceipt(push);
      if (receipt?.management_token === undefined) return push;
      const token = receipt.management_token;
      const managed = { ...push.target, token, tokenFrom: 'the receipt of the push' };
      return { ...push, receipt, target: managed, api: await clientFor(session, managed) };
    },
    accountOfPush: async (push) => {
      const account = (await storedReceipt(push))?.account_id;
      return typeof account === 'number' ? account : accountOf(push);
    },
  };
}
