/** Compiled modules of a package are loaded with all that they lead to, beside other work. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadedIn, loadWhole, type Leisurely } from '../../worker/load-whole.js';
import { compiledPath } from '../compiled.js';
import { until } from '../integration/support/world.js';

interface Told {
  loadedModules?: string[];
}
const told = globalThis as Told;

let folder: string;

/** Each says that it has been loaded, and asks for others when it is used. */
function module(name: string, asksFor: readonly string[], work = ''): string {
  const late = asksFor.map((other) => `()=>require("${other}");`).join('');
  const file = join(folder, `${name}.js`);
  writeFileSync(file, `globalThis.loadedModules.push("${name}");${late}${work}`);
  return file;
}

function leisurely(restMs: number): Leisurely {
  return { restMs, signal: new AbortController().signal };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'load-whole-'));
  told.loadedModules = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('with what is asked for late, once each, in circles as well', async () => {
  const first = module('first', ['./second.js']);
  module('second', ['./first.js']);

  await loadWhole(first);
  await loadWhole(join(folder, 'second.js'));

  expect(told.loadedModules).toEqual(['first', 'second']);
});

test('also where a module or a package does not load', async () => {
  const first = module('first', ['./broken.js']);
  module('broken', ['no-such-package'], 'throw new Error("broken");');
  writeFileSync(join(folder, 'next.js'), 'globalThis.loadedModules.push("next");');
  writeFileSync(first, `require("./broken.js");require("./next.js");`);

  await loadWhole(first);

  expect(told.loadedModules).toEqual(expect.arrayContaining(['broken', 'next']));
});

test('two that load the same at once both end with all of it', async () => {
  const slow = 'for (const end = Date.now() + 10; Date.now() < end;);';
  const first = module('first', ['./third.js'], slow);
  const second = module('second', ['./third.js'], slow);
  module('third', ['./fourth.js'], slow);
  module('fourth', [], slow);

  const slowly = loadWhole(first, leisurely(200));
  await until('the third', () => told.loadedModules!.includes('third') || undefined);
  await loadWhole(second);

  expect(told.loadedModules).toEqual(expect.arrayContaining(['third', 'fourth']));
  await slowly;
});

test('of a folder those are known that have been loaded', async () => {
  const first = module('first', []);
  module('second', []);

  await loadWhole(first);

  expect(loadedIn(folder)).toEqual([first]);
  expect(loadedIn(`${folder.slice(0, -1)}`)).toEqual([]);
});

test('what ends meanwhile loads no more', async () => {
  const slow = 'for (const end = Date.now() + 10; Date.now() < end;);';
  const first = module('first', ['./second.js'], slow);
  module('second', []);
  const ended = new AbortController();

  const loading = loadWhole(first, { restMs: 0, signal: ended.signal });
  ended.abort();
  await loading;

  expect(told.loadedModules).toEqual(['first']);
  await loadWhole(first);
  expect(told.loadedModules).toEqual(['first', 'second']);
});

test('a file that was not there is looked for anew, with all that it leads to', async () => {
  const first = module('first', ['./second.js', './missing.js']);
  module('second', ['./third.js']);
  module('third', []);

  await expect(loadWhole(first)).rejects.toThrow('missing.js');
  module('missing', []);
  await loadWhole(first);

  expect(told.loadedModules!.toSorted()).toEqual(['first', 'missing', 'second', 'third']);
});

test('what is loaded is used when its files are gone', () => {
  const first = JSON.stringify(join(folder, 'first.js'));
  writeFileSync(join(folder, 'first.js'), `exports.late = () => require("./second.js");`);
  writeFileSync(join(folder, 'second.js'), `exports.word = 'kept';`);
  const program = `
    const { loadWhole } = require(${JSON.stringify(compiledPath('worker/load-whole.ts'))});
    void loadWhole(${first}).then(() => {
      const { late } = require(${first});
      require('node:fs').rmSync(${JSON.stringify(folder)}, { recursive: true });
      console.log(late().word);
    });`;

  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
    timeout: 30_000,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  });

  expect({ stdout, stderr }).toEqual({ stdout: 'kept\n', stderr: '' });
});
