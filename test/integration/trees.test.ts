/** Trees of runs as people and programs see them, on a real server: questions, the way down, what is watched and read. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import type { RunTree } from '../../client/read/run-tree.js';
import { exportTree } from '../../replay/export-run.js';
import { readBundle } from '../../replay/read-bundle.js';
import type { AskRow } from '../../store/asks.js';
import type { ScriptedAnswer } from '../../testing/index.js';
import { PATIENT } from './support/patience.js';
import { config as treeConfig } from './support/tree-agents.js';
import { redactedBothWays } from './support/redacted-export.js';
import { idOf, startDesk, tokenOf, type Name, type TestDesk } from './support/desk.js';
import {
  call,
  ofType,
  pay,
  say,
  startWorld,
  until,
  warnings,
  type World,
} from './support/world.js';

let world: World;
let desk: TestDesk;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ config: treeConfig({ serviceUrl: world.service.url }) });
  desk = await startDesk(world);
});
afterAll(async () => {
  await desk?.stop();
  await world?.stop();
});

const asks = (name: string, prompt = 'Look at order 1.') => call('agent', { name, prompt });

/** A root that asks its auditor, which does this. */
function tree(
  runId: string,
  auditor: readonly ScriptedAnswer[],
  clerk?: readonly ScriptedAnswer[],
) {
  world.script(`${runId}:a1`, auditor);
  if (clerk !== undefined) world.script(`${runId}:a1:a1`, clerk);
  return world.start({
    agent: 'refund-desk',
    runId,
    task: { goal: 'Serve the customer.', caller: idOf('mia') },
    replies: [asks('auditor'), say('All done.')],
  });
}

/** The one question that waits below this run. */
function askUnder(root: string): Promise<AskRow> {
  const query = { under: root, pendingOnly: true, limit: 5 };
  return until(
    `a question under ${root}`,
    async () => (await world.store.listAsks('default', query))[0],
  );
}

async function command(words: readonly string[], as?: Name, folder = '/nowhere') {
  let out = '';
  let err = '';
  const { place, storePlace } = world;
  const variables =
    as === undefined
      ? {
          HOLDFAST_STORE: storePlace,
          HOLDFAST_ADDRESS: place.address,
          HOLDFAST_NAMESPACE: place.namespace,
        }
      : { HOLDFAST_TOKEN: tokenOf(as), HOLDFAST_DESK_URL: desk.url };
  const code = await runCli(words, {
    environment: { variables, folder, colour: false, interactive: false, ...PATIENT },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test('A question of a sub-agent is listed under its root with the agents on the way, and not approved by who asked for the root.', async () => {
  const run = await tree(
    'asked',
    [asks('clerk'), say('Audited.')],
    [pay('pay.asked'), say('Paid.')],
  );
  const ask = await askUnder('asked');
  const place = {
    runId: 'asked:a1:a1',
    root: 'asked',
    agentPath: ['refund-desk', 'auditor', 'clerk'],
  };
  const waiting = { kind: 'waiting', status: 'awaiting_approval', asks: [place] };
  expect(await run.outcome({ timeoutMs: 20_000 })).toMatchObject(waiting);
  const body = { body: { items: [{ askId: ask.askId, ...place }] } };
  for (const runId of ['asked', 'asked:a1', 'asked:a1:a1']) {
    expect(await desk.get(`/v1/approvals?runId=${runId}`)).toMatchObject(body);
    expect(await desk.get(`/v1/inbox?runId=${runId}`)).toMatchObject(body);
  }
  expect((await desk.get('/v1/approvals?runId=asked:a2')).body).toMatchObject({ items: [] });
  expect(await desk.get('/v1/runs/asked')).toMatchObject({ body: { pending: [place] } });
  expect(await desk.get(`/v1/approvals/${encodeURIComponent(ask.askId)}`)).toMatchObject({
    body: place,
  });

  const listed = await command(['approvals', '--run', 'asked', '--json']);
  expect(JSON.parse(listed.out)).toMatchObject({ asks: [place] });
  expect((await command(['approvals', '--run', 'asked'])).out).toContain(
    'refund-desk › auditor › clerk',
  );
  const shown = await command(['show', 'asked']);
  expect(shown.out).toContain('refund-desk › auditor › clerk');
  expect(shown.out).toMatch(new RegExp(`holdfast approve .*${ask.askId}`));
  expect(shown.out).toContain('sub-agent refund-desk › auditor: running, asked:a1');
  const runs = await command(['list', '--root', 'asked']);
  expect(runs.out).toContain('refund-desk › auditor › clerk');
  expect(runs.out).not.toContain('All done');
  expect(await desk.get('/v1/runs?root=asked')).toMatchObject({
    body: { items: [{ runId: 'asked:a1:a1' }, { runId: 'asked:a1', root: 'asked' }] },
  });

  const own = await command(['approve', ask.askId], 'mia');
  expect(own).toMatchObject({ code: 1, err: expect.stringContaining('own request') });
  const { code } = await command(['approve', ask.askId], 'ann');
  expect(code).toBe(0);
  const { result } = await world.ended(run);
  expect(result).toMatchObject({ status: 'completed' });
  expect(world.service.visits('asked:a1:a1', 'effect')).toHaveLength(1);
});

test('A mode, a message and an interrupt of the root go down to every sub-agent below it.', async () => {
  const payAgain = [pay('pay.asked'), call('notes.write', { item: 'i' }), say('Not paid.')];
  const run = await tree('told', [asks('clerk'), say('Audited.')], payAgain);
  const ask = await askUnder('told');
  await world.client.message('told', 'Leave order 2.', 'm1');
  await world.client.handle('told').setPermissionMode('plan');
  // What may no longer be executed is asked no longer.
  await until(
    'the end of the question',
    async () =>
      (await world.store.getAsk('default', ask.askId))?.outcome === 'withdrawn' || undefined,
  );
  expect(await world.ended(run)).toMatchObject({ result: { status: 'completed' } });
  const clerk = await world.events('told:a1:a1');
  expect(ofType(clerk, 'user_message').map(({ text }) => JSON.stringify(text))).toEqual([
    expect.stringContaining('Leave order 2.'),
  ]);
  expect(warnings(clerk)).toEqual(['permission_mode']);
  expect(ofType(await world.events('told:a1'), 'user_message')).toHaveLength(1);
  expect(world.service.visits('told:a1:a1', 'effect')).toHaveLength(0);

  const stopped = await tree('stopped', [asks('clerk')], [pay('pay.asked')]);
  await askUnder('stopped');
  await stopped.interrupt();
  expect((await world.ended(stopped)).result.stopReason).toBe('interrupted');
  for (const runId of ['stopped:a1', 'stopped:a1:a1']) {
    const row = await world.store.getRun('default', runId);
    expect(row).toMatchObject({ stopReason: 'interrupted' });
  }
});

test('A root is watched with the events of its sub-agents under their calls, or without them.', async () => {
  const read = call('facts.read', { item: 'sky' });
  const run = await tree('seen', [asks('clerk'), say('Audited.')], [read, say('Read.')]);
  await world.ended(run);
  const watched = await command(['watch', 'seen']);
  expect(watched.code).toBe(0);
  const lines = watched.out.split('\n');
  const at = (words: string): number => lines.findIndex((line) => line.includes(words));
  const places = [
    'tool       agent {"name":"auditor"',
    'start      refund-desk › auditor auditor',
    'start      refund-desk › auditor › clerk auditor/clerk',
    'model      refund-desk › auditor › clerk “Read.”',
    'model      refund-desk › auditor “Audited.”',
    'model      “All done.”',
  ].map(at);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);

  const spoken = await command(['transcript', 'seen']);
  const parts = [
    'Sub-agent refund-desk › auditor\n',
    'auditor › clerk\n',
    'Read.',
    'End of sub-agent',
  ];
  const found = parts.map((part) => spoken.out.indexOf(part));
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  expect(found).not.toContain(-1);
  expect(JSON.parse((await command(['transcript', 'seen', '--json'])).out)).toMatchObject({
    id: 'seen',
    subAgents: [
      {
        runId: 'seen:a1',
        agentPath: ['refund-desk', 'auditor'],
        subAgents: [{ runId: 'seen:a1:a1', subAgents: [] }],
      },
    ],
  });
  expect((await command(['transcript', 'seen', '--no-tree'])).out).not.toContain('Sub-agent');
  // The desk tells the same.
  expect((await command(['transcript', 'seen'], 'ann')).out).toBe(spoken.out);
  const overDesk = await desk.get('/v1/runs/seen/transcript');
  expect(overDesk.body).not.toHaveProperty('subAgents');

  const json = async (...words: readonly string[]) =>
    (await command(['watch', 'seen', '--json', ...words])).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown> & { stamp: { runId: string } });
  const events = await json();
  const callOf = (runId: string): unknown =>
    events.find(({ type, stamp }) => type === 'tool_started' && stamp.runId === runId)?.['callId'];
  for (const { stamp, parent_tool_use_id: call } of events) {
    const parent = stamp.runId.slice(0, stamp.runId.lastIndexOf(':a'));
    expect(call).toBe(stamp.runId === 'seen' ? undefined : callOf(parent));
  }
  expect(new Set(events.map(({ stamp }) => stamp.runId)).size).toBe(3);
  expect(events.at(-1)).toMatchObject({ type: 'run_result', stamp: { runId: 'seen' } });
  const own = await json('--no-tree');
  expect(own).toEqual(events.filter(({ stamp }) => stamp.runId === 'seen'));
  const last = own.at(-1)!.stamp as unknown as { seq: number };
  expect(await json('--since', String(last.seq))).toEqual(own.slice(-1));
});

test('The tree of a run is told with statuses, costs and what all paid by route, to the desk and to the command.', async () => {
  const read = call('facts.read', { item: 'sky' });
  const run = await tree('paid', [asks('clerk'), say('Audited.')], [read, say('Read.')]);
  const { result } = await world.ended(run);
  const { status, body } = await desk.get('/v1/runs/paid/tree');
  expect(status).toBe(200);
  const told = body as unknown as RunTree;
  const ended = { status: 'completed', completedAt: expect.any(Number) };
  expect(told.runs).toMatchObject([
    { runId: 'paid', depth: 0, agent: 'refund-desk', ...ended },
    { runId: 'paid:a1', parent: 'paid', depth: 1, agentPath: ['refund-desk', 'auditor'], ...ended },
    { runId: 'paid:a1:a1', parent: 'paid:a1', depth: 2, ...ended },
  ]);
  // Two replies of each of three runs.
  expect(told.routes).toMatchObject([{ calls: 6, costMicroUsd: result.costMicroUsd }]);
  expect(told.routes[0]!.usage).toMatchObject(result.usage);
  expect(told.runs.map(({ routes }) => routes.map(({ calls }) => calls))).toEqual([[2], [2], [2]]);
  expect((await desk.get('/v1/runs/paid:a1/tree')).body).toMatchObject({
    runs: [
      { runId: 'paid:a1', depth: 0 },
      { runId: 'paid:a1:a1', parent: 'paid:a1' },
    ],
  });
  expect((await desk.get('/v1/runs/nobody/tree')).status).toBe(404);

  const shown = await command(['show', 'paid']);
  expect(shown.out).toMatch(/paid to \S+: 6 replies, .* with the runs below it/);
  expect(shown.out).toMatch(/sub-agent refund-desk › auditor: completed, \S+, paid:a1\n/);
  for (const as of [undefined, 'ann'] as const) {
    const { out } = await command(['show', 'paid', '--json'], as);
    expect(JSON.parse(out)).toMatchObject({ routes: told.routes });
  }
});

test('A tree is one file: exported, redacted, replayed, inspected and compared without a server; a run alone is still a file of its own.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-trees-'));
  try {
    const read = call('facts.read', { item: 'sky' });
    const run = await tree(
      'kept',
      [asks('clerk', 'Look at IBAN-4711.'), say('Audited.')],
      [read, say('IBAN-4711 was read.')],
    );
    await world.ended(run);
    const json = async (...words: readonly string[]) => {
      const { code, out, err } = await command([...words, '--json'], undefined, folder);
      return { code, err, data: out === '' ? undefined : (JSON.parse(out) as unknown) };
    };
    const ids = ['kept:a1', 'kept:a1:a1'];
    const exported = await json('export', 'kept', '-o', 'tree.json');
    expect(exported).toMatchObject({ code: 0, data: { members: ids, absent: [] } });
    // Written in pieces, it is what is read whole.
    const [written, whole] = [
      await readBundle(join(folder, 'tree.json')),
      await exportTree(
        { ...world.place, store: world.store },
        { tenant: 'default', runId: 'kept' },
      ),
    ];
    expect({ ...written, exportedAt: 0 }).toEqual({ ...whole, exportedAt: 0 });
    expect(exported.data).toMatchObject({
      events: whole.events.length,
      nodes: Object.keys(whole.nodes).length,
      blobs: Object.keys(whole.blobs).length,
    });
    const replayed = { code: 0, data: { equal: true, members: ids.map((runId) => ({ runId })) } };
    expect(await json('replay', 'tree.json')).toMatchObject(replayed);
    expect(await json('replay', 'kept')).toMatchObject(replayed);

    const told = (await json('inspect', 'tree.json')).data as { readonly tree: readonly object[] };
    expect(told.tree).toMatchObject([
      { runId: 'kept', agent: 'refund-desk', status: 'completed', depth: 0 },
      { runId: 'kept:a1', parent: 'kept', agentPath: ['refund-desk', 'auditor'], depth: 1 },
      { runId: 'kept:a1:a1', parent: 'kept:a1', depth: 2, costMicroUsd: expect.any(Number) },
    ]);
    expect((await json('inspect', 'kept')).data).toMatchObject({ tree: told.tree });
    const moment = ['--run', 'a1:a1', '--at', 'last'];
    const ofFile = await json('inspect', 'tree.json', ...moment);
    const { source: _, ...kept } = ofFile.data as Record<string, unknown>;
    expect(kept).toMatchObject({ runId: 'kept:a1:a1' });
    expect((await json('inspect', 'kept', ...moment)).data).toEqual({ ...kept, source: 'run' });
    expect(await json('diff', 'kept', 'tree.json')).toMatchObject({
      code: 0,
      data: { equal: true, below: [{ run: 'a1' }, { run: 'a1:a1' }] },
    });

    writeFileSync(
      join(folder, 'rules.json'),
      JSON.stringify({ rules: [{ name: 'iban', regex: 'IBAN-\\d+' }] }),
    );
    const hidden = await json('export', 'kept', '-o', 'hidden.json', '--redact', 'rules.json');
    expect(hidden).toMatchObject({ code: 0, data: { members: ids } });
    const both = await redactedBothWays(world, whole, [{ name: 'iban', pattern: /IBAN-\d+/g }]);
    expect(both.places).toBeGreaterThan(1);
    expect(both.streamed).toBe(both.held);
    const text = readFileSync(join(folder, 'hidden.json'), 'utf8');
    const { blobs, nodes, events } = JSON.parse(text) as Record<string, unknown>;
    expect(JSON.stringify([blobs, nodes, events])).not.toContain('IBAN-4711');
    expect(text).not.toContain(Buffer.from('IBAN-4711').toString('base64').slice(0, 10));
    expect(await json('replay', 'hidden.json')).toMatchObject(replayed);

    const alone = await json('export', 'kept', '-o', 'alone.json', '--alone');
    expect(alone).toMatchObject({ code: 0, data: { members: [] } });
    expect(JSON.parse(readFileSync(join(folder, 'alone.json'), 'utf8'))).toMatchObject({ v: 1 });
    expect(await json('bundles', folder)).toMatchObject({ data: { equal: 3 } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
