/** A case in the words of a record, played as it was and then with a model that is asked in earnest. */
import type { ModelRoute } from '../../core/state/model.js';
import type { FixtureDocument } from '../../evaluation/format/document.js';
import type { Observation } from '../../evaluation/engine.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { replyAt, type Script } from '../../evaluation/script.js';
import { LivePlay, type Unmatched } from '../../evaluation/scripted/live.js';
import { RecordedPeople } from '../../evaluation/scripted/recorded-people.js';
import { RecordedTree, TreeInPlay } from '../../evaluation/scripted/recorded-tree.js';
import { failureOf, wholeReply } from '../../evaluation/scripted/replies.js';
import {
  createSimulationEngine,
  type SimulationEngineOptions,
} from '../../evaluation/simulation/index.js';
import type { ModelRequest, Provider } from '../../providers/provider.js';
import { caseOf } from './setup.js';

/** Name of the model that is asked in earnest. */
export const NEW = 'new';
const LIVE = 'live';

type Replies = NonNullable<FixtureDocument['model']>;

export interface Played {
  readonly fixture: Fixture;
  readonly was: Observation;
  readonly now: Observation;
  readonly unmatched: readonly Unmatched[];
  /** What the model was asked in earnest. */
  readonly asked: readonly ModelRequest[];
}

interface Changes {
  /** Default: what the recorded one said. */
  readonly replies?: Replies;
  readonly unmatched?: 'refuse' | 'stop';
  readonly scriptedCalls?: number;
}

export async function playedLive(
  document: object,
  { replies, unmatched = 'stop', scriptedCalls = 0 }: Changes = {},
): Promise<Played> {
  const recorded = caseOf({ expected: { stop_reason: 'completed' }, ...document });
  const tree = new RecordedTree();
  const was = await observed(recorded, { hear: (event, run) => tree.hear(event, run) });
  const fixture = { ...recorded, settings: { ...recorded.settings, model: NEW } };
  const says =
    replies === undefined
      ? recorded.model
      : caseOf({ model: replies, expected: { stop_reason: 'completed' } }).model;
  const asked: ModelRequest[] = [];
  const live = new LivePlay({
    routes: [ROUTE],
    providers: new Map([[LIVE, inEarnest(says, asked)]]),
    scriptedCalls,
    unmatched,
    people: new RecordedPeople(tree, recorded.during),
    tree: new TreeInPlay(tree, fixture.caseId),
  });
  const now = await observed(fixture, { live });
  return { fixture, was, now, unmatched: live.unmatched, asked };
}

const ROUTE: ModelRoute = {
  name: NEW,
  provider: LIVE,
  model: NEW,
  contextWindow: 200_000,
  maxOutputTokens: 8_000,
  prices: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  pricesVersion: 'test',
  temperatureAllowed: true,
};

/** One reply after the other, to whoever asks. */
export function inEarnest(says: Script, asked: ModelRequest[] = []): Provider {
  return {
    name: LIVE,
    complete(request) {
      asked.push(request);
      const reply = replyAt(says, asked.length - 1);
      if (reply === undefined) throw new Error('the model has nothing more to say');
      if (reply.kind === 'error') throw failureOf(reply);
      const usedIds = new Set<string>();
      const place = { model: request.model, usedIds, runHosted: () => undefined };
      return Promise.resolve(wholeReply(reply, place));
    },
  };
}

async function observed(fixture: Fixture, options: SimulationEngineOptions): Promise<Observation> {
  const engine = createSimulationEngine(options);
  try {
    const played = await engine.run(fixture, { seed: 1 });
    if (played.kind === 'observed') return played.observed;
    throw new Error(played.kind === 'broken' ? played.message : played.why);
  } finally {
    await engine.stop();
  }
}
