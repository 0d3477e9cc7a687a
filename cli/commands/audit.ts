/** `holdfast audit`: the trail of who saw, who decided, and what was executed. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { objectionToKey, readDeskKey } from '../../client/index.js';
import type { AuditRow } from '../../pure/audit.js';
import { HoldfastError } from '../../core/state/errors.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import { checkAudit, readSignedHead } from '../desk/audit-check.js';
import {
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type DeskOptions,
  type TenantOptions,
} from '../desk/actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { signingKeyFile } from '../desk/desk.js';
import { EXIT } from '../exit-code.js';
import { queryText } from '../desk/paging.js';
import { inert, plural } from '../render/index.js';
import { neededStore, type Session } from '../session.js';
import { wholeNumber } from '../usage.js';

interface AuditOptions extends DeskOptions, TenantOptions {
  readonly head?: readonly string[];
  readonly limit?: number;
  readonly after?: number;
  readonly run?: string;
  readonly ask?: string;
}

const ROWS_DEFAULT = 50;

export function addAudit(program: Command, cli: Cli): void {
  const audit = program.command('audit').description('Who saw, who decided, what was executed.');
  addVerify(audit, cli);
  addHead(audit, cli);
  addRows(audit, cli);
}

function addVerify(audit: Command, cli: Cli): void {
  const command = withTenant(audit.command('verify'))
    .description(
      'Check that nothing in the trail was changed, removed, inserted, moved or cut off.',
    )
    .option('--head <file>', 'a head that was kept elsewhere; repeatable', collect);
  withJson(withPlace(command), '{rows, head, fault: {seq, what, message} | null}')
    .addHelpText('after', examples('holdfast audit verify --head head-2026-11.json'))
    .action((options: AuditOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { head: files = [] } = options;
        const tenant = tenantOf(options);
        const store = await neededStore(session);
        const keys = await store.listDeskKeys(ALL_TENANTS);
        const paths = files.map((file) => resolve(cli.environment.folder, file));
        const heads = await Promise.all(paths.map((file) => readSignedHead(file, tenant, keys)));
        const { rows, head, fault } = await checkAudit(store, tenant, heads);
        output.data({ rows, head, fault: fault ?? null });
        if (fault !== undefined) {
          output.line(`The trail is broken: ${inert(fault.message)}.`);
          return EXIT.error;
        }
        output.line(`${plural(rows, 'row')}, unbroken, up to ${head.hash}.`);
        if (heads.length === 0) {
          output.remark(
            'Only a head that was kept elsewhere shows that the whole trail was replaced: pass it with --head.',
          );
        }
        return EXIT.completed;
      }),
    );
}

function addHead(audit: Command, cli: Cli): void {
  const command = withDesk(withTenant(audit.command('head'))).description(
    'The newest hash of the trail, signed by the desk: keep it where nobody here can write.',
  );
  withJson(withPlace(command), 'the signed head; it is printed as JSON in any case')
    .addHelpText('after', examples('holdfast audit head > head-2026-11.json'))
    .action((options: AuditOptions) =>
      runCommand(cli, { ...options, json: true }, async (session, output) => {
        const api = readingDeskOf(cli, options);
        if (api !== undefined) return output.data(await api.get('/v1/audit/head'));
        const store = await neededStore(session);
        const file = signingKeyFile(cli.environment, session.place.home);
        const signer = await readDeskKey(file);
        const objection = await objectionToKey(store, ALL_TENANTS, signer.key);
        if (objection !== undefined) {
          const { message, hint } = objection;
          throw new HoldfastError('InvalidConfig', `The head is not signed: ${message}.`, { hint });
        }
        const head = await store.auditHead(tenantOf(options));
        output.data(signer.signHead(head, Date.now()));
      }),
    );
}

function addRows(audit: Command, cli: Cli): void {
  const command = withDesk(withTenant(audit.command('list')))
    .description('Rows of the trail, oldest first.')
    .option('--after <number>', 'rows after this one', (text) =>
      wholeNumber('--after', [0, Number.MAX_SAFE_INTEGER])(text),
    )
    .option('--run <id>', 'only about this run')
    .option('--ask <id>', 'only about this question')
    .option('--limit <count>', `at most this many (default ${ROWS_DEFAULT})`, (text) =>
      wholeNumber('--limit', [1, 1_000])(text),
    );
  withJson(withPlace(command), '{rows: [{seq, at, kind, by, runId, askId, facts, prev, hash}]}')
    .addHelpText('after', examples('holdfast audit list --limit 200'))
    .action((options: AuditOptions) =>
      runCommand(cli, options, async (session, output) => {
        const rows = await rowsOf(cli, session, options);
        output.data({ rows });
        for (const row of rows) output.line(lineOf(row));
      }),
    );
}

/** Of one answer of the desk. */
const DESK_ROWS_MAX = 200;

async function rowsOf(
  cli: Cli,
  session: Session,
  options: AuditOptions,
): Promise<readonly AuditRow[]> {
  const { after = 0, limit = ROWS_DEFAULT, run, ask } = options;
  const about = {
    ...(run !== undefined && { runId: run }),
    ...(ask !== undefined && { askId: ask }),
  };
  const api = readingDeskOf(cli, options);
  if (api === undefined) {
    return (await neededStore(session)).readAudit(tenantOf(options), { after, limit, ...about });
  }
  const rows: AuditRow[] = [];
  while (rows.length < limit) {
    const page = Math.min(limit - rows.length, DESK_ROWS_MAX);
    const query = queryText({ ...about, after: rows.at(-1)?.seq ?? after, limit: page });
    const found = (await api.get(`/v1/audit?${query}`)).rows as readonly AuditRow[];
    rows.push(...found);
    if (found.length < page) break;
  }
  return rows;
}

function lineOf({ seq, at, kind, by = '-', askId, runId, facts }: AuditRow): string {
  const about = askId ?? runId ?? '';
  const when = new Date(at).toISOString();
  return inert(`${seq}  ${when}  ${kind}  ${by}  ${about}  ${JSON.stringify(facts)}`);
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
