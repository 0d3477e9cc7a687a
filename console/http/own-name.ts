/** Names of what somebody sends: the person's own, and nobody else's. */
import { createHash } from 'node:crypto';
import type { Person } from '../identity/person.js';

/** Of the key of a request; the same for the same person and key. */
export function ownName({ tenant, id }: Pick<Person, 'tenant' | 'id'>, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, id, key]))
    .digest('hex');
}
