/** Sentences that users meet name their subject: in errors, help, output, the page and the documents. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentsIn, sourcesIn } from '../../lab/words/places.js';
import {
  textsOfDocument,
  textsOfSource,
  vagueSentences,
  type Text,
} from '../../lab/words/texts.js';

const ROOT = join(__dirname, '..', '..');
const told = (texts: readonly Text[]): readonly string[] =>
  texts.flatMap((one) => vagueSentences(one).map((sentence) => `${one.file}: ${sentence}`));

test('no sentence of a source begins with It, Its, What, Whoever or Nobody', () => {
  const texts = sourcesIn(ROOT).flatMap((file) => textsOfSource(ROOT, file));
  expect(texts.length).toBeGreaterThan(5_000);
  expect(told(texts)).toEqual([]);
});

test('no sentence of a document does', () => {
  const texts = documentsIn(ROOT).flatMap((file) => textsOfDocument(ROOT, file));
  expect(texts.length).toBeGreaterThan(500);
  expect(told(texts)).toEqual([]);
});

describe('the reader of texts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-words-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const sentencesOf = (name: string, text: string): readonly string[] => {
    writeFileSync(join(folder, name), text);
    const texts = name.endsWith('.md')
      ? textsOfDocument(folder, name)
      : textsOfSource(folder, name);
    return texts.flatMap(vagueSentences);
  };

  test.each([
    ['a literal', `throw new Error('It failed.');`],
    ['a second sentence', `const hint = 'Read the log. It failed.';`],
    ['a template', 'const a = `Run ${id} ended. It failed.`;'],
    ['a text within a template', "const a = `Run ${bad ? 'It failed.' : ''}`;"],
    ['joined parts', `const a = 'Read the log. ' + 'It failed.';`],
    ['an argument of a call', `program.description('It failed.');`],
    ['a cast', `const a = 'It failed.' as string;`],
  ])('sees %s', (_, source) => {
    expect(sentencesOf('a.ts', source)).toEqual(['It failed']);
  });

  test('sees elements and their attributes', () => {
    const source = `const a = <p title="What is it">It failed.</p>;`;
    expect(sentencesOf('a.tsx', source)).toEqual(['What is it', 'It failed']);
  });

  test('passes over comments, types and the middle of a sentence', () => {
    const source = `// It failed.\ntype A = 'It failed.';\nconst a = 'Whether It failed.';`;
    expect(sentencesOf('a.ts', source)).toEqual([]);
  });

  test('sees headings, items, cells and bold words of a document, and no code', () => {
    const prose = '# What\n\n- **It** is.\n- A. Its end.\n\n| a | b |\n| - | - |\n| Nobody | x |\n';
    expect(sentencesOf('a.md', `${prose}\n\`\`\`ts\n// It is.\n\`\`\`\n`)).toEqual([
      'What',
      'It is',
      'Its end',
      'Nobody',
    ]);
  });
});
