/** What a worker of this example serves. */
import { join } from 'node:path';
import { configOf } from './contacts.js';

export const config = configOf(join(__dirname, 'contacts-server.mjs'));
