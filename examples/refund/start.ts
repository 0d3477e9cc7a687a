/**
 * The demo: `npm start [-- --yes] [-- --order O-104]`. One command from nothing to a paid refund: server, shop,
 * model, workers; a customer's request; an approval; the payment; and everything stopped again.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { HoldfastError } from '../../index.js';
import { aborted, endOf, exitWith, runDemo, textOf, type Demo } from '../demo/program.js';
import type { Terminal } from '../demo/terminal.js';
import { report } from './demo/report.js';
import { processRequest } from './demo/request.js';
import { setStage, type Stage } from './demo/stage.js';

const ORDER = /^O-\d{1,10}$/;

interface Options {
  readonly yes: boolean;
  readonly orderId: string;
}

async function demo({ orderId }: Options, { terminal, closers, stop }: Demo): Promise<number> {
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

async function main(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  return runDemo(options, (parts) => demo(options, parts));
}

exitWith(main(process.argv.slice(2)));
