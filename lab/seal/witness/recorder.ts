/** Only in the bundle of a witnessed replay: tells what each activation has met. */
import { proxySinks, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';
import { takeSeen, type Seen } from './seen.js';

export interface WitnessSinks extends Sinks {
  witness: {
    activation(seen: Seen): void;
  };
}

const { witness } = proxySinks<WitnessSinks>();

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      concludeActivation(input, next) {
        witness.activation(takeSeen());
        return next(input);
      },
    },
  ],
});
