import { MeshError } from '../../fabric/domain/errors.ts';

/** The ledger's file does not answer; nothing was reserved, so nothing may be called. */
export class LedgerUnavailableError extends MeshError {
  constructor(doing: string, cause: unknown) {
    const message = `The quota ledger could not ${doing}. Look at the disk that holds state/ledger.db, then try again.`;
    super('FABRIC_DOWN', message, {}, { cause });
    this.name = 'LedgerUnavailableError';
  }
}
