/**
 * A history of the code as it is, replayed with code that somebody has changed. A change that
 * a running run would notice is found out; the same change is fine when it asks for the rules of the run.
 */
import { readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { RULES_VERSION } from '../../core/step/changes.js';
import { PAYLOAD_CONVERTER_PATH, workflowBundle } from '../../worker/workflow-code.js';
import { AGENT, APPROVER } from '../integration/support/agents.js';
import {
  openAsk,
  pay,
  read,
  say,
  startWorld,
  type History,
  type World,
} from '../integration/support/world.js';

const MINUTE = 60_000;
const RUN_ID = 'made-before';

interface Change {
  readonly find: string;
  readonly replace: string;
}

/** In `core/step/inflight`. */
const IDS: Pick<Change, 'find'> = { find: 'const id = `${kind}-${run.nextEffect}`;' };

/** In `core/step/open-work`. */
const UNSEEN: Change = {
  find: 'return callsInReply === 1 ?',
  replace: 'return !(callsInReply !== 1) ?',
};

/** What looks like a matter of taste: an underscore in the ids of effects. */
const SEEN: Change = { ...IDS, replace: 'const id = `${kind}_${run.nextEffect}`;' };

const GUARDED: Change = {
  ...IDS,
  replace: `const id = \`\${kind}\${run.rules > ${RULES_VERSION} ? '_' : '-'}\${run.nextEffect}\`;`,
};

let world: World;
let history: History;
beforeAll(async () => {
  world = await startWorld();
  world.script(RUN_ID, [read(), pay('pay.asked'), say('Paid.')]);
  const run = await world.client.start({ agent: AGENT, task: 'Pay it.', runId: RUN_ID });
  await run.approve((await openAsk(run)).askId, APPROVER);
  ({ history } = await world.ended(run));
}, MINUTE);
afterAll(() => world.stop());

/** Replays it with the workflow bundle in which one place is another. */
async function replayWith({ find, replace }: Change): Promise<void> {
  const bundle = await workflowBundle();
  const text = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8');
  expect(text.split(find)).toHaveLength(2);
  const code = text.replace(find, () => replace);
  await Worker.runReplayHistory(
    {
      workflowBundle: { code },
      dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
    },
    history,
    // Questions are named after the run.
    RUN_ID,
  );
}

describe('the history of a run replays with code in which', () => {
  test(
    'something was put in other words',
    () => expect(replayWith(UNSEEN)).resolves.toBeUndefined(),
    MINUTE,
  );

  test(
    'something means another thing for runs of newer rules',
    () => expect(replayWith(GUARDED)).resolves.toBeUndefined(),
    MINUTE,
  );
});

test(
  'code in which something means another thing for every run is found out',
  () => expect(replayWith(SEEN)).rejects.toMatchObject({ name: 'DeterminismViolationError' }),
  MINUTE,
);
