/** Contents too large for a log, by their SHA-256; `artifact:<sha256>` names them. */
export interface ArtifactStore {
  /** Durable before it resolves; the same content twice is one file. Returns 64 hex digits. */
  put(content: string | Uint8Array): Promise<string>;
  /** Undefined for one that is not there; rejects for one whose bytes no longer match. */
  get(sha256: string): Promise<Uint8Array | undefined>;
}
