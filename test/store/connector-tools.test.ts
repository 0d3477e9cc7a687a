/** Tools of connectors: what is met first is approved as it is, whatever else is met at the same moment. */
import { cleanUp, databaseNow, newStore, onlyOn, type Opened } from './fixtures.js';

afterEach(cleanUp);

/** The same store of another process, where one process can have it twice without waiting for itself. */
async function reopened({ store, place }: Opened): Promise<Opened['store']> {
  return databaseNow() === 'postgres' ? (await newStore(place)).store : store;
}

const met = (connector: string, hash: string) => ({
  tenant: 't',
  connector,
  at: 1,
  tools: [{ name: `${connector}__read`, version: hash, hash, pinned: '{}' }],
});

test('two workers meet a connector at once, and its server says something else to each: one of both counts', async () => {
  const opened = await newStore();
  const { store } = opened;
  const other = await reopened(opened);
  const connectors = Array.from({ length: 12 }, (_, index) => `c${index}`);
  await Promise.all(
    connectors.flatMap((connector) => [
      store.meetTools(met(connector, 'a')),
      other.meetTools(met(connector, 'b')),
    ]),
  );
  for (const connector of connectors) {
    const rows = await store.listConnectorTools('t', connector, 10);
    expect(rows).toHaveLength(2);
    expect(rows.filter(({ approved }) => approved !== undefined)).toHaveLength(1);
  }
});

test('two workers meet the same description at once: it is approved', async () => {
  const opened = await newStore();
  const { store } = opened;
  const other = await reopened(opened);
  const both = await Promise.all([
    store.meetTools(met('shop', 'a')),
    other.meetTools(met('shop', 'a')),
  ]);
  for (const [row] of both) expect(row).toMatchObject({ hash: 'a', approved: { at: 1 } });
});

onlyOn('postgres')(
  'somebody approves a description while a worker meets another version with it: both are approved',
  async () => {
    const { store, place } = await newStore();
    const other = (await newStore(place)).store;
    const version = (number: string) => {
      const { tools, ...seen } = met('shop', 'a');
      return { ...seen, tools: tools.map((tool) => ({ ...tool, version: number })) };
    };
    await store.meetTools(met('shop', 'first'));
    await store.meetTools(version('1'));
    let approving: Promise<number> | undefined;
    await store.together(async (calls) => {
      await calls.meetTools(version('2'));
      approving = other.approveTools({
        tenant: 't',
        connector: 'shop',
        hashes: ['a'],
        by: 'mia',
        at: 2,
      });
      // Long enough for whoever waits for nobody.
      for (let look = 0; look < 50; look += 1) await other.listConnectorTools('t', 'shop', 10);
    });
    expect(await approving).toBe(2);
    const rows = await store.listConnectorTools('t', 'shop', 10);
    expect(rows.filter(({ approved }) => approved === undefined)).toEqual([]);
  },
);
