/** Cases in the documents can be read, and those that need no project pass. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { parseFixture } from '../../evaluation/read-fixture.js';
import { documentsIn } from '../../lab/words/places.js';

const ROOT = join(__dirname, '..', '..');
const CASES = documentsIn(ROOT).flatMap((document) =>
  [...readFileSync(join(ROOT, document), 'utf8').matchAll(/^```json\n([\s\S]*?)^```$/gm)]
    .map(([, text]) => text!)
    .filter((text) => text.includes('"case_id"'))
    .map((text) => [document, text] as const),
);

test('there are some', () => {
  expect(CASES.length).toBeGreaterThan(1);
});

test.each(CASES)('a case of %s can be read', (document, text) => {
  expect(parseFixture(text, document).caseId).toMatch(/\w/);
});

test.each(CASES.filter(([, text]) => !text.includes('"config"')))(
  'a case of %s passes in the simulation',
  async (_document, text) => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-case-'));
    let said = '';
    const hear = (words: string) => void (said += words);
    try {
      writeFileSync(join(folder, 'case.json'), text);
      await runCli(['eval', 'case.json', '--engine', 'simulation'], {
        environment: { variables: {}, folder, colour: false, interactive: false },
        streams: { out: hear, err: hear },
      });
      expect(said).toContain('1 passed, 0 failed, 0 skipped');
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
