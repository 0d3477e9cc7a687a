/**
 * The scripted model as a process: `main --script FILE.json [--port N] [--log FILE.jsonl]`. Prints one JSON
 * line with its base URL; stops on SIGTERM, SIGINT, or when a pipe on its standard input ends, so that it
 * does not outlive its parent.
 */
import { fstatSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { HoldfastError } from '../../core/state/errors.js';
import { parseScriptFile } from './script-file.js';
import { startScriptedModel, type ScriptedModel } from './server.js';

const USAGE = 'Use: --script FILE.json [--port N] [--log FILE.jsonl]';

async function main(argv: readonly string[]): Promise<void> {
  const { script, port, log } = parseArguments(argv);
  const model = await startScriptedModel({
    script: parseScriptFile(readFileSync(script, 'utf8')),
    port,
    ...(log === undefined ? {} : { log: { file: log } }),
  });
  process.stdout.write(`${JSON.stringify({ baseUrl: model.baseUrl, pid: process.pid })}\n`);
  stopWithParent(model);
}

function parseArguments(argv: readonly string[]): { script: string; port: number; log?: string } {
  const { values } = parseArgs({
    args: [...argv],
    options: { script: { type: 'string' }, port: { type: 'string' }, log: { type: 'string' } },
  });
  const port = Number(values.port ?? 0);
  if (values.script === undefined || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new HoldfastError('Usage', 'The arguments are not valid.', { hint: USAGE });
  }
  return { script: values.script, port, ...(values.log === undefined ? {} : { log: values.log }) };
}

function stopWithParent(model: ScriptedModel): void {
  const stop = (): void => void model.stop().finally(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // A parent that gives no standard input attaches a device, which ends at once and says nothing.
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return;
  process.stdin.once('end', stop);
  process.stdin.once('error', stop);
  process.stdin.resume();
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const { message, hint } = error as { message?: string; hint?: string };
  process.stderr.write(`${message ?? String(error)}${hint === undefined ? '' : `\n${hint}`}\n`);
  process.exitCode = 2;
});
