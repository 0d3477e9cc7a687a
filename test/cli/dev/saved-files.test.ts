/** Which saved files `holdfast dev` sees, and which of them are code. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectCode } from '../../../cli/dev/project-code.js';
import { projectFiles } from '../../../cli/dev/project-files.js';
import { watchFiles, type WatchSettings } from '../../../cli/dev/watcher.js';
import { replaceFile, writeNewFile } from '../../../cli/new-file.js';
import { wasWritten } from '../../../cli/written.js';
import { compiledPath } from '../../compiled.js';
import { until } from '../../until.js';

const ROOT = join(__dirname, '..', '..', '..');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-saved-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the watcher', () => {
  const named = (file: string) => join(folder, file);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(named(file)), { recursive: true });
    writeFileSync(named(file), text);
  };

  /** Gives what is told, and how many looks have begun. */
  async function watching(
    settings: Partial<WatchSettings>,
    during: (told: string[], looks: () => number) => Promise<void>,
  ): Promise<void> {
    const told: string[] = [];
    let looks = 0;
    const watcher = await watchFiles({
      folders: () => {
        looks += 1;
        return [folder];
      },
      changed: (files) => void told.push(...files.map(({ file }) => file)),
      everyMs: 5,
      ...settings,
    });
    try {
      await during(told, () => looks);
    } finally {
      watcher.stop();
    }
  }

  test('tells of files that were written, made and removed, and of nothing else', async () => {
    write('a.ts', '1');
    write('b.md', '1');
    await watching({}, async (told) => {
      write('a.ts', '22');
      await until(() => told.includes(named('a.ts')));
      write('ignored.log', '1');
      write('.hidden.ts', '1');
      write('c.json', '1');
      await until(() => told.includes(named('c.json')));
      rmSync(named('b.md'));
      await until(() => told.includes(named('b.md')));
      expect(told).toEqual([named('a.ts'), named('c.json'), named('b.md')]);
    });
  });

  test('a folder that is looked at for the first time has no news, and one that is gone ends nothing', async () => {
    let folders = [join(folder, 'none')];
    write('a.ts', '1');
    let looks = 0;
    const asked = () => {
      looks += 1;
      return folders;
    };
    await watching({ folders: asked }, async (told) => {
      folders = [...folders, folder];
      const before = looks;
      // A look that begins is over when the one after it begins.
      await until(() => looks >= before + 2);
      write('a.ts', '22');
      await until(() => told.length > 0);
      expect(told).toEqual([named('a.ts')]);
    });
  });

  test('sees all folders below the root, those that are made later with what is in them, but no hidden ones, no packages and nothing built', async () => {
    write('agents/a.ts', '1');
    await watching({ root: folder }, async (told) => {
      write('node_modules/x/index.js', '1');
      write('.cache/x.js', '1');
      write('build/x.js', '1');
      write('dist/deep/x.js', '1');
      write('agents/a.ts', '22');
      write('jobs/new/job.ts', '1');
      await until(() => told.length > 1);
      write('prompts/words.md', '1');
      await until(() => told.length > 2);
      expect(told.toSorted()).toEqual(
        ['agents/a.ts', 'jobs/new/job.ts', 'prompts/words.md'].map(named),
      );
    });
  });

  test('sees what is built where code is loaded from it', async () => {
    write('build/agent.js', '1');
    const folders = () => [named('build')];
    await watching({ root: folder, folders }, async (told) => {
      write('build/agent.js', '22');
      await until(() => told.length > 0);
      expect(told).toEqual([named('build/agent.js')]);
    });
  });

  test('a file that is written at every look hides no other, and is told once it rests', async () => {
    write('busy.txt', '1');
    let length = 1;
    const busy = setInterval(() => writeFileSync(named('busy.txt'), '1'.repeat(length++)), 1);
    try {
      await watching({}, async (told, looks) => {
        const before = looks();
        await until(() => looks() >= before + 3);
        write('a.ts', '1');
        await until(() => told.includes(named('a.ts')));
        clearInterval(busy);
        await until(() => told.includes(named('busy.txt')));
      });
    } finally {
      clearInterval(busy);
    }
  });

  test('a file that is told again and again is told later only when it has rested', async () => {
    write('notes.txt', '1');
    await watching({ restMs: 600_000 }, async (told) => {
      for (let times = 1; times <= 5; times += 1) {
        write('notes.txt', '1'.repeat(times + 1));
        await until(() => told.length === times);
      }
      write('notes.txt', 'more than before');
      write('a.ts', '1');
      await until(() => told.includes(named('a.ts')));
      expect(told.filter((file) => file === named('notes.txt'))).toHaveLength(5);
    });
  });

  test('what is beyond the bounds is said once', async () => {
    for (let one = 0; one < 300; one += 1) mkdirSync(named(`f${one}`));
    const said: string[] = [];
    await watching({ root: folder, beyond: (what) => said.push(what) }, async (_, looks) => {
      await until(() => looks() >= 3);
      expect(said).toEqual(['256 folders']);
    });
  });
});

describe('what of saved files is code', () => {
  const write = (name: string, text: string): string => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const CONFIG = compiledPath(join(ROOT, 'index.ts'));

  /** `at`: 1 while a tool is at work, 2 while code is being loaded, 3 in the moment of a call. */
  function deciding(loaded: readonly string[] = []) {
    const outputs: string[] = [];
    const { among } = projectFiles({
      isLoaded: (file) => loaded.includes(file),
      isReport: wasWritten,
      ranCode: (at) => at === 1 || at === 3,
      ranBriefly: (at) => at === 3,
      wasLoading: (at) => at === 2,
      output: (file) => void outputs.push(file),
    });
    const isCode = (file: string, at: number, isNew = false): boolean =>
      among([{ file, at, isNew }]).length > 0;
    return { isCode, outputs };
  }

  test('is all of it, whoever names it and however', () => {
    const { isCode, outputs } = deciding();
    const files = ['/p/agents/new.ts', '/p/agents/index.ts', '/p/job.ts', '/p/words.en.md'];
    for (let times = 0; times < 9; times += 1) {
      for (const file of files) expect(isCode(file, 0, times === 0)).toBe(true);
    }
    expect(outputs).toEqual([]);
  });

  test('is no file that is written at work for the fourth time in a row; saved at another time it is again', () => {
    const { isCode, outputs } = deciding();
    const written = () => isCode('/p/orders.json', 1);
    expect([written(), written(), written(), written(), written()]).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(outputs).toEqual(['/p/orders.json']);
    expect(isCode('/p/orders.json', 0)).toBe(true);
    expect(written()).toBe(true);
    expect(isCode('/p/other.json', 1)).toBe(true);
  });

  test('is no file that is written in the moment of a call for the second time in a row', () => {
    const { isCode, outputs } = deciding();
    const written = () => isCode('/p/ledger.json', 3);
    expect([written(), written(), written()]).toEqual([true, false, false]);
    expect(outputs).toEqual(['/p/ledger.json']);
    expect(isCode('/p/ledger.json', 0)).toBe(true);
    expect([written(), written()]).toEqual([true, false]);
    expect([1, 2, 3].map((n) => isCode(`/p/out/${n}.json`, 3, true))).toEqual([true, false, false]);
  });

  test('is no new file of a kind of which tools make one after another, nor what they add to it', () => {
    const { isCode, outputs } = deciding();
    const made = [1, 2, 3, 4, 5].map((n) => isCode(`/p/out/${n}.md`, 1, true));
    expect(made).toEqual([true, true, true, false, false]);
    expect(isCode('/p/out/5.md', 1)).toBe(false);
    expect(outputs).toEqual(['/p/out/*.md']);
    expect(isCode('/p/out/mine.md', 0, true)).toBe(true);
  });

  test('is no report that a command writes into the project, whenever; but one that is loaded is', async () => {
    mkdirSync(join(folder, '.holdfast'));
    const report = join(folder, 'reports', 'past.json');
    const loaded = join(folder, 'cases', 'case.json');
    await writeNewFile('{}', { file: report, what: 'report' });
    await replaceFile(report, '{"summary":{}}');
    await writeNewFile('{}', { file: loaded, what: 'case' });
    const { isCode, outputs } = deciding([loaded]);
    expect([isCode(report, 0, true), isCode(report, 0), isCode(report, 1)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(isCode(loaded, 0)).toBe(true);
    expect(isCode(join(folder, 'reports', 'mine.json'), 0)).toBe(true);
    expect(outputs).toEqual([]);
  });

  test('is a file that was loaded, whoever writes it', () => {
    const { isCode } = deciding(['/p/a.ts']);
    for (let times = 0; times < 9; times += 1) expect(isCode('/p/a.ts', 1)).toBe(true);
  });

  test('is a source, also one that tools write; but none that each load writes anew', () => {
    const { isCode, outputs } = deciding();
    for (let times = 0; times < 9; times += 1) expect(isCode('/p/made.ts', 1)).toBe(true);
    const written = [1, 2, 3, 4].map(() => isCode('/p/generated.ts', 2));
    expect(written).toEqual([true, true, true, false]);
    expect(outputs).toEqual(['/p/generated.ts']);
  });

  test('is no file, loaded or not, that a load writes as the load before it did', () => {
    const generated = write('generated.cjs', 'exports.n = 1;');
    const { isCode } = deciding([generated]);
    expect([isCode(generated, 2), isCode(generated, 2), isCode(generated, 2)]).toEqual([
      true,
      false,
      false,
    ]);
    // Somebody saves it as it is.
    expect(isCode(generated, 0)).toBe(true);
    write('generated.cjs', 'exports.n = 2;');
    expect(isCode(generated, 2)).toBe(true);
  });

  test('was loaded also when a module loaded it later', async () => {
    const late = write('late/late.cjs', 'exports.word = 1;');
    const configFile = write(
      'holdfast.config.cjs',
      `const { defineAgent, defineConfig } = require(${JSON.stringify(CONFIG)});
       const agent = defineAgent({ name: 'a', model: 'scripted/x', instructions: 'Help.' });
       module.exports = defineConfig({ agents: [agent], scripted: () => {
         require('./late/late.cjs');
         return { text: 'Yes.' };
       } });`,
    );
    const code = projectCode({ folder, configFile });
    const config = await code.load();
    expect(code.isLoaded(configFile)).toBe(true);
    expect(code.isLoaded(late)).toBe(false);
    void config.scripted!({} as never);
    expect(code.isLoaded(late)).toBe(true);
    expect(code.wasLoading(Date.now())).toBe(true);
    expect(code.wasLoading(Date.now() - 3_600_000)).toBe(false);
  });
});
