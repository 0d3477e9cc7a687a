/** Whether a desk's key counts now, by what the store says of it. */
import type { DeskKey } from '../../core/state/statement.js';
import type { DeskKeys } from '../../store/desk-keys.js';

export interface KeyObjection {
  readonly reason: 'key_revoked' | 'key_untrusted';
  /** A sentence without its full stop. */
  readonly message: string;
  readonly hint: string;
}

/** Why nothing that this key signs counts for the tenant; undefined: it counts. */
export async function objectionToKey(
  store: Pick<DeskKeys, 'deskKeys' | 'listDeskKeys'>,
  tenant: string,
  { kid }: DeskKey,
): Promise<KeyObjection | undefined> {
  const counting = await store.deskKeys(tenant);
  if (counting.some((key) => key.kid === kid)) return undefined;
  const known = (await store.listDeskKeys(tenant)).find((key) => key.kid === kid);
  if (known?.state === 'revoked') {
    return {
      reason: 'key_revoked',
      message: `the desk's key ${kid} was revoked`,
      hint: 'Make another with `holdfast keys rotate`, or with `keys create` where only `holdfast dev` has one; then restart the console.',
    };
  }
  return {
    reason: 'key_untrusted',
    message: `runs do not trust the desk's key ${kid}`,
    hint:
      known === undefined
        ? 'Trust it with `holdfast keys trust`.'
        : 'Too many newer keys count: revoke some of them with `holdfast keys revoke`.',
  };
}
