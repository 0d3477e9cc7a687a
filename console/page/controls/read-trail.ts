/** Reading the audit trail, and checking it from its first row to its last in this browser. */
import { checkHead, checkRow, emptyHead, type AuditFault } from '../../../pure/audit.js';
import { get, isRefusal } from '../data/api.js';
import type { AuditRow } from '../data/api-types.js';

export interface Head {
  readonly tenant: string;
  readonly seq: number;
  readonly hash: string;
}

/** As one answer holds them. */
const PAGE_ROWS = 200;
/** More than this is for `holdfast audit verify`. */
export const ROWS_MAX = 200_000;
const BUSY_MS = 2_000;

export async function readRows(
  { after, limit }: { readonly after: number; readonly limit: number },
  signal?: AbortSignal,
): Promise<readonly AuditRow[]> {
  if (limit <= 0) return [];
  const query = `after=${after}&limit=${Math.min(PAGE_ROWS, limit)}`;
  const { rows } = await get<{ readonly rows: readonly AuditRow[] }>(`/v1/audit?${query}`, signal);
  return rows;
}

export interface Checked {
  readonly head: Head;
  readonly rows: number;
  readonly fault?: AuditFault;
  /** There are more rows than are looked at here. */
  readonly isCut?: true;
}

export interface Checking {
  readonly tenant: string;
  /** A head that was kept elsewhere: the trail has to pass through it. */
  readonly kept?: Head;
  readonly signal: AbortSignal;
  readonly progress: (rows: number) => void;
}

/** Stops at the first row that is not as it must be. */
export async function checkTrail(checking: Checking): Promise<Checked> {
  const { tenant, kept, signal, progress } = checking;
  let head: Head = emptyHead(tenant);
  for (let rows = 0; ; progress(rows)) {
    const page = await patiently(() => readRows({ after: head.seq, limit: PAGE_ROWS }, signal));
    for (const row of page) {
      const fault = checkRow(head, row as Parameters<typeof checkRow>[1]) ?? otherHead(kept, row);
      if (fault !== undefined) return { head, rows, fault };
      head = { tenant, seq: row.seq, hash: row.hash };
      rows += 1;
    }
    if (page.length < PAGE_ROWS) break;
    if (rows >= ROWS_MAX) return { head, rows, isCut: true };
  }
  const beyond = kept !== undefined && kept.seq > head.seq ? checkHead(kept, undefined) : undefined;
  return { head, rows: head.seq, ...(beyond !== undefined && { fault: beyond }) };
}

function otherHead(kept: Head | undefined, row: AuditRow): AuditFault | undefined {
  return kept?.seq === row.seq ? checkHead(kept, row) : undefined;
}

/** A desk that is asked too often says so: it is asked again later. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isRefusal(error) || error.status !== 429) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
    }
  }
}

/** The head in a text that was kept; undefined: it is none. */
export function headIn(text: string, tenant: string): Head | undefined {
  try {
    const { seq, hash, tenant: whose } = JSON.parse(text) as Partial<Head>;
    const isHead =
      Number.isSafeInteger(seq) && typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash);
    return isHead && whose === tenant ? { tenant, seq: seq ?? 0, hash } : undefined;
  } catch {
    return undefined;
  }
}
