/** `holdfast freeze` and `holdfast effects`, on a store alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../../cli/program.js';
import { approvalCard } from '../../../cli/render/index.js';
import { openStore, type Store } from '../../../store/store.js';

const ESCAPE = '\u001B[2J';

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-controls-'));
  store = await openStore({ file: join(folder, 'store.db') });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function holdfast(...argv: readonly string[]) {
  let out = '';
  let err = '';
  const code = await runCli([...argv, '--store', join(folder, 'store.db')], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

const WHO = ['--as', 'mia', '--reason', 'fraud wave'];

describe('holdfast freeze', () => {
  test('a freeze is in force from then on, listed, and lifted; its row stays', async () => {
    const set = await holdfast('freeze', '--tool', 'payments.*', ...WHO, '--json');
    expect(set.code).toBe(0);
    const { freeze } = JSON.parse(set.out) as { freeze: { id: string } };
    expect(await store.freezesInForce('default', Date.now())).toEqual([
      {
        id: freeze.id,
        scope: { kind: 'tool', pattern: 'payments.*' },
        by: 'mia',
        reason: 'fraud wave',
        at: expect.any(Number),
      },
    ]);
    expect((await holdfast('freeze', '--list')).out).toMatch(/yes +tool payments\.\* +mia/);
    const lifted = await holdfast('freeze', '--lift', freeze.id, '--as', 'stan');
    expect(lifted.out).toContain('Lifted: tool payments.*');
    expect(await store.freezesInForce('default', Date.now())).toEqual([]);
    const listed = JSON.parse((await holdfast('freeze', '--list', '--json')).out) as unknown;
    expect(listed).toMatchObject({
      freezes: [{ id: freeze.id, inForce: false, lifted: { by: 'stan' } }],
    });
  });

  test('one with a duration ends by itself', async () => {
    await holdfast('freeze', '--agent', 'refund', '--for', '2h', ...WHO);
    const now = Date.now();
    expect(await store.freezesInForce('default', now)).toHaveLength(1);
    expect(await store.freezesInForce('default', now + 2 * 3_600_000)).toEqual([]);
  });

  test.each([
    ['nothing to freeze', []],
    ['two things at once', ['--tenant', '--tool', 'x', ...WHO]],
    ['no name', ['--tenant', '--reason', 'x']],
    ['no reason', ['--tenant', '--as', 'mia']],
    ['a pattern that is none', ['--tool', 'a*b', ...WHO]],
    ['a duration that is none', ['--tenant', '--for', 'soon', ...WHO]],
  ])('%s is a usage error and freezes nothing', async (_what, argv) => {
    expect((await holdfast('freeze', ...argv)).code).toBe(2);
    expect(await store.listFreezes('default')).toEqual([]);
  });

  test('what is not in force cannot be lifted', async () => {
    const { code, err } = await holdfast('freeze', '--lift', `frz_1${ESCAPE}`, '--as', 'mia');
    expect(code).not.toBe(0);
    expect(err).toContain('No freeze frz_1');
    expect(err).not.toContain(ESCAPE);
  });
});

const PAID = {
  tenant: 'default',
  key: 'case:3',
  runId: 'run_7',
  argsDigest: 'd',
  tool: 'payments.refund',
  attempt: 1,
} as const;

async function pay(): Promise<void> {
  await store.claim({ ...PAID, callKey: '3', claimedUntil: 1, sameKeyRetry: false });
  await store.noteEffect({
    ...PAID,
    toolVersion: '2',
    at: Date.UTC(2030, 0, 1),
    identity: ['A-1', `x${ESCAPE}`],
    spending: { amount: 500, customer: 'cora' },
    approvedBy: [`mia${ESCAPE}`],
    reference: 'run_7:3',
  });
}

describe('holdfast effects', () => {
  test('tells what was done for a business object, by which run, on whose word', async () => {
    await pay();
    const { code, out } = await holdfast('effects', '--order', 'A-1');
    expect(code).toBe(0);
    expect(out).toMatch(/payments\.refund@2 +under way +500 .*run_7/);
    expect(out).toContain('mia');
    expect(out).not.toContain(ESCAPE);
    const json = JSON.parse(
      (await holdfast('effects', '--identity', 'A-1', '--json')).out,
    ) as unknown;
    expect(json).toMatchObject({
      effects: [{ runId: 'run_7', reference: 'run_7:3', amount: 500 }],
    });
  });

  test('what is known not to have happened is not there', async () => {
    await pay();
    expect(await store.releaseEffect(PAID)).toBe(true);
    expect(await store.releaseEffect(PAID)).toBe(false);
    expect((await holdfast('effects', '--order', 'A-1')).out).toContain('Nothing was done');
  });

  test('needs to know what is looked for', async () => {
    expect((await holdfast('effects')).code).toBe(2);
    expect((await holdfast('effects', '--order', 'a', '--identity', 'b')).code).toBe(2);
  });
});

test('a card shows what was done before, who may decide later, and nothing that could pretend', () => {
  const card = approvalCard(
    {
      askId: 'run_1:0:repeat',
      kind: 'approval',
      tool: 'pay',
      args: {},
      argsHash: 'h',
      roles: ['lead'],
      quorum: 1,
      policyVersion: '0',
      openedAt: 0,
      expiresAt: 10_000,
      escalation: { at: 5_000, roles: [`director${ESCAPE}`] },
      repeats: {
        identity: [`A-1\n└─${ESCAPE}`],
        earlier: [
          {
            key: 'k',
            runId: 'run_7',
            tool: 'pay',
            at: 0,
            state: 'done',
            amount: 5,
            approvedBy: ['ada'],
          },
        ],
        more: true,
      },
    },
    { runId: 'run_1', now: 1_000 },
  );
  expect(card).toMatch(/done, amount 5, by run_7, on the word of ada/);
  expect(card).toMatch(/director.*from/);
  expect(card).not.toContain(ESCAPE);
  expect(card.match(/^└─/gm)).toHaveLength(1);
});
