/**
 * The tools of an agent under test: fakes in the place of their code.
 * Invariant: the code of a tool runs only where the test says `'own'`; a call of any other tool without a fake ends the test.
 */
import type { Config, Tool, ToolContext } from '../../authoring/index.js';
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import { MESSAGE_TOOL } from '../../core/state/mail.js';
import { didYouMean } from '../../pure/nearest-names.js';
import { rules, type OptionRules } from '../../pure/options.js';
import type { Counted } from '../outside-work.js';
import { checkFields, unfit } from './check-test.js';

/** Its input has passed the schema of the tool; a parameter may be typed as that schema types it. */
export type FakeCode = {
  code(input: { readonly [name: string]: Json }, ctx: ToolContext): unknown;
}['code'];

/** A fake that takes its time. */
export interface TimedFake {
  readonly run: FakeCode;
  /** Virtual ms before it answers; beyond `timeoutMs` of the tool its call times out. Infinity: it never answers. */
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

const FAKE: OptionRules<TimedFake> = rules('call! run, wait takesMs, call probe');

/** Errors: InvalidFixture for a fake that is none, of a tool that is not there, and where nothing would come of it. */
export function withFakes(config: Config, place: FakePlace): Config {
  const all = [...config.tools.values()];
  const names = [...new Set(all.map(({ record }) => record.name))];
  for (const [name, fake] of Object.entries(place.fakes)) {
    const tools = all.filter(({ record }) => record.name === name);
    if (tools.length === 0) throw unknownTool(name, names);
    checkFake(name, fake, tools);
  }
  const tools = [...config.tools].map(([key, tool]) => [key, playedTool(tool, place)] as const);
  return { ...config, tools: new Map(tools) };
}

function checkFake(name: string, fake: unknown, tools: readonly Tool[]): void {
  if (fake === 'own') return;
  if (typeof fake !== 'function') {
    if (typeof (fake as Partial<TimedFake> | null)?.run !== 'function') {
      throw unfit(
        `The test cannot use its fake of ${name}.`,
        "Give (input) => …, { run } or 'own'.",
      );
    }
    checkFields(`The fake of ${name}`, fake, FAKE);
  }
  if (tools.every(isPerformed)) {
    const hint = 'Leave the fake out: `answers` speaks for people, `agents` for other agents.';
    throw unfit(`The test fakes the tool ${name}, which the runtime performs itself.`, hint);
  }
  if ((fake as Partial<TimedFake>).probe === undefined || tools.some((tool) => tool.probe)) return;
  const hint = 'Leave `probe` out, or give the tool one.';
  throw unfit(`The fake of ${name} has a probe, and the tool has none.`, hint);
}

function unknownTool(name: string, names: readonly string[]): HoldfastError {
  const known = names.slice(0, NAMES_SHOWN_MAX).join(', ');
  return unfit(
    `The test fakes the tool ${name}, which is not there.`,
    `${didYouMean(name, names)}Tools are ${known === '' ? 'none' : known}.`,
  );
}

/** Neither a fake nor code of its own is asked for. */
function isPerformed({ record }: Tool): boolean {
  return record.kind !== 'tool' || record.name === MESSAGE_TOOL;
}

/** Whether the code of the tool itself runs. */
export function runsOwn(tool: Tool, { fakes, unfaked }: Pick<FakePlace, 'fakes' | 'unfaked'>) {
  const { name } = tool.record;
  const fake = Object.hasOwn(fakes, name) ? fakes[name] : unfaked;
  return fake === 'own' || isPerformed(tool);
}

function playedTool(tool: Tool, place: FakePlace): Tool {
  if (runsOwn(tool, place)) return tool;
  const { name } = tool.record;
  const fake = Object.hasOwn(place.fakes, name) ? place.fakes[name] : undefined;
  const timed = typeof fake === 'function' ? { run: fake } : fake;
  const run = timed === undefined || timed === 'own' ? missing(name, place) : faked(timed, place);
  return {
    ...tool,
    run,
    ...(tool.sandboxRun !== undefined && { sandboxRun: run }),
    ...(tool.probe !== undefined && { probe: probed(timed, place) }),
  };
}

function faked(fake: TimedFake, { counted, wait }: FakePlace): Tool['run'] {
  const { takesMs } = fake;
  return async (input, ctx) => {
    if (takesMs !== undefined) await wait(takesMs, ctx.signal);
    ctx.signal.throwIfAborted();
    return counted(called(fake, 'run', { input, ctx }), 'a fake');
  };
}

/** As a method: a fake may be of a class. */
async function called(
  fake: TimedFake,
  method: 'run' | 'probe',
  { input, ctx }: { readonly input: unknown; readonly ctx: ToolContext },
): Promise<unknown> {
  return fake[method]?.(input as Parameters<FakeCode>[0], ctx);
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

function probed(
  fake: TimedFake | 'own' | undefined,
  { counted }: FakePlace,
): NonNullable<Tool['probe']> {
  return (input, ctx) =>
    typeof fake !== 'object' || fake.probe === undefined
      ? Promise.reject(new Error('The test has no probe of this tool.'))
      : counted(called(fake, 'probe', { input, ctx }), 'the probe of a fake');
}
