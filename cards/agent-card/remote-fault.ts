/** A fault with where it stands: `$.supportedInterfaces[0].url`, or line and column of the text. */
export interface RemoteFault {
  readonly code: string;
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}
