import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { AIRLINE } from '../../lab/proving/airline/tools';
import type { Domain } from '../../lab/proving/domains/domain';
import { findDatabase } from '../../lab/proving/find-database';
import { parseRecording, readRecording, type Recording } from '../../lab/proving/recording';
import { RETAIL } from '../../lab/proving/retail/tools';
import { describeWithMaterial, MATERIAL, TAU2, TAU_BENCH } from './material';
import { asTau2, asTauBench } from './other-formats';

describeWithMaterial('the database of a recording is found by its outputs', () => {
  const retailFile = join(TAU2, 'trajectories', 'retail', 'gpt-4.1_40.json');
  const airlineFile = join(TAU_BENCH, 'trajectories', 'gpt-4o-airline.json');
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-found-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function found(domain: Domain, recording: Recording, file: string) {
    const { paths, outputs, outputsEqual } = findDatabase(domain, recording, file);
    return { paths: paths.map((path) => relative(MATERIAL, path)), outputs, outputsEqual };
  }

  const retail = { paths: ['tau2-bench/retail/db.json'], outputs: 299, outputsEqual: 299 };
  const airline = {
    paths: ['tau-bench/airline/data', 'tau-bench/airline/data_as_recorded'],
    outputs: 1_164,
    outputsEqual: 1_164,
  };

  test('where the recording lies', () => {
    expect(found(RETAIL, readRecording(retailFile), retailFile)).toEqual(retail);
    expect(found(AIRLINE, readRecording(airlineFile), airlineFile)).toEqual(airline);
  });

  test('in the format of the other benchmark, and somewhere else', () => {
    const elsewhere = join(folder, 'runs.json');
    const rewritten = parseRecording(asTauBench(readRecording(retailFile).runs));
    expect(rewritten.format).toBe('tau-bench');
    expect(found(RETAIL, rewritten, elsewhere)).toEqual(retail);
    const other = parseRecording(asTau2(readRecording(airlineFile).runs));
    expect(other.format).toBe('tau2');
    expect(found(AIRLINE, other, elsewhere)).toEqual(airline);
  });

  test('and a recording that no database explains gets the one that explains most', () => {
    const text = JSON.stringify(asTau2(readRecording(airlineFile).runs.slice(0, 20)));
    const file = join(folder, 'changed.json');
    writeFileSync(file, text.replace('Philadelphia', 'Springfield').replace('78750', '12345'));
    const { paths, outputs, outputsEqual } = found(AIRLINE, readRecording(file), file);
    expect(paths).toEqual(airline.paths);
    expect(outputs - outputsEqual).toBe(1);
  });
});
