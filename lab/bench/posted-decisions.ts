/**
 * Decisions over the desk's HTTP API, as a page or a service sends them: the login, the signature, the audit trail
 * and the verdict of the run are all part of the answer.
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConsole } from '../../authoring/index.js';
import { signerOf } from '../../client/decide/desk-signer.js';
import { connect } from '../../client/index.js';
import { startConsole } from '../../console/index.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import { waitingAsk } from './gate.js';
import type { OutsideServer } from './outside-server.js';
import { spreadOf, type Spread } from './pairs.js';
import type { Place } from './place.js';
import { MANAGER } from './setting.js';

export interface PostedDecisions {
  /** ms from sending the POST to its answer. */
  readonly answer: Spread;
  /** ms from sending the POST to the first step of the gated tool. */
  readonly toTool: Spread;
}

const TOKEN = 'hf_service_bench';
const REQUESTS_PER_MINUTE = 100_000;

export interface PostedPlan {
  readonly place: Place;
  readonly outside: OutsideServer;
  readonly samples: number;
}

export async function postDecisions({
  place,
  outside,
  samples,
}: PostedPlan): Promise<PostedDecisions> {
  const desk = await openDesk(place);
  const answer: number[] = [];
  const toTool: number[] = [];
  try {
    for (let sample = 0; sample < samples; sample += 1) {
      const runId = `posted-${sample}`;
      await place.start('held', runId);
      const ask = await waitingAsk(place.holdfast, runId);
      const visited = outside.visited(runId, 1);
      const sent = performance.now();
      await desk.approve(ask);
      answer.push(performance.now() - sent);
      toTool.push((await visited) - sent);
      await place.ended('held', runId);
    }
  } finally {
    await desk.stop();
  }
  return { answer: spreadOf(answer), toTool: spreadOf(toTool) };
}

interface BenchDesk {
  approve(ask: { readonly askId: string; readonly argsHash: string }): Promise<void>;
  stop(): Promise<void>;
}

/** One service that may decide, known by its token; decisions are signed with a key that workers trust. */
async function openDesk({ server, store }: Place): Promise<BenchDesk> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-desk-'));
  const signer = signerOf(generateKeyPairSync('ed25519').privateKey);
  await store.addDeskKey({ tenant: ALL_TENANTS, ...signer.key, at: Date.now(), by: 'bench' });
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  const row = { name: 'bench', tenant: 'default', roles: [MANAGER], sha256 };
  const serviceTokens = join(folder, 'tokens.json');
  await writeFile(serviceTokens, JSON.stringify({ v: 1, tokens: [row] }));
  const client = await connect({ address: server.address, store, signer });
  const console_ = await startConsole({
    client,
    store,
    signer,
    settings: parseConsole({
      port: 0,
      serviceTokens,
      limits: { requestsPerMinute: REQUESTS_PER_MINUTE },
    }),
    version: 'bench',
    localRoles: [],
    say: () => undefined,
  });
  return {
    async approve({ askId, argsHash }) {
      const response = await fetch(
        `${console_.url}/v1/approvals/${encodeURIComponent(askId)}/decisions`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${TOKEN}`,
            'content-type': 'application/json',
            'idempotency-key': askId,
          },
          body: JSON.stringify({ decision: 'approve', argsHash }),
        },
      );
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    },
    async stop() {
      await console_.stop();
      await client.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
