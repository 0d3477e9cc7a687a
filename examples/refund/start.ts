/**
 * The demo: `npm start [-- --yes] [-- --order O-104]`. One command from nothing to a paid refund: server, shop,
 * model, workers; a customer's request; an approval; the payment; and everything stopped again.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { HoldfastError } from '../../index.js';
import { createClosers } from './demo/closers.js';
import { report } from './demo/report.js';
import { processRequest } from './demo/request.js';
import { setStage, type Stage } from './demo/stage.js';
import { createTerminal, type Terminal } from './demo/terminal.js';

const ORDER = /^O-\d{1,10}$/;
const INTERRUPTED_EXIT_CODE = 130;

interface Options {
  readonly yes: boolean;
  readonly orderId: string;
}

async function main(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  const terminal = createTerminal(
    { input: process.stdin, output: process.stdout },
    { yes: options.yes, colours: process.env['NO_COLOR'] === undefined },
  );
  const closers = createClosers((error) => terminal.say(textOf(error)));
  const stop = stopOnSignals(terminal);
  try {
    return await demo(options, { terminal, closers, stop });
  } finally {
    await closers.closeAll();
  }
}

interface Demo {
  readonly terminal: Terminal;
  readonly closers: ReturnType<typeof createClosers>;
  readonly stop: AbortController;
}

async function demo(options: Options, { terminal, closers, stop }: Demo): Promise<number> {
  const { orderId } = options;
  const environment = process.env;
  const home = resolve(environment['HOLDFAST_HOME'] ?? '.holdfast');
  terminal.say(`A customer wants a refund for order ${orderId}. Starting what that needs …`);
  const onFailure = (error: unknown): void => stop.abort(error);
  const setting = setStage({ environment, home, terminal, closers, onFailure });
  const stage = await Promise.race([setting, aborted(stop.signal)]);
  if (stage === undefined) return endOf(stop.signal);
  introduce(stage, terminal);
  const ended = await processRequest({ stage, terminal, orderId, stop });
  if (ended === undefined) return endOf(stop.signal);
  return report({ stage, terminal, orderId, ended });
}

function introduce({ server, shopUrl, worker, model }: Stage, terminal: Terminal): void {
  const say = (name: string, text: string): void => terminal.say(`  ${name.padEnd(18)}${text}`);
  say('Temporal server', `${server.address} (${server.how})`);
  if (server.uiUrl !== undefined) say('Temporal UI', server.uiUrl);
  say('Shop', shopUrl);
  say('Holdfast worker', `process ${worker.pid}`);
  say(
    'Model',
    model === 'scripted'
      ? 'scripted, on loopback, because ANTHROPIC_API_KEY is not set'
      : "Anthropic's, with your ANTHROPIC_API_KEY",
  );
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** The exit code of a demo that was stopped; throws what stopped it when that was a failure. */
function endOf(signal: AbortSignal): number {
  if (signal.reason === 'interrupted') return INTERRUPTED_EXIT_CODE;
  throw signal.reason;
}

function stopOnSignals(terminal: Terminal): AbortController {
  const stop = new AbortController();
  const onSignal = (): void => {
    // A second Ctrl-C does not wait; the children end with this process.
    if (stop.signal.aborted) process.exit(INTERRUPTED_EXIT_CODE);
    terminal.say();
    terminal.say('Stopping …');
    stop.abort('interrupted');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  return stop;
}

function parseOptions(argv: readonly string[]): Options {
  const hint = 'Use: npm start -- [--yes] [--order O-104]';
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { yes: { type: 'boolean' }, order: { type: 'string' } },
    });
    const { yes = false, order = 'O-104' } = values;
    if (ORDER.test(order)) return { yes, orderId: order };
  } catch (cause) {
    throw new HoldfastError('Usage', textOf(cause), { hint, cause });
  }
  throw new HoldfastError('Usage', 'An order number looks like O-104.', { hint });
}

function textOf(error: unknown): string {
  const { message, hint } = error as { readonly message?: string; readonly hint?: string };
  const text = message ?? String(error);
  return hint === undefined ? text : `${text}\n${hint}`;
}

main(process.argv.slice(2)).then(
  // Nothing may be left that keeps the process alive; if something is, that must not hold the terminal.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${textOf(error)}\n`);
    process.exit(1);
  },
);
