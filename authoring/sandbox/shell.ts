/**
 * The tool with which a model runs command lines in its run's work folder.
 * Invariant: without named hosts the work folder is all that a command can change, so that the folder tells whether a
 * lost call counted; with them nobody can tell, and a person is asked.
 */
import { z } from 'zod';
import { limitsWith, type SandboxLimits } from '../../sandbox/limits.js';
import { parseHosts } from '../../sandbox/proxy.js';
import type { ApprovalDeclaration } from '../approval.js';
import { defineTool } from '../define-tool.js';
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

/** Errors: InvalidTool, also for hosts that no sandbox can be held to. */
export function defineShell(definition: ShellDefinition = {}): Tool {
  const { name = 'shell', version = '1', approval } = definition;
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

/** Without a network. */
export const shellTool = defineShell();
