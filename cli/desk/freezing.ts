/** The freeze switch as a command reaches it: over the desk, or in local development in the store itself. */
import { randomBytes } from 'node:crypto';
import { ulid } from '../../client/runs/run-id.js';
import type { Freeze } from '../../pure/freeze.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Freezes } from '../../store/freezes.js';
import { actorOf, deskOf, type ActorOptions } from './actor.js';
import type { Cli } from '../command.js';
import type { DeskApi } from './desk-api.js';
import { TENANT } from './run-record.js';
import { neededStore, type Session } from '../session.js';

export interface WantedFreeze extends Pick<Freeze, 'scope' | 'reason'> {
  readonly forMs?: number;
}

export interface Freezing {
  list(): Promise<readonly Freeze[]>;
  /** Errors: InvalidRequest when too many are in force. */
  set(wanted: WantedFreeze): Promise<Freeze>;
  /** Undefined: it is not in force. */
  lift(id: string, reason?: string): Promise<Freeze | undefined>;
}

const LIST_LIMIT = 200;

export async function freezingBy(
  cli: Cli,
  session: Session,
  options: ActorOptions,
): Promise<Freezing> {
  const api = deskOf(cli, options);
  if (api !== undefined) return overDesk(api);
  const store = await neededStore(session);
  return inStore(store, async () => {
    const actor = await actorOf(cli, session, options);
    return actor.kind === 'named' ? actor.named.by : '';
  });
}

/** `by` is asked for only by what changes something. */
function inStore(store: Freezes, by: () => Promise<string>): Freezing {
  return {
    list: () => store.listFreezes(TENANT, LIST_LIMIT),
    async set({ scope, reason, forMs }) {
      const at = Date.now();
      const freeze: Freeze = {
        id: `frz_${ulid(at, randomBytes(16))}`,
        scope,
        by: await by(),
        reason,
        at,
        ...(forMs !== undefined && { until: at + forMs }),
      };
      if (await store.setFreeze(TENANT, freeze)) return freeze;
      throw new HoldfastError('InvalidRequest', 'Too many freezes are in force.', {
        hint: 'Lift some with `holdfast freeze --lift ID`, or freeze the whole tenant.',
      });
    },
    async lift(id, reason) {
      const lifted = {
        id,
        at: Date.now(),
        by: await by(),
        ...(reason !== undefined && { reason }),
      };
      if (!(await store.liftFreeze(TENANT, lifted))) return undefined;
      return (await store.listFreezes(TENANT)).find((one) => one.id === id);
    },
  };
}

function overDesk(api: DeskApi): Freezing {
  return {
    list: async () => {
      const { items } = await api.get('/v1/freezes?state=all');
      return items as readonly Freeze[];
    },
    set: async (wanted) => (await api.post('/v1/freezes', wanted)) as unknown as Freeze,
    async lift(id, reason) {
      const path = `/v1/freezes/${encodeURIComponent(id)}/lift`;
      try {
        return (await api.post(path, {
          ...(reason !== undefined && { reason }),
        })) as unknown as Freeze;
      } catch (error) {
        if (error instanceof HoldfastError && error.code === 'AskNotFound') return undefined;
        throw error;
      }
    },
  };
}
