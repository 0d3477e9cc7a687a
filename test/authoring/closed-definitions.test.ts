/** No control of a definition goes away by a slip of the finger: each part of one is closed, and says what it takes. */
import { z } from 'zod';
import {
  agentTool,
  defineAgent,
  defineConfig,
  defineHook,
  defineHostedTool,
  defineShell,
  defineTool,
  type ConfigDefinition,
} from '../../authoring/index.js';
import { isRecord } from '../../pure/options.js';
import { errorOf } from './error-of.js';

const pays = {
  name: 'pay',
  version: '1',
  effect: 'financial',
  input: z.object({ amountCents: z.number() }),
  run: () => 'paid',
};
const asks = { ...pays, kind: 'human_input', effect: 'none' };
const searches = {
  name: 'web_search',
  version: '1',
  effect: 'read',
  provider: 'anthropic',
  declaration: { type: 'web_search_20250305', name: 'web_search' },
  bound: { inputTokens: 60_000, uses: 5, feeMicroUsd: 10_000 },
};
const agent = defineAgent({ name: 'clerk', model: 'test/model', instructions: 'Pay.' });
const prices = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
const route = {
  name: 'acme/one',
  provider: 'acme',
  model: 'one',
  contextWindow: 1_000,
  maxOutputTokens: 100,
  prices,
  pricesVersion: '1',
  temperatureAllowed: true,
};
const endpoint = { name: 'acme', protocol: 'chat', baseUrl: 'https://acme.example/v1' };

const tool = (changes: object) => () => defineTool({ ...pays, ...changes } as never);
const config = (changes: object) => () =>
  defineConfig({ agents: [agent], ...changes } as ConfigDefinition);
const withinItself: unknown[] = [];
withinItself.push(withinItself);
const limits = { perDay: { count: 1 } };

test.each<[string, () => unknown, string]>([
  ['goals that are no list', config({ goals: 5 }), 'goals must be a list'],
  ['goals by name', config({ goals: {} }), 'goals must be a list'],
  ['defaults that are a number', config({ defaults: 5 }), 'defaults must be an object'],
  ['models in a Map', config({ models: new Map([['fast', {}]]) }), 'models must be an object'],
  ['a role', tool({ approval: { role: ['manager'] } }), 'approval.role is unknown'],
  ['a quorum', tool({ approval: { roles: ['manager'], quorm: 2 } }), 'approval.quorm is unknown'],
  ['an expiry', tool({ approval: { expiresIn: 5 } }), 'approval.expiresIn is unknown'],
  [
    'a role of an escalation',
    tool({ approval: { roles: ['a'], escalate: { afterMs: 1, roles: ['b'], role: ['c'] } } }),
    'approval.escalate.role is unknown',
  ],
  ['a bare list of roles', tool({ approval: ['manager'] }), 'approval is ["manager"]'],
  [
    'one role as a text',
    tool({ approval: { roles: 'manager' } }),
    'the roles of its approval are "manager"',
  ],
  ['no role', tool({ approval: { roles: [] } }), 'its approval names no role'],
  ['an effect as a list', tool({ effect: ['read'] }), 'its effect is ["read"]'],
  ['a description as a number', tool({ description: 5 }), 'its description is 5'],
  ['a description as an object', tool({ description: { a: 1 } }), 'its description is {"a":1}'],
  ['an output as a text', tool({ output: 'x' }), 'The output of tool pay is no schema'],
  ['an output as a list', tool({ output: [] }), 'The output of tool pay is no schema'],
  [
    'tools by name',
    () => defineAgent({ ...agentOf(), tools: {} } as never),
    'its tools are no list',
  ],
  [
    'hooks by name',
    () => defineAgent({ ...agentOf(), hooks: {} } as never),
    'its hooks are no list',
  ],
  ['nothing among the defaults', config({ defaults: { budget: null } }), '"budget" is null'],
  ['a quorum as a text', tool({ approval: { quorum: '2' } }), 'its approval quorum is "2"'],
  ['a quorum that is no number', tool({ approval: { quorum: NaN } }), 'approval quorum is NaN'],
  ['a quorum without end', tool({ approval: { quorum: Infinity } }), 'approval quorum is Infinity'],
  ['a quorum of another type', tool({ approval: { quorum: 2n } }), 'its approval quorum is 2n'],
  ['a flag of another type', tool({ quick: 1n }), 'its quick is 1n'],
  ['a rule within itself', tool({ approval: withinItself }), 'approval is object'],
  ['a limit of another type', tool({ limits: { perDay: 1n } }), 'limits.perDay is 1n'],
  ['a kind of another type', tool({ kind: 1n }), 'its kind is 1n'],
  [
    'who answers',
    () => defineTool({ ...asks, answeredBy: { roles: ['a'], role: ['b'] } } as never),
    'answeredBy.role is unknown',
  ],
  [
    'who answers as a bare list',
    () => defineTool({ ...asks, answeredBy: ['a'] } as never),
    'answeredBy is ["a"]',
  ],
  [
    'the window of an identity',
    tool({ identity: { of: () => ['a'], window: 5 } }),
    'identity.window is unknown',
  ],
  [
    'an amount that is no function',
    tool({ limits: { ...limits, amount: 'amountCents' } }),
    'limits.amount is no function',
  ],
  [
    'an isolation as a text',
    tool({ sandboxRun: () => 'paid', isolated: 'yes' }),
    'its isolated is "yes"',
  ],
  [
    'the word for a sandbox',
    tool({ sandboxRun: () => 'paid', sandbox: 'requird' }),
    'its sandbox is "requird"',
  ],
  ['a required tool as a text', tool({ required: 'true' }), 'its required is "true"'],
  ['a probe that is no code', tool({ probe: true }), 'its probe is true'],
  [
    'a hook',
    () => defineHook({ name: 'h', point: 'PreToolUse', mach: {}, run: () => null } as never),
    'no field "mach"',
  ],
  [
    'the filter of a handoff',
    () => defineAgent({ ...agentOf(), handoffTo: [{ agent: 'other', filtr: 'none' }] } as never),
    'handoffTo.filtr is unknown',
  ],
  [
    'the approval of a hosted tool',
    () => defineHostedTool({ ...searches, aproval: 'always' } as never),
    'no field "aproval"',
  ],
  [
    'the bound of a hosted tool',
    () => defineHostedTool({ ...searches, bound: { ...searches.bound, use: 1 } } as never),
    'bound.use is unknown',
  ],
  [
    'an agent as a tool',
    () => agentTool(agent, { input: pays.input, aproval: 'always' } as never),
    'no field "aproval"',
  ],
  [
    'the task of an agent as a tool',
    () => agentTool(agent, { input: pays.input, task: 'Look.' } as never),
    'its task is no function',
  ],
  ['a shell', () => defineShell({ host: [] } as never), 'no field "host"'],
  [
    'a limit of a shell',
    () => defineShell({ limits: { timMs: 5 } } as never),
    'limits.timMs is unknown',
  ],
  [
    'a limit as a text',
    () => defineShell({ limits: { timeMs: '5' } } as never),
    'limits.timeMs is 5',
  ],
  [
    'half of the limits of a folder',
    () => defineShell({ limits: { folder: { entries: 5 } } } as never),
    'limits.folder.bytes is undefined',
  ],
  ['a route', config({ routes: [{ ...route, take: {} }] }), 'has no field "take"'],
  [
    'a price',
    config({ routes: [{ ...route, prices: { ...prices, cacheWrit: 1 } }] }),
    'prices.cacheWrit is unknown',
  ],
  ['an endpoint', config({ endpoints: [{ ...endpoint, keyVar: 'K' }] }), 'has no field "keyVar"'],
  [
    'models that nobody knows',
    config({ unknownModels: { prices: 'zero', contextWindw: 5 } }),
    'unknownModels.contextWindw is unknown',
  ],
])('a misspelt or mistyped part is refused by its name: %s', (_, attempt, what) => {
  const { code, message, hint } = errorOf(attempt);
  expect(message).toContain(what);
  expect(code).toMatch(/^Invalid(Tool|Agent|Config)$/);
  expect(hint).toMatch(/\S/);
});

test('what is misspelt is told with the field that was meant, and with those that there are', () => {
  const { hint } = errorOf(tool({ approval: { roles: ['manager'], quorm: 2 } }));
  expect(hint).toBe(
    'Did you mean quorum? The fields are roles, quorum, expiresInMs, onExpiry, escalate.',
  );
});

test.each<[string, (definition: never) => unknown]>([
  ['defineTool', defineTool],
  ['defineAgent', defineAgent],
  ['defineConfig', defineConfig],
  ['defineHook', defineHook],
  ['defineHostedTool', defineHostedTool],
  ['defineShell', defineShell],
])('%s of nothing says that an object is needed', (name, define) => {
  for (const [value, kind] of [
    [null, 'null'],
    ['x', 'a string'],
    [[], 'a list'],
  ] as const) {
    const { code, message, hint } = errorOf(() => define(value as never));
    expect(code).toMatch(/^Invalid(Tool|Agent|Config)$/);
    expect(message).toBe(`${name} takes an object, and got ${kind}.`);
    expect(hint).toBe(`Write ${name}({ … }).`);
  }
});

test.each<[string, (field: string) => () => unknown]>([
  [
    'version description output approval timeoutMs maxResultBytes kind quick',
    (f) => tool({ [f]: null }),
  ],
  [
    'tools mcp hooks budget settings policy agents agentLimits handoffTo',
    (field) => () => defineAgent({ ...agentOf(), [field]: null } as never),
  ],
  [
    'goals checkTools routes models defaults console connection worker',
    (f) => config({ [f]: null }),
  ],
])('null is no value of a field, and does not stand for its default: %s', (fields, withNull) => {
  for (const field of fields.split(' ')) {
    expect(errorOf(withNull(field)).message).toMatch(new RegExp(`${field}"? is null`));
  }
});

function agentOf() {
  return { name: 'clerk', model: 'test/model', instructions: 'Pay.' };
}

class Bare {}
class Getting {
  get maxTurns() {
    return 3;
  }
}
const FIELDLESS = [new Map([['maxTurns', 3]]), new Set(), new Date(), new Bare(), /x/, new Error()];

test('a Map, a date and the like are no definition without fields, wherever one stands', () => {
  const base = { name: 'clerk', model: 'test/model', instructions: 'Pay.' };
  for (const none of FIELDLESS) {
    const given = none as never;
    const auditor = { description: 'Looks.', prompt: 'Look.' };
    for (const field of ['budget', 'settings', 'policy', 'agents', 'agentLimits', 'sandbox']) {
      expect(errorOf(() => defineAgent({ ...base, [field]: given })).code).toBe('InvalidAgent');
    }
    for (const field of ['budget', 'settings', 'model']) {
      const agents = { auditor: { ...auditor, [field]: given } };
      expect(errorOf(() => defineAgent({ ...base, agents })).code).toBe('InvalidAgent');
    }
    for (const field of [
      'defaults',
      'console',
      'connection',
      'worker',
      'mcp',
      'models',
      'requestOptions',
      'unknownModels',
    ]) {
      const config = { agents: [agent], [field]: given } as ConfigDefinition;
      expect(errorOf(() => defineConfig(config)).code).toBe('InvalidConfig');
    }
    const nested = {
      agents: [agent],
      defaults: { settings: { versions: given } },
    } as ConfigDefinition;
    expect(errorOf(() => defineConfig(nested)).message).toContain(
      'settings.versions is not allowed: it must be an object of fields',
    );
    expect(errorOf(() => defineTool({ ...pays, card: given } as never)).code).toBe('InvalidTool');
  }
});

test('an instance of a class with fields or getters of its own is taken as before', () => {
  class Own {
    maxTurns = 3;
  }
  const base = { name: 'clerk', model: 'test/model', instructions: 'Pay.' };
  expect(defineAgent({ ...base, budget: new Own() }).budget).toEqual({ maxTurns: 3 });
  const { settings } = defineAgent({
    ...base,
    settings: new (class {
      get onDeny() {
        return 'refuse' as const;
      }
    })(),
  });
  expect(settings).toEqual({ onDeny: 'refuse' });
  expect(isRecord(new Getting())).toBe(true);
  class Limits extends Getting {
    maxToolCalls = 2;
    get maxCostUsd() {
      return 0.5;
    }
    half() {
      return this.maxCostUsd / 2;
    }
  }
  const limits = { maxTurns: 3, maxToolCalls: 2, maxCostMicroUsd: 500_000 };
  expect(defineAgent({ ...base, budget: new Limits() }).budget).toEqual(limits);
  const above = Object.create({ maxCostMicroUsd: 1 }) as object;
  expect(defineAgent({ ...base, budget: above }).budget).toEqual({ maxCostMicroUsd: 1 });
  class Role {
    get description() {
      return 'Looks.';
    }
    get prompt() {
      return 'Look well.';
    }
    get disallowedTools() {
      return ['pay'];
    }
    get settings() {
      return new (class {
        get toolExecution() {
          return 'serial' as const;
        }
      })();
    }
  }
  const { agents } = defineAgent({ ...base, agents: { auditor: new Role() } });
  const auditor = agents?.get('auditor');
  expect(auditor?.agent.instructions).toContain('Look well.');
  expect(auditor?.settings).toEqual({ toolExecution: 'serial', disallowedTools: ['pay'] });
  const wrongly = new (class extends Role {
    get model() {
      return 5;
    }
  })() as never;
  expect(errorOf(() => defineAgent({ ...base, agents: { auditor: wrongly } })).message).toContain(
    'model',
  );
  expect(isRecord(new (class extends Getting {})())).toBe(true);
});

test.each(['retiredTools', 'retiredHooks', 'routes', 'endpoints'])(
  'an entry of %s is what its maker gives',
  (field) => {
    for (const entry of [null, new Map(), 1]) {
      const config = { agents: [agent], [field]: [entry] } as unknown as ConfigDefinition;
      expect(errorOf(() => defineConfig(config)).code).toBe('InvalidConfig');
    }
  },
);
