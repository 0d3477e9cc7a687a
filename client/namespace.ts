/** What a namespace must have before runs can be started in it. */
import { HoldfastError } from '../core/state/errors.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { bounded, type Link } from './link.js';

/** Runs are listed by these in Temporal's own web page; all are of type Keyword. */
const ATTRIBUTES = ['HoldfastStatus', 'HoldfastAgent', 'HoldfastTenant'] as const;
/** Temporal's number of the type Keyword. */
const KEYWORD = 2;
const VISIBLE_LIMIT_MS = 10_000;
const POLL_MS = 200;

export interface NamespaceFacts {
  readonly serverVersion: string;
  readonly retentionMs: number;
  readonly missingAttributes: readonly string[];
}

/** What the server says of itself and of the namespace. */
export async function namespaceFacts(link: Link): Promise<NamespaceFacts> {
  return bounded(link, {}, async () => {
    const { workflowService } = link.connection;
    const info = await workflowService.getSystemInfo({});
    const described = await workflowService.describeNamespace({ namespace: link.namespace });
    const retention = described.config?.workflowExecutionRetentionTtl;
    return {
      serverVersion: info.serverVersion,
      retentionMs: Number(retention?.seconds ?? 0) * 1000,
      missingAttributes: await missingAttributes(link),
    };
  });
}

/**
 * Registers the search attributes that are missing; nothing is changed otherwise.
 * Errors: ServerUnavailable when the namespace is missing or the account may not register.
 */
export async function ensureNamespaceReady(link: Link): Promise<void> {
  const { missingAttributes: missing } = await namespaceFacts(link);
  if (missing.length === 0) return;
  try {
    await bounded(link, {}, () =>
      link.connection.operatorService.addSearchAttributes({
        namespace: link.namespace,
        searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
      }),
    );
  } catch (error) {
    throw notRegistered(link, missing, error);
  }
  await untilVisible(link);
}

async function missingAttributes(link: Link): Promise<readonly string[]> {
  const { namespace } = link;
  const listed = await link.connection.operatorService.listSearchAttributes({ namespace });
  const present = new Set(Object.keys(listed.customAttributes ?? {}));
  return ATTRIBUTES.filter((name) => !present.has(name));
}

async function untilVisible(link: Link): Promise<void> {
  const deadline = performance.now() + VISIBLE_LIMIT_MS;
  while (performance.now() < deadline) {
    if ((await bounded(link, {}, () => missingAttributes(link))).length === 0) return;
    await sleep(POLL_MS);
  }
  throw notRegistered(link, ATTRIBUTES, undefined);
}

function notRegistered(link: Link, names: readonly string[], cause: unknown): HoldfastError {
  const flags = names.map((name) => `--name ${name} --type Keyword`).join(' ');
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  return new HoldfastError(
    'ServerUnavailable',
    `The namespace ${link.namespace} lacks the search attributes ${names.join(', ')}, and they could not be registered${why}.`,
    {
      hint: `Have an operator run: temporal operator search-attribute create -n ${link.namespace} ${flags}`,
      details: { missing: names },
      cause,
    },
  );
}
