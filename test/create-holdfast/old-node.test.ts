import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { oldNodeText } from '../../create-holdfast/old-node.js';

const ROOT = join(__dirname, '..', '..');

test.each(['18.20.8', '20.18.3', '16.0.0', '0.12.18'])(
  'Node %s is told to be too old',
  (version) => {
    expect(oldNodeText(version)).toMatch(`Node 20.19 or newer; this is Node ${version}.`);
    expect(oldNodeText(version)).toContain('Install a newer one');
  },
);

test.each(['20.19.0', '22.1.0', '24.21.0', process.versions.node])(
  'Node %s is new enough',
  (version) => {
    expect(oldNodeText(version)).toBeUndefined();
  },
);

test.each(['package.json', 'create-holdfast/package.json'])('%s asks for the same Node', (file) => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as {
    engines: { node: string };
  };
  const [least = ''] = /\d+\.\d+/.exec(engines.node) ?? [];
  expect(oldNodeText(`${least}.0`)).toBeUndefined();
  expect(oldNodeText(`${least.split('.')[0]}.${Number(least.split('.')[1]) - 1}.0`)).toBeDefined();
});
