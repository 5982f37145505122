// All words of the bootstrap go to stderr, so that the output of `mesh … --json` stays clean.

const firstProgressMs = 10_000;
const longestSilenceMs = 60_000;

/** One line to the person who started us. */
export function say(text) {
  process.stderr.write(`mesh: ${text}\n`);
}

/** Milliseconds as people read them: `12.3 s`. */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/**
 * Runs `work` under a label: a line at its start, one after 10 s and then ever more rarely (at
 * least each minute), and one with the duration at its end. A rejection passes through.
 * @template T
 * @param {string} label
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(label, work) {
  const startedMs = performance.now();
  const elapsed = () => seconds(performance.now() - startedMs);
  say(`${label} …`);
  let silenceMs = firstProgressMs;
  const sayElapsed = () => {
    say(`${label} … ${elapsed()}`);
    silenceMs = Math.min(silenceMs * 2, longestSilenceMs);
    progress = setTimeout(sayElapsed, silenceMs);
  };
  let progress = setTimeout(sayElapsed, silenceMs);
  try {
    const result = await work();
    say(`${label}: done in ${elapsed()}`);
    return result;
  } finally {
    clearTimeout(progress);
  }
}
