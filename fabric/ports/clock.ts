/** Time, injected. Wall time is for people and records, monotonic time for leases and waits. */
export interface Clock {
  /** Milliseconds since the epoch; may step. */
  nowMs(): number;
  /** Milliseconds that only grow, while the process is awake. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `due` once after `ms`. Returns how to call that off; for what is nearly always called off, since
   * a signal for `sleep` costs twenty times as much.
   */
  after(ms: number, due: () => void): () => void;
}
