/**
 * Replays with today's code, watched: which rules fire, which changes are asked, what comes together; or with one
 * change turned round.
 */
import { extname, join } from 'node:path';
import type { InjectedSinks } from '@temporalio/worker';
import type { ChangeName } from '../../core/step/changes.js';
import type { Bundle } from '../../replay/bundle.js';
import { replayRunsOf, type ReplayReport } from '../../replay/strict-replay.js';
import { bundleWith, markedForReplay, type BundleWith } from '../../worker/workflow-code.js';
import type { WitnessSinks } from './witness/recorder.js';
import type { Seen } from './witness/seen.js';

const WITNESS = join(__dirname, 'witness');
const EXTENSION = extname(__filename);
/** Modules of the core, and who stands in for each. */
const WATCHED = Object.entries({
  'step/changes': 'changes',
  'loop/engine': 'engine',
  'goal/engine': 'goal-engine',
});

export interface WitnessedReport extends ReplayReport {
  readonly activations: readonly Seen[];
}

export interface Witness {
  replay(bundles: readonly Bundle[]): AsyncGenerator<WitnessedReport, void>;
  /** The same where the change is followed exactly by the runs that should not. */
  replayReversed(
    change: ChangeName,
    bundles: readonly Bundle[],
  ): AsyncGenerator<ReplayReport, void>;
}

export async function createWitness(): Promise<Witness> {
  const bundle = await bundleWith({
    interceptors: [join(WITNESS, `recorder${EXTENSION}`)],
    plugins: [standIns],
  });
  const code = markedForReplay(bundle.code);
  if (!code.includes('__REVERSED__')) throw new Error('The bundle has no witness.');
  return {
    async *replay(bundles) {
      let activations: Seen[] = [];
      const sinks = sinksOf((seen) => activations.push(seen));
      for await (const report of replayRunsOf(bundles, { bundle: { code }, sinks })) {
        yield { ...report, activations };
        activations = [];
      }
    },
    replayReversed(change, bundles) {
      const reversed = code.replaceAll('__REVERSED__', change);
      return replayRunsOf(bundles, { bundle: { code: reversed }, sinks: sinksOf(() => undefined) });
    },
  };
}

function sinksOf(take: (seen: Seen) => void): InjectedSinks<WitnessSinks> {
  return { witness: { activation: { callDuringReplay: true, fn: (_info, seen) => take(seen) } } };
}

type Plugin = Exclude<
  NonNullable<BundleWith['plugins']>[number],
  null | undefined | false | '' | 0
>;

/** Of webpack: every other module that imports a watched one gets the witness. */
const standIns: Plugin = {
  apply(compiler: Compiler) {
    compiler.hooks.normalModuleFactory.tap('Witness', (factory) => {
      factory.hooks.beforeResolve.tap('Witness', (data) => {
        const { issuer } = data.contextInfo;
        if (issuer.startsWith(WITNESS)) return;
        for (const [name, witness] of WATCHED) {
          const wanted = join(data.context, data.request);
          if (data.request.startsWith('.') && wanted === join(CORE, `${name}.js`)) {
            data.request = join(WITNESS, `${witness}.js`);
          }
        }
      });
    });
  },
} as unknown as Plugin;

const CORE = join(__dirname, '..', '..', 'core');

/** As much of webpack as is used here. */
interface Compiler {
  readonly hooks: {
    readonly normalModuleFactory: Hook<{
      readonly hooks: { readonly beforeResolve: Hook<Request> };
    }>;
  };
}

interface Hook<Value> {
  tap(name: string, then: (value: Value) => void): void;
}

interface Request {
  request: string;
  readonly context: string;
  readonly contextInfo: { readonly issuer: string };
}
