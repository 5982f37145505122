import { ServerCallContext, type User } from '@a2a-js/sdk/server';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { EventId } from './event-id.ts';
import type { WireVersion } from './wire-version.ts';

export interface CallFacts {
  readonly principal: Principal;
  readonly version: WireVersion;
  /** Aborts when the caller hangs up. Asked only by calls that wait. */
  readonly gone: () => AbortSignal;
  /** From where the caller wants to go on with a stream. */
  readonly resume: EventId | undefined;
}

/** One authenticated request on its way through the SDK's transport and back. */
export class Call extends ServerCallContext {
  readonly #facts: CallFacts;
  /** Id of the stream event that was handed out last. */
  eventId: EventId | undefined;
  /** What made the call fail, before the SDK made its own error of it. */
  failure: unknown;

  constructor(facts: CallFacts) {
    super({ user: userOf(facts.principal), requestedVersion: facts.version });
    this.#facts = facts;
  }

  get principal(): Principal {
    return this.#facts.principal;
  }

  get version(): WireVersion {
    return this.#facts.version;
  }

  get gone(): AbortSignal {
    return this.#facts.gone();
  }

  get resume(): EventId | undefined {
    return this.#facts.resume;
  }
}

const userOf = ({ id }: Principal): User => ({ isAuthenticated: true, userName: id });

/** The call that a context of the SDK is; ours are the only ones made. */
export function callOf(context: ServerCallContext): Call {
  if (context instanceof Call) return context;
  throw new Error('The request handler was called with a context that this edge did not make.');
}
