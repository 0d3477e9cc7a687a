/** Who I am here, and the audit trail of my tenant. */
import { z } from 'zod';
import { objectionToKey } from '../../client/index.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import { Problem } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import { ACCESSES } from '../identity/access.js';
import { mayAccess } from '../identity/rights.js';
import { restoredHere } from '../restored-at-desk.js';

const me = endpoint({
  method: 'get',
  path: '/v1/me',
  name: 'me',
  summary: 'Who is logged in, with which roles, and what they may do.',
  access: 'answer',
  answers: { 200: { description: 'The person.', schema: shapes.person } },
  async handle({ desk, person }) {
    const { id, name, tenant, roles, via } = person;
    const may = ACCESSES.filter((access) => mayAccess(desk, person, access));
    return { status: 200, body: { id, name, tenant, roles, via, may } };
  },
});

const aboutStore = endpoint({
  method: 'get',
  path: '/v1/store',
  name: 'aboutStore',
  summary: 'Whether an older copy has taken the place of the store lately.',
  access: 'answer',
  answers: { 200: { description: 'The store.', schema: z.object(shapes.restored) } },
  handle: async ({ desk }) => ({ status: 200, body: await restoredHere(desk) }),
});

const listAudit = endpoint({
  method: 'get',
  path: '/v1/audit',
  name: 'listAudit',
  summary: 'The audit trail, oldest first.',
  access: 'audit',
  query: z.strictObject({
    after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
    runId: shapes.id.optional(),
    askId: shapes.id.optional(),
    limit: shapes.limit,
  }),
  answers: {
    200: { description: 'A page of rows.', schema: z.object({ rows: z.array(shapes.auditRow) }) },
  },
  async handle({ desk, person, query: { after, runId, askId, limit } }) {
    const rows = await desk.store.readAudit(person.tenant, {
      limit,
      ...(after !== undefined && { after }),
      ...(runId !== undefined && { runId }),
      ...(askId !== undefined && { askId }),
    });
    return { status: 200, body: { rows } };
  },
});

const getAuditHead = endpoint({
  method: 'get',
  path: '/v1/audit/head',
  name: 'getAuditHead',
  summary: 'The newest hash of the trail, signed, to be kept elsewhere.',
  access: 'audit',
  answers: { 200: { description: 'The head.', schema: shapes.auditHead } },
  async handle({ desk, person }) {
    const { store, signer } = desk;
    const head = await store.auditHead(person.tenant);
    if (signer === undefined) return { status: 200, body: head };
    const objection = await objectionToKey(store, person.tenant, signer.key);
    if (objection === undefined) {
      return { status: 200, body: signer.signHead(head, desk.clock()) };
    }
    const { reason: code, message, hint } = objection;
    throw new Problem(409, { code, detail: `The head is not signed: ${message}.`, hint });
  },
});

export const aboutEndpoints: readonly Endpoint[] = [me, aboutStore, listAudit, getAuditHead];
