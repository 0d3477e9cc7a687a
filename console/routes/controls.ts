/**
 * The business controls: freezing and thawing, and what was done for a business object.
 * Invariant: who froze and who lifted is in the audit trail by the commit that does it.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isInForce, type Freeze } from '../../pure/freeze.js';
import type { Json } from '../../core/json/json.js';
import { ulid } from '../../client/runs/run-id.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import { once } from '../http/idempotency.js';
import { notFound, Problem } from '../http/problem.js';
import * as controls from '../http/control-shapes.js';
import * as shapes from '../http/shapes.js';
import { restoredHere } from '../restored-at-desk.js';

const LIST_LIMIT = 200;
const one = { 200: { description: 'The freeze.', schema: controls.freeze } };

const listFreezes = endpoint({
  method: 'get',
  path: '/v1/freezes',
  name: 'listFreezes',
  summary: 'Freezes, in force and past: tools, agents or everything.',
  access: 'read',
  query: z.strictObject({ state: z.enum(['in_force', 'all']).default('in_force') }),
  answers: {
    200: { description: 'The freezes.', schema: z.object({ items: z.array(controls.freeze) }) },
  },
  async handle({ desk: { store, clock }, person: { tenant }, query: { state } }) {
    const now = clock();
    const freezes =
      state === 'all'
        ? await store.listFreezes(tenant, LIST_LIMIT)
        : await store.freezesInForce(tenant, now);
    return { status: 200, body: { items: freezes.map((freeze) => shown(freeze, now)) } };
  },
});

const freeze = endpoint({
  method: 'post',
  path: '/v1/freezes',
  name: 'freeze',
  summary: 'Nothing that it covers starts any more, from the next claim on, in any run.',
  access: 'freeze',
  body: controls.freezeBody,
  idempotent: true,
  answers: one,
  async handle(asked) {
    const { desk, person, body } = asked;
    const { scope, reason, forMs } = body;
    return once(asked, { freeze: body as unknown as Json }, async ({ key, at }) => {
      const named = createHash('sha256').update(JSON.stringify([person.tenant, person.id, key]));
      const wanted: Freeze = {
        id: `frz_${ulid(at, named.digest().subarray(0, 16))}`,
        scope,
        by: person.id,
        reason,
        at,
        ...(forMs !== undefined && { until: at + forMs }),
      };
      if (!(await desk.store.setFreeze(person.tenant, wanted))) throw tooMany();
      return { status: 200, body: shown(wanted, desk.clock()) };
    });
  },
});

const lift = endpoint({
  method: 'post',
  path: '/v1/freezes/{freezeId}/lift',
  name: 'liftFreeze',
  summary: 'Ends a freeze. One that is in force no more is not there.',
  access: 'freeze',
  params: z.strictObject({ freezeId: shapes.id }),
  body: controls.liftBody,
  answers: one,
  async handle({ desk: { store, clock }, person, params: { freezeId: id }, body: { reason } }) {
    const { tenant, id: by } = person;
    const at = clock();
    const found = (await store.freezesInForce(tenant, at)).find((other) => other.id === id);
    const lifted = { at, by, ...(reason !== undefined && { reason }) };
    if (found === undefined || !(await store.liftFreeze(tenant, { id, ...lifted }))) {
      throw notFound();
    }
    return { status: 200, body: shown({ ...found, lifted }, at) };
  },
});

const listEffects = endpoint({
  method: 'get',
  path: '/v1/effects',
  name: 'listEffects',
  summary:
    'Effects that happened, or may have happened, for a business object: by which run, on whose word.',
  access: 'read',
  query: controls.effectsQuery,
  answers: {
    200: {
      description: 'The newest first.',
      schema: z.object({ items: z.array(controls.effect), ...shapes.restored }),
    },
  },
  async handle({ desk, person, query }) {
    const items = await desk.store.listEffects(person.tenant, query);
    return { status: 200, body: { items, ...(await restoredHere(desk)) } };
  },
});

function shown(wanted: Freeze, now: number) {
  return { ...wanted, inForce: isInForce(wanted, now) };
}

function tooMany(): Problem {
  const detail = 'Too many freezes are in force: lift some, or freeze the whole tenant.';
  return new Problem(409, { code: 'too_many_freezes', detail });
}

export const controlsEndpoints: readonly Endpoint[] = [listFreezes, freeze, lift, listEffects];
