/**
 * The desk of one recorded run: the page of its steps, on this machine alone.
 * Invariants: the record lies in memory, and there is no store, no server and no route that changes anything; whoever
 * asks needs the token that is printed.
 */
import { join } from 'node:path';
import { parseConsole } from '../authoring/index.js';
import type { OpenRecord } from '../replay/open-record.js';
import { createApp } from './app.js';
import type { RunningConsole } from './console.js';
import { LOCAL_NAMES } from './desk-app.js';
import { endpoint, type Endpoint } from './http/endpoint.js';
import { close, listen } from './http/listen.js';
import { notFound } from './http/problem.js';
import * as shapes from './http/shapes.js';
import { localLogin } from './identity/local.js';
import { stepEndpointsOf } from './routes/steps.js';
import { readPage } from './static-page.js';

export interface BundleDeskOptions {
  readonly record: OpenRecord;
  /** What the page calls the record. */
  readonly file: string;
  readonly version: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Folder of the page's files; default: the one beside this file. */
  readonly pageFolder?: string;
  readonly say: (line: string) => void;
}

/** Errors: PortTaken. */
export async function startBundleDesk(options: BundleDeskOptions): Promise<RunningConsole> {
  const { version, port = 0, say } = options;
  const settings = parseConsole({ host: '127.0.0.1', port });
  const { token, authenticate } = localLogin(['reader']);
  const ending = new AbortController();
  const app = createApp({
    desk: {
      settings,
      clock: Date.now,
      say,
      // There is no trail: nobody but the holder of this machine's token is here.
      store: { appendAudit: async () => undefined },
      owed: { write: async () => undefined, stop: async () => undefined },
    },
    endpoints: endpointsOf(options),
    logins: [authenticate],
    version,
    signal: ending.signal,
    page: await readPage(options.pageFolder ?? join(__dirname, 'page')),
    hosts: new Set(LOCAL_NAMES),
  });
  const listening = await listen(app.fetch, settings);
  let stopping: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${listening.port}`,
    token,
    stop() {
      ending.abort();
      return (stopping ??= close(listening.server));
    },
  };
}

function endpointsOf({ record, file }: BundleDeskOptions): readonly Endpoint[] {
  const { runId } = record.fold.run;
  const me = endpoint({
    method: 'get',
    path: '/v1/me',
    name: 'me',
    summary: 'Who is logged in, and which record is shown.',
    access: 'answer',
    answers: { 200: { description: 'The person.', schema: shapes.person } },
    async handle({ person: { id, name, tenant, roles, via } }) {
      const recording = { runId, file };
      return { status: 200, body: { id, name, tenant, roles, via, may: ['read'], recording } };
    },
  });
  const steps = stepEndpointsOf({
    async open(_desk, _person, asked) {
      if (asked.runId !== runId) throw notFound();
      return record;
    },
    shown: async () => undefined,
  });
  return [me, ...steps];
}
