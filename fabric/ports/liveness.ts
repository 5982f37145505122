/** Proof of death of a process on this host, by an OS lock that its kernel frees (`DESIGN.md` 4.1). */
export interface Liveness {
  /** This process's own name; its lock is held as long as it lives. */
  readonly incarnation: string;
  /** True only with proof; false = alive or not of this host. */
  isDead(incarnation: string): Promise<boolean>;
}
