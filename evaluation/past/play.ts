/**
 * A recorded run once more with another model, prompt, tools or policy: in the simulation, from its start or after a step.
 * The model is asked in earnest; tools and people answer from the record.
 * Invariant: nothing is told of a record that this release cannot play as it was recorded.
 */
import { resolve } from 'node:path';
import type { Config } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Bundle } from '../../replay/bundle.js';
import { capture } from '../capture/capture.js';
import { resultIn } from '../capture/expectation.js';
import { isGoal } from '../capture/goal-recording.js';
import { ofKind, recordingOf } from '../capture/recording.js';
import { recordingUntil } from '../capture/until.js';
import { refused, refusedOnPast } from '../capture/refused.js';
import { nameIn } from '../capture/team.js';
import { employedIn } from '../capture/tree.js';
import { compare } from '../compare.js';
import type { Observation } from '../engine.js';
import type { Fixture, Moment } from '../fixture.js';
import { withConfiguration } from '../own-agent.js';
import { parseFixture } from '../read-fixture.js';
import { LivePlay, type LiveModel, type Unmatched } from '../scripted/live.js';
import { RecordedPeople } from '../scripted/recorded-people.js';
import { RecordedTree, TreeInPlay } from '../scripted/recorded-tree.js';
import { createSimulationEngine, type SimulationEngineOptions } from '../simulation/index.js';

const SEED = 1;
const AGENTS_SHOWN = 20;
/** Of real time: a run that takes longer has a model that does not answer. */
const RUN_LIMIT_MS = 1_800_000;

export interface NewTerms {
  /** Route of the model that answers; absent: the recorded one says what it said. */
  readonly model?: Pick<LiveModel, 'routes' | 'providers'> & { readonly name: string };
  readonly unmatched: LiveModel['unmatched'];
  /** The agent of this configuration, as it is now, in place of the recorded one. */
  readonly own?: { readonly file: string; readonly config: Config; readonly agent?: string };
  /** Number of the step up to which everything goes as it was recorded, from 1. */
  readonly at?: number;
}

export interface PastPlay {
  readonly fixture: Fixture;
  readonly was: Observation;
  readonly now: Observation;
  readonly unmatched: readonly Unmatched[];
}

/** Errors: `CaptureRefused`, `StepNotFound`, `InvalidFixture`, and what a model says of a key that is wrong. */
export async function playPast(bundle: Bundle, terms: NewTerms): Promise<PastPlay> {
  try {
    return await played(bundle, terms);
  } catch (error) {
    throw refusedOnPast(error);
  }
}

async function played(bundle: Bundle, terms: NewTerms): Promise<PastPlay> {
  if (isGoal(bundle)) {
    throw refused(
      'it is a goal, and runs alone are played on the past',
      'Name a run of one of its cycles: `holdfast export GOAL:c1` writes it.',
    );
  }
  // The record says of no open run how it ends; the simulation would wait until its questions expire.
  if (resultIn(bundle.events) === undefined) {
    throw refused('it has not ended', 'Play it once it has, or fork it: `holdfast fork`.');
  }
  const recorded = caseOf(bundle, terms, false);
  const tree = new RecordedTree();
  const was = await observed(recorded, { hear: (event, run) => tree.hear(event, run) });
  const [first] = compare(recorded, was);
  if (first !== undefined) {
    throw refused(`this release plays it otherwise than it was recorded (${first.path})`);
  }
  const fixture = await onTerms(bundle, terms);
  const { model } = terms;
  if (model === undefined) return { fixture, was, now: await observed(fixture), unmatched: [] };
  const live = new LivePlay({
    ...model,
    unmatched: terms.unmatched,
    scriptedCalls: terms.at === undefined ? 0 : callsUntil(bundle, terms.at),
    people: new RecordedPeople(tree, recorded.during),
    tree: new TreeInPlay(tree, fixture.caseId),
  });
  const now = await observed(fixture, { live });
  return { fixture, was, now, unmatched: live.unmatched };
}

function caseOf(bundle: Bundle, { own }: NewTerms, isOwn: boolean): Fixture {
  const place =
    isOwn && own !== undefined
      ? { own: { config: own.file, ...(own.agent !== undefined && { agent: own.agent }) } }
      : {};
  return parseFixture(JSON.stringify(capture(bundle, place)), bundle.run.runId);
}

/** The case as it is played now: with the configuration, the model, and messages of people that still mean something. */
async function onTerms(bundle: Bundle, terms: NewTerms): Promise<Fixture> {
  const { own, model } = terms;
  const file = own === undefined ? bundle.run.runId : resolve(own.file);
  if (own !== undefined) refuseUnknown(bundle, own);
  const read = caseOf(bundle, terms, own !== undefined);
  const fixture = own === undefined ? read : await withConfiguration(read, file);
  if (model === undefined) return fixture;
  return {
    ...fixture,
    settings: { ...withoutFallback(fixture.settings), model: model.name },
    agents: agentsWith(model.name, fixture, bundle),
    during: fixture.during.flatMap(messagesIn),
  };
}

/** To whom the root was handed over, the new model plays as well; whoever has no model of its own keeps the recorded one. */
function agentsWith(
  model: string,
  { agents, settings: { model: recorded } }: Fixture,
  bundle: Bundle,
): Fixture['agents'] {
  const root = recordingOf(bundle);
  const later = employedIn(root).slice(1);
  const inRoot = new Set(
    later.map(({ frozen }) => nameIn({ root, members: [] }, frozen.agent.name)),
  );
  return new Map(
    [...agents].map(([name, agent]) => {
      const settings: Fixture['settings'] = agent.settings ?? { pricing: new Map() };
      if (inRoot.has(name))
        return [name, { ...agent, settings: { ...withoutFallback(settings), model } }];
      const { model: own = recorded } = settings;
      return own === undefined
        ? [name, agent]
        : [name, { ...agent, settings: { ...settings, model: own } }];
    }),
  );
}

/** The script would answer for the recorded one. An agent of a configuration has its own, which is real. */
function withoutFallback(settings: Fixture['settings']): Fixture['settings'] {
  const fields = Object.entries(settings).filter(([name]) => name !== 'fallbackModel');
  return Object.fromEntries(fields) as unknown as Fixture['settings'];
}

function refuseUnknown(bundle: Bundle, { config, agent }: NonNullable<NewTerms['own']>): void {
  const name = agent ?? recordingOf(bundle).frozen.agent.name;
  if (config.agents.has(name)) return;
  const known = [...config.agents.keys()].slice(0, AGENTS_SHOWN);
  throw new HoldfastError('UnknownAgent', `The configuration has no agent ${name.slice(0, 200)}.`, {
    hint: `Name one with --agent: ${known.join(', ')}.`,
    details: { known },
  });
}

/** Answers are found by the action that they are about; interrupts belonged to the moments of the old model. */
function messagesIn(moment: Moment): readonly Moment[] {
  const isAsked = moment.on.kind === 'event' || moment.on.kind === 'start';
  const actions = moment.actions.filter(({ kind }) => kind === 'userMessage' || kind === 'close');
  return isAsked && actions.length > 0 ? [{ ...moment, actions }] : [];
}

/** Requests of the model that were answered when the step was over. */
function callsUntil(bundle: Bundle, step: number): number {
  const recording = recordingUntil(recordingOf(bundle), step);
  return Math.max(0, ...ofKind(recording, 'call_model').map(({ input }) => input.call));
}

async function observed(
  fixture: Fixture,
  options: SimulationEngineOptions = {},
): Promise<Observation> {
  const engine = createSimulationEngine(options);
  try {
    const signal = AbortSignal.timeout(RUN_LIMIT_MS);
    const played = await Promise.race([
      engine.run(fixture, { seed: SEED, signal }),
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(tooSlow(fixture)), { once: true });
      }),
    ]);
    if (played.kind === 'observed') return played.observed;
    throw refused(played.kind === 'broken' ? played.message : played.why);
  } finally {
    await engine.stop();
  }
}

function tooSlow({ caseId }: Fixture): HoldfastError {
  return new HoldfastError('NetworkTimeout', `The run ${caseId} took longer than half an hour.`, {
    hint: 'Ask for a smaller budget in the configuration, or evaluate fewer runs at once.',
  });
}
