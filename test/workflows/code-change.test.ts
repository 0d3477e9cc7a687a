/**
 * A history of the code as it is, replayed with code that somebody has changed. A change that
 * a running run would notice is found out; the same change is fine when it asks for the rules of the run.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { RULES_VERSION } from '../../core/step/changes.js';
import { PAYLOAD_CONVERTER_PATH } from '../../worker/workflow-code.js';
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

const ROOT = join(__dirname, '..', '..');
const MINUTE = 60_000;
const RUN_ID = 'made-before';

interface Change {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const IDS: Pick<Change, 'file' | 'find'> = {
  file: 'core/step/inflight.ts',
  find: 'const id = `${kind}-${run.nextEffect}`;',
};

const UNSEEN: Change = {
  file: 'core/step/open-work.ts',
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
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-code-'));
  world = await startWorld();
  world.script(RUN_ID, [read(), pay('pay.asked'), say('Paid.')]);
  const run = await world.client.start({ agent: AGENT, task: 'Pay it.', runId: RUN_ID });
  await run.approve((await openAsk(run)).askId, APPROVER);
  ({ history } = await world.ended(run));
}, MINUTE);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.stop();
});

/** Replays it with a copy of the sources in which one place is another. */
async function replayWith(change: Change): Promise<void> {
  const copy = mkdtempSync(join(folder, 'copy-'));
  for (const name of ['core', 'workflows', 'package.json', 'tsconfig.json']) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const file = join(copy, change.file);
  const text = readFileSync(file, 'utf8');
  expect(text.split(change.find)).toHaveLength(2);
  writeFileSync(
    file,
    text.replace(change.find, () => change.replace),
  );
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: join(copy, 'workflows', 'agent-run.ts'),
    payloadConverterPath: join(copy, 'workflows', 'payload-converter.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  await Worker.runReplayHistory(
    { workflowBundle, dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH } },
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
