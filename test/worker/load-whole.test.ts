/** Compiled modules of a package are loaded with all that they lead to, beside other work. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadWhole } from '../../worker/load-whole.js';
import { until } from '../integration/support/world.js';

interface Told {
  loadedModules?: string[];
}
const told = globalThis as Told;

let folder: string;

/** Each says that it has been loaded, and asks for others when it is used. */
function module(name: string, asksFor: readonly string[], work = ''): string {
  const late = asksFor.map((other) => `const late=()=>require("${other}");`).join('\n');
  const file = join(folder, `${name}.js`);
  writeFileSync(file, `globalThis.loadedModules.push("${name}");{${late}}${work}`);
  return file;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'load-whole-'));
  told.loadedModules = [];
});

afterEach(() => rmSync(folder, { recursive: true }));

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

  const slowly = loadWhole(first, 200);
  await until('the third', () => told.loadedModules!.includes('third') || undefined);
  await loadWhole(second);

  expect(told.loadedModules).toEqual(expect.arrayContaining(['third', 'fourth']));
  await slowly;
});
