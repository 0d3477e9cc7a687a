/** `holdfast whoami`: who the desk takes the owner of the token for. */
import type { Command } from 'commander';
import { deskOf, withActor, type ActorOptions } from '../desk/actor.js';
import { examples, runCommand, withJson, type Cli } from '../command.js';
import { inert } from '../render/index.js';
import { usage } from '../usage.js';

export function addWhoami(program: Command, cli: Cli): void {
  const command = program
    .command('whoami')
    .description('Say who the approval desk takes you for: your name, your tenant, your roles.');
  withJson(withActor(command, 'whom to act as'), '{id, name, tenant, roles, via}')
    .addHelpText('after', examples('HOLDFAST_TOKEN=… holdfast whoami'))
    .action((options: ActorOptions) =>
      runCommand(cli, options, async (_, output) => {
        const api = deskOf(cli, options);
        if (api === undefined) {
          throw usage('Only a desk knows who you are.', 'Set HOLDFAST_TOKEN to your token of it.');
        }
        const person = (await api.get('/v1/me')) as unknown as Told;
        const { id, name, tenant, roles } = person;
        output.data(person);
        output.line(`${inert(name)} (${inert(id)}), tenant ${inert(tenant)}`);
        output.line(`Roles: ${roles.length === 0 ? 'none' : inert(roles.join(', '))}`);
      }),
    );
}

interface Told {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly via: string;
}
