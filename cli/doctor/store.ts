/**
 * The store: where it is, its schema, whether it can be written; and what it knows of webhooks that failed, of
 * segments that are not archived and of the desk's key.
 */
import { existsSync } from 'node:fs';
import type { Archival } from '../../store/archivals.js';
import type { ConnectorTokenRow } from '../../store/connector-tokens.js';
import { ALL_TENANTS, type DeskKeys } from '../../store/desk-keys.js';
import type { RunRow } from '../../store/runs.js';
import { storeExists } from '../../store/place.js';
import type { Environment } from '../../worker/config.js';
import {
  noticedLately,
  PROMOTED,
  PROMOTED_MEND,
  type NoticedLately,
} from '../../store/restored.js';
import { restoredText } from '../desk/restored.js';
import { archivalLine, dateTimeText } from '../render/index.js';
import { guarded, warning, type Check } from './check.js';
import { roomAt, syncsAt } from './disk.js';
import { writableCheck } from './writes.js';

const ARCHIVALS_LOOKED_AT = 1_000;
const ALARMS_SINCE_MS = 24 * 3_600_000;
const ALARMS_LOOKED_AT = 1_000;
const ALARMS_SHOWN = 5;
const LOGINS_SHOWN = 20;
/** How many of each kind are told one by one. */
const ARCHIVALS_SHOWN = 5;

/** `keyFile`: the key of the desk that would be started here, if there is one. */
export async function checkStore(
  { storePlace, storeSync }: Environment,
  keyFile: string,
): Promise<readonly Check[]> {
  if (!storeExists(storePlace)) {
    return [
      warning(
        'store',
        `there is none at ${storePlace}`,
        'The first worker makes it; set HOLDFAST_STORE when your workers use another one.',
      ),
    ];
  }
  const { openStoreAt } = await import('../../store/store.js');
  const store = await openStoreAt(storePlace, storeSync);
  try {
    const { place, schemaVersion } = await store.health();
    const { id, epoch } = await store.identity(Date.now());
    const shared = storeSync === 'shared' ? ', syncs shared' : '';
    return [
      await writableCheck(
        store,
        `${place}, schema ${schemaVersion}, id ${id}, epoch ${epoch}${shared}`,
      ),
      ...(await guarded({
        name: 'restored',
        look: async () => restored(await noticedLately(store)),
      })),
      ...(await roomAt(storePlace)),
      ...(await syncsAt(storePlace, storeSync)),
      ...(await guarded({
        name: 'notifications',
        look: async () => notTold(await store.countGivenUpNotices()),
      })),
      ...(await guarded({
        name: 'archive',
        look: async () =>
          notArchived(await store.listArchivals({ limit: ARCHIVALS_LOOKED_AT }), Date.now()),
      })),
      ...(await guarded({
        name: 'growing runs',
        look: async () => {
          const since = Date.now() - ALARMS_SINCE_MS;
          return growing(await store.listAlarms({ since, limit: ALARMS_LOOKED_AT }));
        },
      })),
      ...(await guarded({
        name: 'connectors',
        look: async () => loginsWanted(await store.listWantedLogins(LOGINS_SHOWN)),
      })),
      ...(await guarded({ name: 'desk key', look: () => keyOfDesk(store, keyFile) })),
    ];
  } finally {
    await store.close();
  }
}

export function restored({ restoredAt, promotedAt }: NoticedLately): readonly Check[] {
  const mend =
    'Look at runs of that time with `holdfast show RUN`; docs/operate/postgres.md in the package holdfast says how to go on.';
  return [
    ...(restoredAt === undefined ? [] : [warning('restored', restoredText(restoredAt), mend)]),
    ...(promotedAt === undefined
      ? []
      : [warning('promoted', `${PROMOTED} (noticed ${dateTimeText(promotedAt)})`, PROMOTED_MEND)]),
  ];
}

async function loginsWanted(rows: readonly ConnectorTokenRow[]): Promise<readonly Check[]> {
  if (rows.length === 0) return [];
  const { loginReason } = await import('../../connectors/logins.js');
  return rows.map((row) => {
    const { connector, tenant } = row;
    const of = tenant === 'default' ? '' : ` --tenant ${tenant}`;
    return warning(
      'connectors',
      `${connector}${of === '' ? '' : ` of the tenant ${tenant}`} needs a login: ${loginReason(row) ?? ''}`,
      `Log in with \`holdfast mcp login ${connector}${of}\`, or at the desk.`,
    );
  });
}

async function keyOfDesk(store: DeskKeys, file: string): Promise<readonly Check[]> {
  if (!existsSync(file)) return [];
  const { objectionToKey, readDeskKey } = await import('../../client/index.js');
  const { key } = await readDeskKey(file);
  const objection = await objectionToKey(store, ALL_TENANTS, key);
  if (objection === undefined) return [];
  return [warning('desk key', objection.message, objection.hint)];
}

function growing(runs: readonly RunRow[]): readonly Check[] {
  const under = runs.filter(({ result }) => result === undefined);
  const ended = runs.length - under.length;
  const shown = under
    .slice(0, ALARMS_SHOWN)
    .map(({ runId, alarm = '' }) =>
      warning(
        'growing runs',
        `${runId}: ${alarm}`,
        `Look with \`holdfast show ${runId}\`; \`holdfast interrupt ${runId}\` stops the run.`,
      ),
    );
  const others = ended + under.length - shown.length;
  if (others === 0) return shown;
  const found = `${others} ${shown.length > 0 ? 'more ' : ''}whose turns kept doubling in cost or tokens, ${ended} of them ended, in the last 24 hours`;
  return [
    ...shown,
    warning('growing runs', found, 'See `holdfast list` and the budgets of their agents.'),
  ];
}

function notTold(count: number): readonly Check[] {
  if (count === 0) return [];
  return [
    warning(
      'notifications',
      `${count} were given up; their questions are still open`,
      'Mend the webhook that the console names in its log; `holdfast approvals` lists what waits.',
    ),
  ];
}

const MEND_ARCHIVAL: { readonly [state in Archival['state']]: string } = {
  waiting:
    'Keep a worker running and mend what fails: it is tried again, until the retention of the namespace deletes the history. `holdfast export RUN` keeps a run meanwhile.',
  history_lost:
    'The run can be shown, but neither exported nor replayed. Raise the retention of the namespace, and let a worker run within it.',
};

/** The oldest of each kind one by one, and how many more there are. */
function notArchived(archivals: readonly Archival[], now: number): readonly Check[] {
  return (['waiting', 'history_lost'] as const).flatMap((state) => {
    const lines = archivals
      .filter((archival) => archival.state === state)
      .flatMap((archival) => archivalLine(archival, now) ?? []);
    const more = lines.length - ARCHIVALS_SHOWN;
    const shown = lines.slice(0, ARCHIVALS_SHOWN);
    if (more > 0)
      shown.push(`${more} more${archivals.length === ARCHIVALS_LOOKED_AT ? ', or many' : ''}`);
    return shown.map((line) => warning('archive', line, MEND_ARCHIVAL[state]));
  });
}
