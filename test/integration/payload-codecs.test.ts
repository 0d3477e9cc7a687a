/** A user's payload codec: garbage from outside ends nothing, and a key service that is away loses nothing. */
import type { Payload, PayloadCodec } from '@temporalio/common';
import { connect, type HoldfastClient } from '../../client/index.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { UndecodablePayload } from '../../worker/index.js';
import { AGENT, APPROVER } from './support/agents.js';
import {
  openAsk,
  pay,
  read,
  say,
  startWorld,
  until,
  warnings,
  type World,
} from './support/world.js';

const KEY = 0x5a;
const SEALED = new TextEncoder().encode('binary/sealed');
const flipped = (data: Uint8Array): Uint8Array => data.map((byte) => byte ^ KEY);
const sealed = (payload: Payload): boolean =>
  Buffer.from(payload.metadata?.['encoding'] ?? []).equals(Buffer.from(SEALED));

/** Seals payloads with a key that it must ask somebody for. */
class SealingCodec implements PayloadCodec {
  keyServiceIsAway = false;
  refused = 0;

  async encode(payloads: Payload[]): Promise<Payload[]> {
    this.askForKey();
    return payloads.map((payload) => ({
      metadata: { encoding: SEALED },
      data: flipped(
        new TextEncoder().encode(
          JSON.stringify({
            encoding: Buffer.from(payload.metadata?.['encoding'] ?? []).toString(),
            data: Buffer.from(payload.data ?? []).toString('base64'),
          }),
        ),
      ),
    }));
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    this.askForKey();
    return payloads.map((payload) => {
      if (!sealed(payload)) throw new UndecodablePayload('the payload is not sealed');
      try {
        const text = new TextDecoder().decode(flipped(payload.data ?? new Uint8Array()));
        const { encoding, data } = JSON.parse(text) as { encoding: string; data: string };
        return {
          metadata: { encoding: new TextEncoder().encode(encoding) },
          data: Buffer.from(data, 'base64'),
        };
      } catch {
        throw new UndecodablePayload('the seal is broken');
      }
    });
  }

  private askForKey(): void {
    if (!this.keyServiceIsAway) return;
    this.refused += 1;
    throw new Error('the key service cannot be reached');
  }
}

const GARBAGE: readonly Payload[] = [
  { metadata: { encoding: SEALED }, data: new TextEncoder().encode('garbage') },
  { metadata: { encoding: SEALED } },
  {
    metadata: { encoding: new TextEncoder().encode('json/plain') },
    data: new TextEncoder().encode('{}'),
  },
  {},
];

let world: World;
let client: HoldfastClient;
const codec = new SealingCodec();
beforeAll(async () => {
  world = await startWorld({ workerSettings: { payloadCodecs: [codec] } });
  const payloadCodecs = [new SealingCodec()];
  client = await connect({ ...world.place, store: world.store, payloadCodecs });
});
afterAll(async () => {
  await client.close();
  await world.stop();
});

const start = (runId: string): Promise<RunHandle> => {
  world.script(runId, [read(), pay('pay.asked'), say('Paid.')]);
  return client.start({ agent: AGENT, task: 'Pay it.', runId });
};

function signal(workflowId: string, signalName: string, payloads: readonly Payload[]) {
  return world.raw.workflowService.signalWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId },
    signalName,
    input: { payloads: [...payloads] },
  });
}

test('garbage that a codec cannot decode is a warning when it is a signal, and an update is refused', async () => {
  const run = await start('garbage');
  const { askId } = await openAsk(run);
  for (const payload of GARBAGE) await signal('garbage', 'resolveApproval', [payload]);
  await signal('garbage', 'userMessage', GARBAGE);
  // This client seals nothing.
  const plain = world.raw.workflow.getHandle('garbage');
  const decision = { askId, decision: 'approve', ...APPROVER, decidedAt: Date.now() };
  await expect(plain.executeUpdate('decide', { args: [decision] })).rejects.toThrow();
  await run.approve(askId, APPROVER);
  const { result, events } = await world.ended(run);
  expect(result.completed).toBe(true);
  const told = warnings(events).filter((code) => code.startsWith('rejected_'));
  expect(told).toHaveLength(GARBAGE.length + 1);
});

test('a start that a codec cannot decode is refused, and no run hangs', async () => {
  const handle = await world.raw.workflow.start('agentRun', {
    taskQueue: 'holdfast',
    workflowId: 'unsealed-start',
    args: [{ v: 1, agent: AGENT, task: { goal: 'Pay it.' } }],
  });
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidTask' } });
});

/** What each workflow task decided, without ids of the server and times. */
async function story(runId: string): Promise<readonly unknown[]> {
  const events = await world.events(runId);
  return events.map(({ stamp: { seq, rule, step, turn, phase }, type }) => [
    seq,
    rule,
    step,
    turn,
    phase,
    type,
  ]);
}

test('a key service that is away for a while and comes back changes nothing of what a run decides', async () => {
  const undisturbed = await start('undisturbed');
  await undisturbed.approve((await openAsk(undisturbed)).askId, APPROVER);
  await world.ended(undisturbed);
  const held = world.service.hold('key-away', 'read');
  const run = await start('key-away');
  await held;
  codec.keyServiceIsAway = true;
  const before = codec.refused;
  world.service.releaseAll();
  await until('several refusals', () => codec.refused >= before + 3 || undefined, 60_000);
  // The run is named with what its codec says.
  const stuck = await until('the stuck run', async () => {
    const runs = await client.stuckRuns({ limit: 10 });
    return runs.find(({ runId, reason }) => runId === 'key-away' && reason.includes('key service'));
  });
  expect(stuck.reason).toContain('the key service cannot be reached');
  codec.keyServiceIsAway = false;
  await run.approve((await openAsk(run)).askId, APPROVER);
  const result = await run.result({ timeoutMs: 60_000 });
  expect(result.completed).toBe(true);
  expect(await story('key-away')).toEqual(await story('undisturbed'));
  expect(world.service.visits('key-away', 'effect')).toHaveLength(1);
}, 180_000);
