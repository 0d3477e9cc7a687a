/**
 * What code the open runs began with, so that somebody can be told which of it no worker has.
 * Invariant: nothing is decided by these rows; a run without one was opened by an older release, or has ended.
 */
import { checkIdentifiers, listLimit } from './bounds.js';
import { change, rowsOf, type Db } from './database.js';
import type { NeedTable } from './schema.js';
import { boundedCode, codeNames, type CodeNames, type QueueName } from './served.js';

interface RunPlace {
  readonly tenant: string;
  readonly runId: string;
}

export interface RunNeeds extends RunPlace {
  readonly code: CodeNames;
}

export interface Needs {
  /** Said again it replaces what was said before. */
  putNeeds(needs: RunNeeds & QueueName): Promise<void>;
  /** The run has ended. */
  dropNeeds(run: RunPlace): Promise<void>;
  needsOf(run: RunPlace): Promise<RunNeeds | undefined>;
  /** Of the runs of all tenants. */
  listNeeds(queue: QueueName & { readonly limit: number }): Promise<readonly RunNeeds[]>;
}

const PUT = `
  insert into needs (tenant, run_id, namespace, task_queue, code_json)
  values (@tenant, @runId, @namespace, @taskQueue, @code)
  on conflict (tenant, run_id) do update set
    namespace = excluded.namespace, task_queue = excluded.task_queue, code_json = excluded.code_json`;

const IS_RUN = `tenant = @tenant and run_id = @runId`;

const LIST = `
  select * from needs where namespace = @namespace and task_queue = @taskQueue
  order by tenant, run_id limit @limit`;

export function needs(db: Db): Needs {
  return {
    async putNeeds({ tenant, runId, namespace, taskQueue, code }) {
      checkIdentifiers({ tenant, runId, namespace, taskQueue });
      const json = JSON.stringify(boundedCode(code));
      await change(db, PUT, { tenant, runId, namespace, taskQueue, code: json });
    },
    async dropNeeds({ tenant, runId }) {
      checkIdentifiers({ tenant, runId });
      await change(db, `delete from needs where ${IS_RUN}`, { tenant, runId });
    },
    async needsOf({ tenant, runId }) {
      checkIdentifiers({ tenant, runId });
      const query = `select * from needs where ${IS_RUN}`;
      const [row] = await rowsOf<NeedTable>(db, query, { tenant, runId });
      return row === undefined ? undefined : needsIn(row);
    },
    async listNeeds({ namespace, taskQueue, limit }) {
      const queue = { namespace, taskQueue, limit: listLimit(limit) };
      return (await rowsOf<NeedTable>(db, LIST, queue)).map(needsIn);
    },
  };
}

function needsIn({ tenant, run_id: runId, code_json: json }: NeedTable): RunNeeds {
  return { tenant, runId, code: codeNames(json) };
}
