/** `holdfast keys`: the desk's keys, which prove who decided. */
import { renameSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { createDeskKey, readDeskKey } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { ALL_TENANTS, type DeskKeyRow } from '../../store/desk-keys.js';
import { makeFolder } from '../../store/make-folder.js';
import { storeExists } from '../../store/place.js';
import { openStoreAt, type Store } from '../../store/store.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { deskKeyFile, devKeyFile } from '../desk/desk.js';
import { storeMissing } from '../missing-store.js';
import type { Output } from '../terminal/output.js';
import { table } from '../render/index.js';

interface KeysOptions extends CommonOptions {
  readonly by: string;
}

interface Place {
  readonly store: Store;
  readonly file: string;
  /** Of `holdfast dev`. */
  readonly devFile: string;
  readonly by: string;
  readonly output: Output;
}

const SHAPE = '{keys: [{kid, key, state, addedAt, changedAt}]}';

export function addKeys(program: Command, cli: Cli): void {
  const keys = program.command('keys').description("The desk's keys: they prove who decided.");
  const add = (name: string, description: string, doing: Doing): void => {
    const command = keys
      .command(name)
      .description(description)
      .option('--by <name>', 'who does this, for the audit trail', 'operator');
    withJson(withPlace(command), SHAPE)
      .addHelpText('after', examples(`holdfast keys ${name}`))
      .action((options: KeysOptions) => withStore(cli, options, doing));
  };
  add('list', 'Keys and whether their signatures count.', {
    work: list,
    without: (output) => tell([], output),
  });
  add('create', 'Make the first key and trust it.', { work: create });
  add('rotate', 'Make a new key; signatures of the one before it still count.', {
    work: rotate,
  });
  add('trust', 'Trust the key that is in the file.', { work: trust });
  const revoke = keys
    .command('revoke <kid>')
    .description('Signatures of this key count no more, from the next claim on.')
    .option('--by <name>', 'who does this, for the audit trail', 'operator');
  withJson(withPlace(revoke), SHAPE)
    .addHelpText('after', examples('holdfast keys revoke dk_0123456789abcdef --by mia'))
    .action((kid: string, options: KeysOptions) =>
      withStore(cli, options, {
        work: (place) => revokeKey(place, kid),
        without: () => {
          throw noSuchKey(kid);
        },
      }),
    );
}

interface Doing {
  readonly work: (place: Place) => Promise<void>;
  /** Where there is no store; absent: one is made. */
  readonly without?: (output: Output) => void;
}

function withStore(cli: Cli, options: KeysOptions, { work, without }: Doing): Promise<void> {
  return runCommand(cli, options, async (session, output) => {
    const { place } = session;
    if (without !== undefined && !storeExists(place.storePlace)) {
      const missing = storeMissing(cli.environment, options);
      if (missing !== undefined) output.remark(missing);
      return without(output);
    }
    const file = deskKeyFile(cli.environment, place.home);
    const store = await openStoreAt(place.storePlace, place.storeSync);
    try {
      await work({ store, file, devFile: devKeyFile(place.home), by: options.by, output });
    } finally {
      await store.close();
    }
  });
}

async function list({ store, output }: Place): Promise<void> {
  tell(await store.listDeskKeys(ALL_TENANTS), output);
}

function tell(keys: readonly DeskKeyRow[], output: Output): void {
  output.data({ keys });
  if (keys.length === 0)
    return output.line(output.paint.own('There is no key. Make one: holdfast keys create'));
  const rows = keys.map(({ kid, state, addedAt }) => [kid, state, new Date(addedAt).toISOString()]);
  output.line(table({ head: ['key', 'state', 'since'], rows, paint: output.paint }));
}

async function create(place: Place): Promise<void> {
  makeFolder(dirname(place.file), 0o700);
  const { key } = await createDeskKey(place.file);
  await add(place, key);
  await tellOfDevKey(place);
  await list(place);
}

/** A desk that grew out of development trusts the key of that as well. */
async function tellOfDevKey({ store, devFile, output }: Place): Promise<void> {
  if (!existsSync(devFile)) return;
  const { kid } = (await readDeskKey(devFile)).key;
  if (!(await store.deskKeys(ALL_TENANTS)).some((known) => known.kid === kid)) return;
  output.remark(
    `The key of development still counts: take it away with \`holdfast keys revoke ${kid}\`.`,
  );
}

async function trust(place: Place): Promise<void> {
  await add(place, (await readDeskKey(place.file)).key);
  await list(place);
}

async function rotate(place: Place): Promise<void> {
  const { file, store, by } = place;
  const before = await readDeskKey(file);
  const kept = `${file}.${before.key.kid}`;
  if (existsSync(kept)) {
    throw new HoldfastError('InvalidConfig', `${kept} is in the way.`, {
      hint: 'Move it away, then rotate again.',
    });
  }
  renameSync(file, kept);
  const { key } = await createDeskKey(file);
  await add(place, key);
  const change = { tenant: ALL_TENANTS, kid: before.key.kid, at: Date.now(), by };
  await store.changeDeskKey({ ...change, to: 'retired' });
  place.output.remark('Restart the console: it signs with the new key from then on.');
  await list(place);
}

async function revokeKey(place: Place, kid: string): Promise<void> {
  const change = { tenant: ALL_TENANTS, kid, at: Date.now(), by: place.by };
  if (!(await place.store.changeDeskKey({ ...change, to: 'revoked' }))) {
    throw noSuchKey(kid);
  }
  await list(place);
}

function noSuchKey(kid: string): HoldfastError {
  return new HoldfastError('InvalidRequest', `There is no key ${kid} that could be revoked.`, {
    hint: 'List them with `holdfast keys list`.',
  });
}

async function add(
  { store, by }: Place,
  { kid, key }: { readonly kid: string; readonly key: string },
): Promise<void> {
  await store.addDeskKey({ tenant: ALL_TENANTS, kid, key, at: Date.now(), by });
}
