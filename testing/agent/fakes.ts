/**
 * The tools of an agent under test: fakes in the place of their code.
 * Invariant: the code of a tool runs only where the test says `'own'`; a call of any other tool without a fake ends the test.
 */
import type { Config, Tool, ToolContext } from '../../authoring/index.js';
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import { MESSAGE_TOOL } from '../../core/state/mail.js';
import type { Counted } from '../outside-work.js';

/** Its input has passed the schema of the tool; a parameter may be typed as that schema types it. */
export type FakeCode = {
  code(input: { readonly [name: string]: Json }, ctx: ToolContext): unknown;
}['code'];

/** A fake that takes its time. */
export interface TimedFake {
  readonly run: FakeCode;
  /** Virtual ms before it answers; beyond `timeoutMs` of the tool its call times out. */
  readonly takesMs?: number;
  /** Of a tool with a probe; default: nobody can say. */
  readonly probe?: FakeCode;
}

/** `'own'`: the code of the tool itself. */
export type ToolFake = 'own' | FakeCode | TimedFake;
/** What stands in place of the tools' code, by the names of the tools. */
export type ToolFakes = { readonly [tool: string]: ToolFake };

export interface FakePlace {
  readonly fakes: ToolFakes;
  /** What becomes of a call of a tool without a fake. */
  readonly unfaked: 'fail' | 'own';
  readonly counted: Counted;
  /** Waits in virtual time. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly fail: (error: HoldfastError) => void;
}

const NAMES_SHOWN_MAX = 20;
const INPUT_SHOWN_CHARS = 300;

/** Errors: InvalidFixture for a fake of a tool that is not there. */
export function withFakes(config: Config, place: FakePlace): Config {
  const names = new Set([...config.tools.values()].map(({ record }) => record.name));
  const unknown = Object.keys(place.fakes).find((name) => !names.has(name));
  if (unknown !== undefined) {
    const known = [...names].slice(0, NAMES_SHOWN_MAX).join(', ');
    throw new HoldfastError(
      'InvalidFixture',
      `The test fakes the tool ${unknown}, which is not there.`,
      { hint: `Tools are ${known === '' ? 'none' : known}.` },
    );
  }
  const tools = [...config.tools].map(([key, tool]) => [key, playedTool(tool, place)] as const);
  return { ...config, tools: new Map(tools) };
}

/** Whether the code of the tool itself runs. */
export function runsOwn(
  { record }: Tool,
  { fakes, unfaked }: Pick<FakePlace, 'fakes' | 'unfaked'>,
) {
  const fake = Object.hasOwn(fakes, record.name) ? fakes[record.name] : unfaked;
  // Others are performed by the runtime, which needs no code of theirs.
  return fake === 'own' || record.kind !== 'tool' || record.name === MESSAGE_TOOL;
}

function playedTool(tool: Tool, place: FakePlace): Tool {
  if (runsOwn(tool, place)) return tool;
  const { name } = tool.record;
  const fake = Object.hasOwn(place.fakes, name) ? place.fakes[name] : undefined;
  const timed = typeof fake === 'function' ? { run: fake } : fake;
  const run = timed === undefined || timed === 'own' ? missing(name, place) : faked(timed, place);
  const probe = typeof timed === 'object' ? timed.probe : undefined;
  return {
    ...tool,
    run,
    ...(tool.sandboxRun !== undefined && { sandboxRun: run }),
    ...(tool.probe !== undefined && { probe: probed(probe, place) }),
  };
}

function faked({ run, takesMs }: TimedFake, { counted, wait }: FakePlace): Tool['run'] {
  return async (input, ctx) => {
    if (takesMs !== undefined) await wait(takesMs, ctx.signal);
    ctx.signal.throwIfAborted();
    return counted(called(run, input, ctx), 'a fake');
  };
}

async function called(code: FakeCode, input: unknown, ctx: ToolContext): Promise<unknown> {
  return code(input as Parameters<FakeCode>[0], ctx);
}

function missing(name: string, { fail }: FakePlace): Tool['run'] {
  return (input) => {
    const shown = JSON.stringify(input).slice(0, INPUT_SHOWN_CHARS);
    const error = new HoldfastError(
      'InvalidFixture',
      `The agent calls ${name} with ${shown}, and the test has no fake for it.`,
      { hint: `Give tools: { ${JSON.stringify(name)}: (input) => … }, or 'own' for its own code.` },
    );
    fail(error);
    return Promise.reject(error);
  };
}

function probed(probe: FakeCode | undefined, { counted }: FakePlace): NonNullable<Tool['probe']> {
  return (input, ctx) =>
    probe === undefined
      ? Promise.reject(new Error('The test has no probe of this tool.'))
      : counted(called(probe, input, ctx), 'the probe of a fake');
}
