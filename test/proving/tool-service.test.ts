import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type * as ToolServices from '../../lab/proving/tool-service-process';
import { compiled, compiledPath } from '../compiled';
import { describeWithMaterial, TAU2, TAU_BENCH } from './material';

type ToolService = ToolServices.ToolService;
const { startToolService } = compiled<typeof ToolServices>('lab/proving/tool-service-process.ts');
const DATABASE = join(TAU2, 'retail', 'db.json');
const CANCEL = {
  run: 'run-1',
  tool: 'cancel_pending_order',
  args: { order_id: '#W4836353', reason: 'no longer needed' },
  key: 'run-1/7',
  callId: 'call_7',
};

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

describeWithMaterial('the tool service', () => {
  let dataDir: string;
  let service: ToolService;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'holdfast-tools-'));
    service = await startToolService({
      domain: 'retail',
      mode: 'keys',
      databaseFiles: [DATABASE],
      dataDir,
    });
  });
  afterEach(async () => {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function get(path: string): Promise<Reply> {
    const response = await fetch(`${service.url}${path}`);
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  }

  async function call(body: unknown): Promise<Reply> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${service.url}/call`, { method: 'POST', body: text });
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  }

  async function ledger(run: string): Promise<Record<string, unknown>[]> {
    return (await get(`/ledger?run=${run}`)).body['rows'] as Record<string, unknown>[];
  }

  test('applies a keyed write once, however often it is called', async () => {
    const first = await call(CANCEL);
    const second = await call({ ...CANCEL, attempt: 2 });
    expect(first.body).toMatchObject({ error: false, replayed: false });
    expect(second.body).toEqual({ ...first.body, replayed: true });
    expect(await ledger('run-1')).toMatchObject([
      { seq: 1, tenant: 'default', step: 'call_7', key: 'run-1/7', attempt: 1 },
    ]);
  });

  test('refuses a key that belongs to another call', async () => {
    await call(CANCEL);
    const other = await call({ ...CANCEL, args: { ...CANCEL.args, reason: 'ordered by mistake' } });
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'KeyConflict' } } });
    expect((await call({ ...CANCEL, run: 'run-2' })).status).toBe(409);
    expect(await ledger('run-1')).toHaveLength(1);
  });

  test('keeps a refusal under its key without a ledger row or a change', async () => {
    const refused = { ...CANCEL, args: { ...CANCEL.args, reason: 'none' } };
    expect((await call(refused)).body).toMatchObject({
      content: 'Error: Invalid reason',
      error: true,
    });
    expect((await call(refused)).body).toMatchObject({ error: true, replayed: true });
    expect((await get('/find?key=run-1/7')).body).toMatchObject({ found: true, error: true });
    expect(await ledger('run-1')).toEqual([]);
    expect((await get('/changes?run=run-1')).body).toEqual({});
  });

  test('counts every unkeyed write that took effect', async () => {
    const address = { address1: '1', address2: '', city: 'A', state: 'B', country: 'C', zip: '1' };
    const write = {
      run: 'r',
      tool: 'modify_user_address',
      args: { user_id: 'noah_brown_6181', ...address },
    };
    await call(write);
    await call(write);
    expect(await ledger('r')).toMatchObject([{ key: null }, { key: null }]);
  });

  test('keeps runs apart and tells what each one changed', async () => {
    await call(CANCEL);
    const read = { run: 'run-2', tool: 'get_order_details', args: { order_id: '#W4836353' } };
    expect((await call(read)).body['content']).toContain('"status": "pending"');
    const changes = (await get('/changes?run=run-1')).body as Record<
      string,
      Record<string, object>
    >;
    expect(changes['orders']?.['#W4836353']).toMatchObject({ status: 'cancelled' });
    expect((await get('/changes?run=run-2')).body).toEqual({});
  });

  test('remembers effects, results and ledger over kill -9', async () => {
    const first = await call(CANCEL);
    process.kill(service.pid, 'SIGKILL');
    await service.stop();
    service = await startToolService({
      domain: 'retail',
      mode: 'keys',
      databaseFiles: [DATABASE],
      dataDir,
    });
    expect((await get('/find?key=run-1/7')).body).toMatchObject({
      found: true,
      content: first.body['content'],
    });
    expect((await get('/find?key=run-1/8')).body).toEqual({ found: false });
    expect((await call({ ...CANCEL, attempt: 2 })).body).toEqual({ ...first.body, replayed: true });
    const again = await call({ ...CANCEL, key: 'run-1/8' });
    expect(again.body['content']).toBe('Error: Non-pending order cannot be cancelled');
    expect(await ledger('run-1')).toHaveLength(1);
  });

  test('has a ledger that cannot be changed', async () => {
    await call(CANCEL);
    const file = new Sqlite(join(dataDir, 'tool-service.sqlite'));
    expect(() => file.exec('DELETE FROM ledger')).toThrow('append-only');
    expect(() => file.exec('UPDATE ledger SET attempt = 9')).toThrow('append-only');
    file.close();
  });

  test.each<[string, unknown, number]>([
    ['no JSON', '{', 400],
    ['no tool', { run: 'r', args: {} }, 400],
    ['arguments that are no object', { run: 'r', tool: 't', args: [] }, 400],
    [
      'endless nesting',
      `{"run":"r","tool":"think","args":{"a":${'['.repeat(500)}${']'.repeat(500)}}}`,
      400,
    ],
    ['too large a body', `{"run":"${'x'.repeat(1_100_000)}"}`, 413],
  ])('answers a call with %s as an error and goes on', async (_, body, status) => {
    expect((await call(body)).status).toBe(status);
    expect((await get('/health')).body).toEqual({ ok: true });
  });

  test('that ignores keys applies a repeated call again, and writes every arrival down', async () => {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
    service = await startToolService({
      domain: 'airline',
      mode: 'nokeys',
      databaseFiles: [join(TAU_BENCH, 'airline', 'data')],
      dataDir,
    });
    const args = { user_id: 'mia_li_3668', amount: 100 };
    const send = { run: 'r', tool: 'send_certificate', args, key: 'r:1' };
    const first = await call(send);
    const second = await call(send);
    expect([first.body['replayed'], second.body['replayed']]).toEqual([false, false]);
    expect(second.body['content']).toContain('certificate_3221323');
    expect(await ledger('r')).toMatchObject([
      { key: 'r:1', result: first.body['content'] },
      { key: 'r:1', result: second.body['content'] },
    ]);
    await call({ ...send, args: { user_id: 'nobody', amount: 1 }, key: 'r:2' });
    const arrived = { run: 'r', tool: 'get_user_details', args: { user_id: 'mia_li_3668' } };
    await call(arrived);
    expect((await get('/arrivals?run=r')).body['rows']).toEqual([
      { key: 'r:1', tool: 'send_certificate' },
      { key: 'r:1', tool: 'send_certificate' },
      { key: 'r:2', tool: 'send_certificate' },
    ]);
    expect(await ledger('r')).toHaveLength(2);
    expect((await get('/find?key=r:1')).body).toEqual({ found: false });
  });

  test('answers unknown paths and missing parameters', async () => {
    expect((await get('/nothing')).status).toBe(404);
    expect((await get('/find')).status).toBe(400);
    expect((await get('/changes')).status).toBe(400);
  });
});

describeWithMaterial('the tool service process', () => {
  test('stops when its parent goes away', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-tools-'));
    const source = join(__dirname, '..', '..', 'lab', 'proving', 'tool-service.ts');
    const flags = [
      compiledPath(source),
      '--domain',
      'retail',
      '--database',
      DATABASE,
      '--data-dir',
      dataDir,
    ];
    const child = spawn(process.execPath, flags, { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const exit = once(child, 'exit');
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('that cannot read its database is reported, not waited for', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-tools-'));
    await expect(
      startToolService({
        domain: 'retail',
        mode: 'keys',
        databaseFiles: ['no-such.json'],
        dataDir,
      }),
    ).rejects.toThrow('did not start');
    rmSync(dataDir, { recursive: true, force: true });
  });
});
