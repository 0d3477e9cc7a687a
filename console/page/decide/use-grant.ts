/** The standing grant that somebody is about to give. */
import { useMemo, useState } from 'preact/hooks';
import { decimalOf, plainText } from '../../../pure/decimal.js';
import { amountText } from '../../../pure/headline.js';
import type { Ask, GrantCondition, Grounds, Json, Schema } from '../data/api-types.js';
import { grantRows, readRow, type Row, type RowDraft, type RowDrafts } from './grant-rows.js';
import { listsAllArguments } from './listed-arguments.js';

export interface Grant {
  readonly matcher: { readonly tool: string; readonly when: readonly GrantCondition[] };
  readonly uses: number;
  readonly expiresInMs: number;
}

export type GrantRead =
  | { readonly ok: true; readonly grant: Grant }
  | { readonly ok: false; readonly fault: string; readonly fieldId?: string };

/** What the run can compare (core/messages/parse-grant.ts). */
const CONDITIONS_MAX = 20;
const USES_MAX = 1_000;
export const USES_ID = 'grant-uses';
export const HOUR_MS = 3_600_000;

export interface GrantDraft {
  readonly uses: string;
  readonly expiresInMs: number;
  readonly rows: RowDrafts;
}

export interface Granting {
  readonly rows: readonly Row[];
  readonly draft: GrantDraft;
  readonly read: GrantRead;
  /** What no condition can bind, in words. */
  readonly alarm: string | undefined;
  /** What the tool of the call says of its card. */
  readonly card: Ask['card'];
  readonly write: (said: Partial<GrantDraft>) => void;
  readonly writeRow: (row: Row, said: RowDraft) => void;
}

export function useGrant(ask: Ask, { tool }: Grounds): Granting {
  const schema = tool?.inputSchema as Schema | undefined;
  const rows = useMemo(() => grantRows(ask.args as Json | undefined, schema), []);
  const [draft, setDraft] = useState<GrantDraft>({ uses: '1', expiresInMs: HOUR_MS, rows: {} });
  return {
    rows,
    draft,
    read: readGrant(ask.tool ?? '', rows, draft),
    alarm: alarmOf(schema),
    card: ask.card,
    write: (said) => setDraft({ ...draft, ...said }),
    writeRow: (row, said) =>
      setDraft({
        ...draft,
        rows: { ...draft.rows, [row.id]: { ...draft.rows[row.id], ...said } },
      }),
  };
}

function readGrant(tool: string, rows: readonly Row[], draft: GrantDraft): GrantRead {
  const uses = Number(draft.uses.trim());
  if (!Number.isSafeInteger(uses) || uses < 1 || uses > USES_MAX) {
    const fault = 'How many more calls? A whole number from 1 to 1,000.';
    return { ok: false, fault, fieldId: USES_ID };
  }
  const when: GrantCondition[] = [];
  for (const row of rows) {
    const said = readRow(row, draft.rows[row.id]);
    if (!said.ok) return said;
    if (said.condition !== undefined) when.push(said.condition);
  }
  if (when.length === 0) {
    const fault = 'At least one argument must be bounded: consent to anything is none.';
    return { ok: false, fault };
  }
  if (when.length > CONDITIONS_MAX) {
    return { ok: false, fault: `At most ${CONDITIONS_MAX} arguments can be compared.` };
  }
  return { ok: true, grant: { matcher: { tool, when }, uses, expiresInMs: draft.expiresInMs } };
}

/** Arguments that this desk cannot list are bound by no row. */
function alarmOf(schema: Schema | undefined): string | undefined {
  if (listsAllArguments(schema)) return undefined;
  const why =
    schema === undefined
      ? 'this desk does not know the tool.'
      : 'the tool may take others than those that this desk can list.';
  return `Arguments that are not here now may be added: ${why}`;
}

/** What so many calls can take together, where the conditions bound the amount and its currency. */
export function ceilingOf(
  card: Ask['card'],
  when: readonly GrantCondition[],
  uses: number,
): string | undefined {
  const amount = card?.amount;
  const bound = when.find(({ path }) => path === amount?.path);
  const each = decimalOf((bound?.equals ?? bound?.lte) as Json | undefined);
  if (amount === undefined || each === undefined) return undefined;
  const most = plainText({ units: each.units * BigInt(uses), scale: each.scale });
  const currency = when.find(({ path }) => path === amount.currency)?.equals as Json | undefined;
  return amountText(amount, { [amount.currency]: currency ?? null }, most);
}
