/** The store on PostgreSQL: every test of the store once more, and what only concerns that database. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { postgresBinaries } from '../postgres-server.js';
import { useDatabase } from './fixtures.js';

const OWN = ['sqlite.test.ts', 'postgres.test.ts'];
const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

onPostgres('on PostgreSQL', () => {
  useDatabase('postgres');
  for (const file of readdirSync(__dirname)) {
    if (!file.endsWith('.test.ts') || OWN.includes(file)) continue;
    describe(file, () => void require(join(__dirname, file)));
  }
});
