import type { OpenAiUpstream } from '../../support/openai-upstream.ts';
import type { RunningLiteLlm } from '../../support/services/litellm.ts';

/** A proxy and the scripted provider behind it, both running. */
export interface Scenario {
  readonly upstream: OpenAiUpstream;
  readonly proxy: RunningLiteLlm;
}
