/** A part of a conversation in a process of its own: its settings are one JSON argument, the answer one message. */
import { conversations } from './conversation.js';
import { play, type Paused, type Played } from './play.js';
import { vendorNamed } from './vendors.js';
import { keepQuiet } from '../../../replay/keep-quiet.js';

export interface PartSettings {
  readonly recordings: string;
  readonly count: number;
  readonly conversation: string;
  readonly vendor: string;
  readonly baseUrl: string;
  readonly folder: string;
  readonly from?: Paused;
  readonly until?: number;
}

export type FromPart = Played;

async function main(): Promise<void> {
  keepQuiet();
  // Written by the parent, which has the same types.
  const settings = JSON.parse(process.argv[2] ?? '{}') as PartSettings;
  const { recordings, count, conversation: id, vendor, ...rest } = settings;
  const conversation = conversations([recordings], count).list.find((one) => one.id === id);
  if (conversation === undefined) throw new Error(`no conversation ${id}`);
  const played = await play({ ...rest, conversation, vendor: vendorNamed(vendor) });
  process.send?.(played satisfies FromPart, undefined, undefined, () => process.exit(0));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
