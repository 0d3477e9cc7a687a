/**
 * What the desk writes into the audit trail.
 * Invariant: unless the store is away, what somebody does is written before it is done; what somebody saw, before they are shown it, once
 * for each person, question and action that it asks about.
 */
import type { AuditEntry, AuditKind } from '../pure/audit.js';
import type { RunEvent } from '../core/state/event.js';
import type { Json } from '../core/json/json.js';
import type { Desk, Seen, Views } from './desk.js';
import type { Person } from './identity/person.js';

export interface Deed {
  readonly kind: AuditKind;
  readonly runId?: string;
  readonly askId?: string;
  readonly facts?: { readonly [name: string]: Json };
}

export async function note(desk: Desk, person: Person, deed: Deed): Promise<void> {
  await desk.store.appendAudit(person.tenant, [entryOf(desk, person, deed)]);
}

type Owing = Pick<Desk, 'clock' | 'owed'>;

/** The same of what is not held up by a store that is away. */
export async function noteOrOwe(desk: Owing, person: Person, deed: Deed): Promise<void> {
  await desk.owed.write(person.tenant, [entryOf(desk, person, deed)]);
}

function entryOf(
  { clock }: Pick<Desk, 'clock'>,
  { id: by, via }: Person,
  { facts = {}, ...deed }: Deed,
): AuditEntry {
  return { at: clock(), by, ...deed, facts: { via, ...facts } };
}

const REMEMBERED_MAX = 50_000;

export function views(): Views {
  const seen = new Set<string>();
  const writing = new Map<string, Promise<void>>();
  type Write = (tenant: string, entries: readonly AuditEntry[]) => Promise<void>;
  const noteBy = async (
    write: Write,
    { desk, person, asks }: { desk: Desk; person: Person; asks: readonly Seen[] },
  ): Promise<void> => {
    const names = asks.map((ask) => nameOf(person, ask));
    // Another request of the same person shows it: its row is this one's as well.
    const others = names.flatMap((name) => writing.get(name) ?? []);
    const fresh = asks.filter(
      (_, index) => !seen.has(names[index]!) && !writing.has(names[index]!),
    );
    await Promise.all([
      ...others,
      ...(fresh.length === 0 ? [] : [noteFresh(write, { desk, person, fresh })]),
    ]);
  };
  const noteFresh = async (
    write: Write,
    { desk, person, fresh }: { desk: Desk; person: Person; fresh: readonly Seen[] },
  ): Promise<void> => {
    const entries = fresh.map(({ askId, runId, argsHash, policyVersion }) =>
      entryOf(desk, person, { kind: 'seen', askId, runId, facts: { argsHash, policyVersion } }),
    );
    const names = fresh.map((ask) => nameOf(person, ask));
    const written = write(person.tenant, entries);
    for (const name of names) writing.set(name, written);
    try {
      await written;
    } finally {
      for (const name of names) writing.delete(name);
    }
    if (seen.size > REMEMBERED_MAX) seen.clear();
    for (const name of names) seen.add(name);
  };
  return {
    note: (desk, person, asks) =>
      noteBy((tenant, entries) => desk.store.appendAudit(tenant, entries), { desk, person, asks }),
    noteOrOwe: (desk, person, asks) =>
      noteBy((tenant, entries) => desk.owed.write(tenant, entries), { desk, person, asks }),
  };
}

function nameOf({ tenant, id }: Person, { askId, runId, argsHash }: Seen): string {
  return JSON.stringify([tenant, id, runId, askId, argsHash]);
}

/** The questions that an event shows. */
export function asksIn(event: RunEvent): readonly Seen[] {
  if (event.type !== 'approval_requested' && event.type !== 'input_request') return [];
  const { askId, argsHash, policyVersion, kind } = event;
  const { runId } = event.stamp;
  return kind === 'user_message' ? [] : [{ askId, argsHash, policyVersion, runId }];
}

/** Somebody asked for what is not theirs, or not there: nobody can tell which by the answer. */
export function noteDenied(
  desk: Owing,
  person: Person,
  facts: { readonly route: string; readonly status: number },
): Promise<void> {
  return noteOrOwe(desk, person, { kind: 'access_denied', facts });
}
