/** Histories as JSON where an installation has several copies of protobufjs, as most projects of users have. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyJson, historyJsonOf } from '../../activities/history-json.js';

const ROOT = join(__dirname, '..', '..');
const MODULES = join(ROOT, 'node_modules');
const BUNDLE = join(ROOT, 'test', 'replay', 'histories', '0.1.0', 'continue-as-new.json');
const { segments } = JSON.parse(readFileSync(BUNDLE, 'utf8'));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-protobufjs-'));
  for (const name of ['common', 'proto']) {
    const place = join(folder, 'node_modules', '@temporalio', name);
    cpSync(join(MODULES, '@temporalio', name), place, { recursive: true });
    cpSync(join(MODULES, 'protobufjs'), join(place, 'node_modules', 'protobufjs'), {
      recursive: true,
    });
  }
  for (const name of ['long', 'nexus-rpc']) {
    symlinkSync(join(MODULES, name), join(folder, 'node_modules', name));
  }
  cpSync(join(MODULES, 'ms'), join(folder, 'node_modules', 'ms'), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inFolder = () => createRequire(join(folder, 'index.js'));

test('the SDK alone cannot read a history where its packages have a copy of protobufjs each', () => {
  const { historyFromJSON } = inFolder()('@temporalio/common/lib/proto-utils');
  expect(() => historyFromJSON({ events: segments[0].events })).toThrow('type must be a Type');
});

test('histories are read and written where its packages have a copy of protobufjs each', () => {
  const json = historyJsonOf(inFolder().resolve('@temporalio/common'));
  for (const { events } of segments) {
    const history = json.read({ events });
    expect(history.events).toHaveLength(events.length);
    expect(JSON.parse(json.write(history))).toEqual({ events });
  }
});

test('histories are read and written with what this installation has', () => {
  const { events } = segments[0];
  expect(JSON.parse(historyJson().write(historyJson().read({ events })))).toEqual({ events });
});
