/** The server, its namespace, its workers, and runs that do not get on. */
import type { HoldfastClient, NamespaceFacts, StuckRun } from '../../client/index.js';
import { RIGHT_STORE, TRANSCRIPT } from '../../client/read/waits.js';
import { runningServer } from '../../devserver/index.js';
import { assertPortFree } from '../../devserver/ports.js';
import { DEFAULT_PORT, DEFAULT_UI_PORT } from '../embedded-server.js';
import { durationText, inert, mendWait, plural } from '../render/index.js';
import type { Session } from '../session.js';
import { askedLately } from './asked-lately.js';
import { broken, guarded, ok, warning, type Check } from './check.js';

const DAY_MS = 86_400_000;
/** Below this closed runs vanish from Temporal before anybody looks at them. */
const RETENTION_MIN_MS = 7 * DAY_MS;
const STUCK_LOOKED_AT = 500;
const STUCK_NAMED = 20;

export async function checkServer(
  session: Pick<Session, 'clientWithoutStore' | 'place'>,
  addressGiven: boolean,
): Promise<readonly Check[]> {
  const checks = await guarded({
    name: 'server',
    needing: ['namespace', 'search attributes', 'workers', 'stuck runs'],
    look: async () => {
      // A store that cannot be used says nothing of the server.
      const client = await session.clientWithoutStore();
      const facts = await client.namespaceFacts();
      return [
        ok('server', `${client.address}, Temporal ${facts.serverVersion}`),
        ...namespaceChecks(client, facts),
        ...(await guarded({ name: 'workers', look: () => workerChecks(client) })),
        ...(await guarded({ name: 'stuck runs', look: () => stuckChecks(client) })),
      ];
    },
  });
  if (addressGiven || checks.some(({ status }) => status === 'ok')) return checks;
  return [...checks, ...(await portChecks(session))];
}

function namespaceChecks(client: HoldfastClient, facts: NamespaceFacts): readonly Check[] {
  const { namespace } = client;
  const kept = durationText(facts.retentionMs);
  const retention =
    facts.retentionMs >= RETENTION_MIN_MS
      ? ok('namespace', `${namespace}, keeps closed runs for ${kept}`)
      : warning(
          'namespace',
          `${namespace} keeps closed runs for ${kept} only`,
          `temporal operator namespace update --address ${client.address} -n ${namespace} --retention 720h`,
        );
  const missing = facts.missingAttributes;
  const attributes =
    missing.length === 0
      ? ok('search attributes', 'registered')
      : broken(
          'search attributes',
          `${missing.join(', ')} not registered`,
          `temporal operator search-attribute create --address ${client.address} -n ${namespace} ${missing.map((name) => `--name ${name} --type Keyword`).join(' ')}`,
        );
  return [retention, attributes];
}

async function workerChecks(client: HoldfastClient): Promise<readonly Check[]> {
  const workers = await client.pollers();
  if (workers.length > 0) {
    const asked = askedLately(workers, Date.now());
    return [ok('workers', `task queue ${client.taskQueue}: ${asked}`)];
  }
  return [
    warning(
      'workers',
      `none on task queue ${client.taskQueue}`,
      'Runs wait until one is started: holdfast worker (or holdfast dev).',
    ),
  ];
}

async function stuckChecks(client: HoldfastClient): Promise<readonly Check[]> {
  return stuckFound(await client.stuckRuns({ limit: STUCK_LOOKED_AT, allTenants: true }));
}

/** One finding for each, up to a bound; what is more is counted. */
export function stuckFound(stuck: readonly StuckRun[]): readonly Check[] {
  if (stuck.length === 0) return [ok('stuck runs', 'none')];
  const named = stuck
    .slice(0, STUCK_NAMED)
    .map((run) => broken('stuck run', foundStuck(run), mendStuck(run)));
  const more = stuck.length - named.length;
  return more === 0
    ? named
    : [...named, broken('stuck runs', `${more} more`, 'See them all: holdfast list --stuck')];
}

function foundStuck(run: StuckRun): string {
  const { runId, kind, activity = '', attempt, since, reason, lost, waitsFor = '' } = run;
  const of = run.summary === undefined ? '' : ` (${inert(run.summary)})`;
  const when = since === undefined ? '' : `, for ${durationText(Date.now() - since)}`;
  const why = inert(reason, 400);
  if (kind === 'waiting') {
    const what = activity === '' ? '' : ` (${inert(activity)}, tried ${plural(attempt, 'time')})`;
    // Without a message of what it waits for the reason says the same once more.
    const more = reason === `it waits for ${waitsFor}` ? '' : `: ${why}`;
    return `${inert(runId)}: it waits for ${inert(waitsFor)}${what}${when}${more}`;
  }
  if (lost)
    return `${inert(runId)}: its workflow task was lost (attempt ${attempt}${when}): ${why}`;
  const what =
    kind === 'workflow_task' ? 'its workflow task' : `its activity ${inert(activity)}${of}`;
  return `${inert(runId)}: ${what} fails (attempt ${attempt}${when}): ${why}`;
}

/** Where a store was restored from an older copy, it may never come. */
const MAY_BE_GONE: readonly string[] = [RIGHT_STORE, TRANSCRIPT];

/** Of a run whose first task has opened it (rules 23), a worker of a release before says no more than that it is not deterministic. */
function mendStuck({ kind, reason, lost, waitsFor = '', activity }: StuckRun): string {
  if (kind === 'waiting')
    return `${mendWait(waitsFor, activity)}${MAY_BE_GONE.includes(waitsFor) ? '' : ' The run goes on by itself and loses nothing.'}`;
  if (lost)
    return 'Temporal hands the task to a worker again by itself, and nothing is lost. Start a worker if none is left; if it is lost again and again, look at the logs of the workers.';
  if (/RulesTooNew|^NotServed: |Nondeterminism/.test(reason))
    return 'Deploy a worker at least as new as the one that began the run.';
  return kind === 'workflow_task'
    ? 'Mend the fault named here and restart the workers; the run goes on by itself and loses nothing.'
    : 'Temporal retries the activity by itself. Mend the fault that the message names, or stop the run with holdfast interrupt.';
}

/** Whether the embedded server could be started on its usual ports. */
async function portChecks({ place }: Pick<Session, 'place'>): Promise<readonly Check[]> {
  if ((await runningServer(place.home)) !== undefined) return [];
  const ports = [
    [DEFAULT_PORT, 'the server', '--port'],
    [DEFAULT_UI_PORT, "Temporal's web page", '--ui-port'],
  ] as const;
  const checks = await Promise.all(
    ports.map(([port, purpose, option]) =>
      guarded({
        name: 'port',
        look: async () => {
          await assertPortFree(port, purpose, option);
          return [ok('port', `${port} is free for ${purpose}`)];
        },
      }),
    ),
  );
  return checks.flat();
}
