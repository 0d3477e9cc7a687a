import type { Link } from '../../../client/link.js';
import { listRuns } from '../../../client/read/lists.js';

test.each([{ costFrom: 1 }, { costTo: 1 }, { before: { startedAt: 1, runId: 'r' } }])(
  'without a store nobody pretends to have looked for %p',
  async (query) => {
    const link = { store: undefined } as Link;
    await expect(listRuns(link, { limit: 1, ...query })).rejects.toMatchObject({
      code: 'StoreUnavailable',
      hint: expect.any(String),
    });
  },
);
