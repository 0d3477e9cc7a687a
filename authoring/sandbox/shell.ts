/**
 * The tool with which a model runs command lines in its run's work folder.
 * Invariant: without named hosts the work folder is all that a command can change, so that the folder tells whether a
 * lost call counted; with them nobody can tell, and a person is asked.
 */
import { z } from 'zod';
import { limitsWith, SANDBOX_LIMITS, type SandboxLimits } from '../../sandbox/limits.js';
import { parseHosts } from '../../sandbox/proxy.js';
import type { ApprovalDeclaration } from '../approval.js';
import { defineTool, wrong } from '../define-tool.js';
import { partDefect, type KnownFields } from '../known-fields.js';
import { checkDefinition, fieldDefect } from '../whole-definition.js';
import type { Tool } from '../tool.js';
import { onlyInSandbox } from './folder-text.js';

const COMMAND_CHARS_MAX = 16 * 1024;
const STDIN_CHARS_MAX = 256 * 1024;
/** For making the folder, keeping it, and starting. */
const MARGIN_MS = 60_000;
const LEAST_MS = 1_000;

/** A shell for an agent: what it may run, for how long, and what it reaches. */
export interface ShellDefinition {
  /** Default: 'shell'. */
  readonly name?: string;
  /** Default: '1'. */
  readonly version?: string;
  readonly description?: string;
  /** Hosts that commands reach by HTTPS: `registry.npmjs.org`, `example.org:8443`. Default: nothing is reached. */
  readonly hosts?: readonly string[];
  /** In place of some of the usual limits; `timeMs` is also the most that a call may ask for. */
  readonly limits?: Partial<SandboxLimits>;
  /** Default: 'by_policy'. */
  readonly approval?: ApprovalDeclaration;
}

const FIELDS: KnownFields<ShellDefinition> = {
  name: true,
  version: true,
  description: true,
  hosts: true,
  limits: true,
  approval: true,
};

/** Errors: InvalidTool, also for hosts that no sandbox can be held to. */
export function defineShell(definition: ShellDefinition = {}): Tool {
  checkDefinition('defineShell({ … })', definition, 'InvalidTool');
  const { name = 'shell', version = '1', approval } = definition;
  const defect = fieldDefect(definition, FIELDS);
  if (defect !== undefined) throw wrong(name, defect.what, defect.hint);
  checkLimits(name, definition.limits);
  const hosts = parseHosts(definition.hosts ?? []);
  const limits = limitsWith(definition.limits);
  const reaches =
    hosts.length === 0
      ? 'No network.'
      : `Network: ${hosts.map((one) => one.name).join(', ')}, by HTTPS.`;
  return defineTool({
    name,
    version,
    effect: 'execute',
    idempotency: 'none',
    description:
      definition.description ??
      `Runs a command line with sh in the work folder, isolated. ${reaches} Files outside of the work folder do not last, and no process outlives the call.`,
    input: z.object({
      command: z.string().min(1).max(COMMAND_CHARS_MAX),
      stdin: z.string().max(STDIN_CHARS_MAX).optional(),
      timeoutMs: z.number().int().min(LEAST_MS).max(limits.timeMs).optional(),
    }),
    card: { labels: { command: 'Command', stdin: 'Input', timeoutMs: 'At most (ms)' } },
    ...(approval !== undefined && { approval }),
    timeoutMs: limits.timeMs + MARGIN_MS,
    sandbox: 'required',
    isolated: true,
    run: onlyInSandbox,
    sandboxRun: ({ command, stdin, timeoutMs = limits.timeMs }, { sandbox }) =>
      sandbox.run({
        command: ['/bin/sh', '-c', command],
        ...(stdin !== undefined && { stdin }),
        hosts,
        limits: { ...limits, timeMs: timeoutMs },
      }),
    probe: async (_input, { sandbox }) => {
      const made = await sandbox.made();
      if (made !== null || hosts.length === 0) return made;
      throw new Error('The command may have reached its hosts; the work folder cannot tell.');
    },
  });
}

/** Errors: InvalidTool, for a limit that no command has, and for one that would hold nothing. */
function checkLimits(tool: string, given: unknown): void {
  if (given === undefined) return;
  checkPart(tool, 'limits', [given, SANDBOX_LIMITS]);
  const { folder, ...amounts } = given as Partial<SandboxLimits>;
  checkAmounts(tool, 'limits', amounts);
  if (folder === undefined) return;
  const usual = SANDBOX_LIMITS.folder;
  checkPart(tool, 'limits.folder', [folder, usual]);
  // It stands in the place of the whole usual one.
  const nothing = Object.fromEntries(Object.keys(usual).map((name) => [name, undefined]));
  checkAmounts(tool, 'limits.folder', { ...nothing, ...folder });
}

function checkPart(
  tool: string,
  part: string,
  [given, usual]: readonly [unknown, SandboxLimits | SandboxLimits['folder']],
): void {
  const known = Object.fromEntries(Object.keys(usual).map((name) => [name, true] as const));
  const defect = partDefect(part, given, known);
  if (defect !== undefined) throw wrong(tool, defect.what, defect.hint);
}

function checkAmounts(tool: string, part: string, amounts: object): void {
  for (const [name, amount] of Object.entries(amounts) as [string, unknown][]) {
    if (Number.isSafeInteger(amount) && Number(amount) >= 0) continue;
    const hint = 'Give a whole number from 0; leave out of limits what is as usual.';
    throw wrong(tool, `${part}.${name} is ${String(amount)}`, hint);
  }
}

/** Without a network. */
export const shellTool = defineShell();
