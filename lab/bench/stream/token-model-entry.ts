/** Entry of the process of a token model: its settings are one JSON argument; it tells its parent its address. */
import { z } from 'zod';
import { startTokenModel } from './token-model.js';

const settingsSchema = z.object({ tokens: z.number(), tokensPerSecond: z.number() });

async function main(): Promise<void> {
  const baseUrl = await startTokenModel(settingsSchema.parse(JSON.parse(process.argv[2] ?? '{}')));
  // The parent's death ends it too.
  process.on('disconnect', () => process.exit(0));
  process.send?.({ baseUrl });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
