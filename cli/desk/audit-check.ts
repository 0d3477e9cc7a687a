/** Checking an audit trail from its first row to its last, a page at a time. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import {
  checkHead,
  checkRow,
  emptyHead,
  isHeadSignedBy,
  type AuditFault,
  type AuditHead,
  type SignedHead,
} from '../../pure/audit.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Audit } from '../../store/audit.js';
import type { DeskKeyRow } from '../../store/desk-keys.js';

const PAGE_ROWS = 1_000;

export interface AuditCheck {
  readonly head: AuditHead;
  readonly rows: number;
  readonly fault?: AuditFault;
}

/** Stops at the first row that is not as it must be. `signed`: heads that were published. */
export async function checkAudit(
  store: Pick<Audit, 'readAudit'>,
  tenant: string,
  signed: readonly AuditHead[],
): Promise<AuditCheck> {
  let head = emptyHead(tenant);
  let rows = 0;
  let after: number | undefined;
  const broken = (fault: AuditFault): AuditCheck => ({ head, rows, fault });
  for (;;) {
    const from = after !== undefined && { after };
    const page = await store.readAudit(tenant, { ...from, limit: PAGE_ROWS });
    for (const row of page) {
      const fault = checkRow(head, row);
      if (fault !== undefined) return broken(fault);
      head = { tenant, seq: row.seq, hash: row.hash };
      rows += 1;
      const passed = signed.find(({ seq }) => seq === row.seq);
      const other = passed && checkHead(passed, head);
      if (other !== undefined) return broken(other);
    }
    if (page.length < PAGE_ROWS) break;
    after = head.seq;
  }
  const beyond = signed.find(({ seq }) => seq > head.seq);
  const cutOff = beyond && checkHead(beyond, undefined);
  return cutOff === undefined ? { head, rows } : broken(cutOff);
}

const headFile = z.strictObject({
  v: z.literal(1),
  tenant: z.string(),
  seq: z.number().int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.number().int(),
  kid: z.string().max(64),
  signature: z.string().regex(/^[0-9a-f]{128}$/),
});

/**
 * A head that was kept in a file. A key that counts no more has signed heads when it did; what it has signed
 * afterwards is not taken. Errors: InvalidRequest, also for a signature that is not a desk's.
 */
export async function readSignedHead(
  file: string,
  tenant: string,
  keys: readonly DeskKeyRow[],
): Promise<SignedHead> {
  const head = await parsed(file);
  if (head.tenant !== tenant) throw notUsable(file, `it is of tenant ${head.tenant.slice(0, 100)}`);
  if (!isHeadSignedBy(keys, head)) throw notUsable(file, 'no key of the desk has signed it');
  const key = keys.find(({ kid }) => kid === head.kid);
  if (key?.state === 'revoked' && head.at > key.changedAt) {
    const [revoked, signed] = [key.changedAt, head.at].map((at) => new Date(at).toISOString());
    throw notUsable(file, `key ${key.kid} signed it on ${signed} and was revoked on ${revoked}`);
  }
  return head;
}

async function parsed(file: string): Promise<SignedHead> {
  try {
    return headFile.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    throw notUsable(file, 'it is no signed head');
  }
}

function notUsable(file: string, why: string): HoldfastError {
  return new HoldfastError('InvalidRequest', `${file} cannot be used: ${why}.`, {
    hint: 'Give a file that `holdfast audit head` has written.',
  });
}
