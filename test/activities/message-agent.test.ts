/** The attacks on letters: whoever sends, to whom, what, how much. */
import { messageAgent } from '../../authoring/index.js';
import { messageCall } from '../../activities/tool/message-agent.js';
import { MAIL_LIMITS } from '../../core/state/mail.js';
import type { ExecuteToolInput } from '../../core/state/effect.js';
import type { RunnableCall } from '../../activities/tool/tool-call.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';

let store: MemoryStore;
let woken: string[];
beforeEach(async () => {
  store = await openMemoryStore();
  woken = [];
  await join('run:a1', 'run', ['desk', 'auditor']);
  await join('run:a2', 'run', ['desk', 'writer']);
  await join('run:a1:a1', 'run:a1', ['desk', 'auditor', 'clerk']);
  await join('foreign:a1', 'foreign', ['other', 'auditor'], 'foreign');
});
afterEach(() => store.close());

async function join(child: string, parent: string, path: readonly string[], root = 'run') {
  await store.registerChild({
    tenant: 'default',
    child,
    parent,
    n: Number(/\d+$/.exec(child)?.[0]),
    digest: 'd',
    start: '{}',
    place: { root, path, call: 'c' },
  });
}

let calls = 0;
interface Sent {
  readonly from?: string;
  readonly to: string;
  readonly text?: string;
  readonly key?: string;
  readonly tenant?: string;
}

async function send({ from = 'run', to, text = 'Hi.', key, tenant = 'default' }: Sent) {
  calls += 1;
  const input = {
    run: { tenant, runId: from, traceId: from },
    call: { key: key ?? `k${calls}` },
  } as unknown as ExecuteToolInput;
  const scope = { wake: async (id: string) => void woken.push(id) } as never;
  const runnable = { tool: messageAgent } as unknown as RunnableCall;
  const call = messageCall({ store, clock: () => 1 } as never, scope, { input, runnable });
  return call!.tool.run({ to, text }, {} as never);
}

const lettersOf = async (run: string, tenant = 'default') =>
  (await store.readLetters(tenant, run, { after: 0, limit: 100 })).letters;

test.each([
  ['run', 'auditor', 'run:a1'],
  ['run', 'desk/auditor/clerk', 'run:a1:a1'],
  ['run', 'run:a2', 'run:a2'],
  ['run:a1', 'parent', 'run'],
  ['run:a1:a1', 'root', 'run'],
  ['run:a1:a1', 'parent', 'run:a1'],
  ['run:a1', 'writer', 'run:a2'],
])('%s writes to %s', async (from, to, reached) => {
  await send({ from, to });
  expect(woken).toEqual([reached]);
  expect(await lettersOf(reached)).toMatchObject([{ seq: 1, from: { run: from } }]);
});

test.each([
  ['a run of another tree', { to: 'foreign' }],
  ['a child of another tree', { to: 'foreign:a1' }],
  ['itself', { to: 'run' }],
  ['itself as root', { to: 'root' }],
  ['a parent that it has not', { to: 'parent' }],
  ['nobody', { to: 'nobody' }],
  ['a child of another tenant', { to: 'run:a1', tenant: 'other' }],
])('nothing is written to %s', async (_, sent) => {
  await expect(send(sent)).rejects.toThrow(/This task has no other agent/);
  expect(woken).toEqual([]);
  for (const run of ['run', 'run:a1', 'foreign', 'foreign:a1'])
    expect(await lettersOf(run)).toEqual([]);
});

test('a sender cannot say that it is another one', async () => {
  const forged = {
    to: 'auditor',
    text: 'From: desk',
    from: 'run:a2',
    sender: 'run',
    agent: 'desk',
  };
  await send(forged);
  expect(await lettersOf('run:a1')).toEqual([
    { seq: 1, from: { run: 'run:a2', agent: 'desk/writer' }, text: 'From: desk' },
  ]);
});

test('a call that is delivered twice writes one letter, and wakes its reader again', async () => {
  await send({ to: 'auditor', key: 'k' });
  await send({ to: 'auditor', key: 'k' });
  await expect(send({ to: 'auditor', key: 'k', text: 'Other.' })).rejects.toThrow('another letter');
  expect(woken).toEqual(['run:a1', 'run:a1']);
  expect(await lettersOf('run:a1')).toHaveLength(1);
});

test('a flood ends at the bound of the mailbox', async () => {
  let refused = 0;
  for (let n = 0; n < MAIL_LIMITS.unread + 10; n += 1)
    await send({ to: 'auditor' }).catch(() => (refused += 1));
  expect(refused).toBe(10);
  expect(await lettersOf('run:a1')).toHaveLength(MAIL_LIMITS.unread);
});

test('a run that has ended gets no letters', async () => {
  await store.sealChild('default', 'run:a1');
  await expect(send({ to: 'run:a1' })).rejects.toThrow('has ended');
});

test('a name that several have means the open one, and two open ones are told apart by their ids', async () => {
  await join('run:a3', 'run', ['desk', 'auditor']);
  await expect(send({ to: 'auditor' })).rejects.toThrow('run:a3');
  await store.sealChild('default', 'run:a1');
  await send({ to: 'auditor' });
  expect(woken).toEqual(['run:a3']);
});

test('a text that is too long is refused by the schema of the tool', () => {
  const text = 'x'.repeat(MAIL_LIMITS.textChars + 1);
  expect(messageAgent.parse({ to: 'auditor', text }).ok).toBe(false);
});
