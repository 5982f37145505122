/** A prompt's own words, and how much else came with them. */
export interface StrippedText {
  readonly words: string;
  /** Characters that were set aside: harness blocks, long quotes and logs. */
  readonly quotedChars: number;
}

/** Quotes shorter than this are part of the question; longer ones are counted, not read. */
const longQuoteChars = 2_000;

const harnessBlock =
  /<(system-reminder|tool_result|tool-result|function_results|context|environment_details)\b[^>]*>[\s\S]*?(?:<\/\1>|$)/gi;

/** Takes out what the person did not write (`reference/litellm.md` 3.4 rule 2). */
export function stripText(text: string): StrippedText {
  let quotedChars = 0;
  const setAside = (block: string) => {
    quotedChars += block.length;
    return ' ';
  };
  const words = text
    .replaceAll(harnessBlock, setAside)
    .replaceAll(/```[\s\S]*?(?:```|$)/g, (block) =>
      block.length > longQuoteChars ? setAside(block) : block,
    )
    .replaceAll(/(?:^|\n)(?:>[^\n]*(?:\n|$))+/g, (block) =>
      block.length > longQuoteChars ? setAside(block) : block,
    );
  return { words: words.trim(), quotedChars };
}
