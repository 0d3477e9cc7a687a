/**
 * What the workers of a task queue serve: one row for each worker, renewed while the worker runs.
 * Invariants: who is alive is told by the clock of the database, so that the clocks of machines do not matter; a row
 * that says more than fits is `incomplete`, and its worker may serve anything; rows of workers that are gone stay for
 * a day, so that a queue whose workers write rows is told from one whose workers do not.
 */
import { checkIdentifiers, listLimit } from './bounds.js';
import { SCHEMA_VERSION } from './migrations.js';
import { change, dialectOf, rowsOf, type Db } from './database.js';
import type { ServedTable } from './schema.js';

/** A worker that has not renewed its row for this long is gone, ms. */
export const ALIVE_MS = 30_000;
/** Rows of workers that are gone are kept for this long, ms. */
const KEPT_MS = 86_400_000;
/** Most names that one row or one run's needs hold, and most characters of all of them. */
const NAMES_MAX = 5_000;
const NAME_CHARS_MAX = 200_000;

/** Names of code. Of tools `name@version#schemaHash`. */
export interface CodeNames {
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  readonly hooks: readonly string[];
  /** Of models: what `ModelRoute.provider` names. */
  readonly providers: readonly string[];
  /** There is more than fits. */
  readonly incomplete?: true;
}

export interface QueueName {
  readonly namespace: string;
  readonly taskQueue: string;
}

export interface ServingWorker {
  readonly worker: string;
  readonly code: CodeNames;
  /** It said so, or has not renewed its row for ALIVE_MS. */
  readonly isAlive: boolean;
  /** Since its last word, ms. */
  readonly silentMs: number;
}

/** A worker, where it works, and the newest schema that it knows; 0: of a release that does not say so. */
export interface OlderWorker {
  readonly worker: string;
  readonly taskQueue: string;
  readonly schema: number;
}

export interface Served {
  /** A worker serves this from now on; said again it replaces what was said before. */
  announceServed(
    worker: QueueName & {
      readonly worker: string;
      readonly code: CodeNames;
      /** The newest schema that it knows; default: that of this program. */
      readonly schema?: number;
    },
  ): Promise<void>;
  /** The worker is still there. False: its row is gone, and has to be written again. */
  renewServed(worker: string): Promise<boolean>;
  /** The worker ends. */
  endServed(worker: string): Promise<void>;
  /** Workers whose last word is at most `withinMs` ago, the newest word first. */
  listServed(
    queue: QueueName & { readonly withinMs: number; readonly limit: number },
  ): Promise<readonly ServingWorker[]>;
  /**
   * Workers of all queues of a namespace that may be there still, and know no schema as new as this one. Who ended without a word
   * is among them for OLDER_MS.
   */
  olderWorkers(than: {
    readonly namespace: string;
    readonly schema: number;
  }): Promise<readonly OlderWorker[]>;
}

/** A process that was stopped for a while may go on; after so long it is taken to be gone, ms. */
const OLDER_MS = 600_000;

export function served(db: Db): Served {
  const { now } = dialectOf(db);
  return {
    async announceServed({ worker, namespace, taskQueue, code, schema = SCHEMA_VERSION }) {
      checkIdentifiers({ worker, namespace, taskQueue });
      await change(db, `delete from served where alive_at < ${now} - ${KEPT_MS}`, {});
      await change(
        db,
        `insert into served (worker, namespace, task_queue, since, alive_at, code_json)
        values (@worker, @namespace, @taskQueue, ${now}, ${now}, @code)
        on conflict (worker) do update set
          alive_at = excluded.alive_at, ended_at = null, code_json = excluded.code_json`,
        {
          worker,
          namespace,
          taskQueue,
          code: JSON.stringify({ ...boundedCode(code), schema }),
        },
      );
    },
    async renewServed(worker) {
      checkIdentifiers({ worker });
      const statement = `update served set alive_at = ${now}, ended_at = null where worker = @worker`;
      return (await change(db, statement, { worker })) > 0;
    },
    async endServed(worker) {
      checkIdentifiers({ worker });
      await change(db, `update served set ended_at = ${now} where worker = @worker`, { worker });
    },
    async listServed({ namespace, taskQueue, withinMs, limit }) {
      const rows = await rowsOf<ServedTable & { readonly silent_ms: number }>(
        db,
        `select worker, ended_at, code_json, ${now} - coalesce(ended_at, alive_at) as silent_ms
        from served
        where namespace = @namespace and task_queue = @taskQueue
          and coalesce(ended_at, alive_at) >= ${now} - cast(@withinMs as bigint)
        order by coalesce(ended_at, alive_at) desc, worker limit @limit`,
        { namespace, taskQueue, withinMs, limit: listLimit(limit) },
      );
      return rows.map((row) => ({
        worker: row.worker,
        code: codeNames(row.code_json),
        isAlive: row.ended_at === null && Number(row.silent_ms) < ALIVE_MS,
        silentMs: Math.max(0, Number(row.silent_ms)),
      }));
    },
    olderWorkers: (than) => olderThan(db, than),
  };
}

async function olderThan(
  db: Db,
  { namespace, schema }: { readonly namespace: string; readonly schema: number },
): Promise<readonly OlderWorker[]> {
  const { now } = dialectOf(db);
  const rows = await rowsOf<ServedTable>(
    db,
    `select worker, task_queue, code_json from served
    where namespace = @namespace and ended_at is null
      and alive_at >= ${now} - cast(@withinMs as bigint)`,
    { namespace, withinMs: OLDER_MS },
  );
  return rows
    .map((row) => ({
      worker: row.worker,
      taskQueue: row.task_queue,
      schema: schemaIn(row.code_json),
    }))
    .filter((one) => one.schema < schema);
}

/** What fits; a worker that serves more is taken to serve anything. */
export function boundedCode(code: CodeNames): CodeNames {
  let names = NAMES_MAX;
  let chars = NAME_CHARS_MAX;
  const fitting = (all: readonly string[]): readonly string[] =>
    all.filter((name) => {
      names -= 1;
      chars -= name.length;
      return names >= 0 && chars >= 0;
    });
  const { agents, tools, hooks, providers } = code;
  const bounded = {
    agents: fitting(agents),
    tools: fitting(tools),
    hooks: fitting(hooks),
    providers: fitting(providers),
  };
  const isWhole = names >= 0 && chars >= 0 && code.incomplete !== true;
  return isWhole ? bounded : { ...bounded, incomplete: true };
}

/** A row that another release wrote may have less in it, or more. */
export function codeNames(json: string): CodeNames {
  const read = JSON.parse(json) as Partial<CodeNames>;
  const { agents = [], tools = [], hooks = [], providers = [], incomplete } = read;
  return { agents, tools, hooks, providers, ...(incomplete && { incomplete }) };
}

function schemaIn(json: string): number {
  const { schema } = JSON.parse(json) as { readonly schema?: unknown };
  return typeof schema === 'number' ? schema : 0;
}
