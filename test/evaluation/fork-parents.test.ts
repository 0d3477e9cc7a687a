/** Live forks of runs that had others work for them. */
import { join } from 'node:path';
import { liveFork } from '../../evaluation/fork/live.js';
import { foldOf } from '../../recording/fold.js';
import { readBundle } from '../../replay/read-bundle.js';

const KEPT = join(__dirname, '..', '..', 'histories', 'rules-18');

test.each(['S178', 'handoffs-new-run'])(
  'a run that started others is forked dry only: %s',
  async (name) => {
    const bundle = await readBundle(join(KEPT, `${name}.json.gz`));
    const fold = foldOf(bundle);
    if (fold.kind !== 'run') throw new Error('a run was kept');
    const place = { bundle, fold, step: 2 };
    await expect(liveFork(place, { changes: {}, source: 'run' })).rejects.toMatchObject({
      code: 'ForkRefused',
      message: expect.stringContaining('started other runs'),
    });
  },
);
