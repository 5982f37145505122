/** Chance, injected, so that a simulation replays from its seed. */
export interface Random {
  /** Evenly in [0, 1). */
  fraction(): number;
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
}
