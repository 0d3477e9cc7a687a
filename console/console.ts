/**
 * The console: the approval desk's HTTP server.
 * Invariants: without a configured way to log in it serves this machine alone; it ends in order, with its
 * streams closed and its requests answered.
 */
import { join } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import { createDeskApp, type ConsoleOptions } from './desk-app.js';
import { close, listen } from './http/listen.js';
import { startNotifier, type Target } from './notify/notifier.js';
import { readPage } from './static-page.js';

export interface RunningConsole {
  readonly url: string;
  /** Local development: logs in as anybody. */
  readonly token?: string;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** Errors: InvalidConfig, PortTaken. */
export async function startConsole(options: ConsoleOptions): Promise<RunningConsole> {
  const { store, settings, say, clock = Date.now } = options;
  const ending = new AbortController();
  const page = await readPage(options.pageFolder ?? join(__dirname, 'page'));
  const { desk, app, token } = await createDeskApp(options, { signal: ending.signal, page });
  const targets = targetsOf(options);
  const { server, port } = await listen(app.fetch, settings);
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const url = `http://${host}:${port}`;
  const publicUrl = settings.publicUrl ?? url;
  const notifier = startNotifier({ store, targets, publicUrl, clock, say });
  let stopping: Promise<void> | undefined;
  return {
    url,
    ...(token !== undefined && { token }),
    stop() {
      ending.abort();
      stopping ??= Promise.all([notifier.stop(), close(server)]).then(() => desk.owed.stop());
      return stopping;
    },
  };
}

/** Errors: InvalidConfig for a webhook whose secret is not set. */
function targetsOf({ settings, secret }: ConsoleOptions): readonly Target[] {
  return settings.webhooks.map((webhook) => {
    const key = secret?.(webhook.secretVariable);
    if (key !== undefined) return { ...webhook, secret: key };
    throw new HoldfastError(
      'InvalidConfig',
      `The webhook ${webhook.name} has no secret: ${webhook.secretVariable} is not set.`,
      { hint: 'Set the variable to the secret that the other side checks signatures with.' },
    );
  });
}
