import { counted } from '../../fabric/domain/counted.ts';
import type { CostClass } from '../../fabric/domain/trust.ts';
import type { ServedBy } from './gateway-client.ts';

/** Something that the rules of 5.7 forbid and that happened all the same: a person must look. */
export interface GatewayIncident {
  readonly kind: 'fallback' | 'foreignDeployment' | 'unexpectedCost';
  readonly message: string;
}

export interface ExpectedService {
  readonly modelAgentId: string;
  readonly cost: CostClass;
  /** Empty: any deployment will do. */
  readonly deploymentIds: readonly string[];
}

/**
 * The last of the four locks against an implicit paid fallback: looks at what the gateway says it did
 * (`reference/litellm.md` 5.7). The caller opens the model's breaker and reports; the answer itself may be used.
 */
export function auditCall(
  { modelAgentId, cost, deploymentIds }: ExpectedService,
  { attemptedFallbacks, deploymentId, costUsd }: ServedBy,
): readonly GatewayIncident[] {
  const incidents: GatewayIncident[] = [];
  if (attemptedFallbacks !== undefined && attemptedFallbacks > 0) {
    const message = `The gateway fell back ${counted(attemptedFallbacks, 'time')} for ${modelAgentId} although fallbacks are off. Remove its fallbacks from the gateway's configuration.`;
    incidents.push({ kind: 'fallback', message });
  }
  if (
    deploymentId !== undefined &&
    deploymentIds.length > 0 &&
    !deploymentIds.includes(deploymentId)
  ) {
    const message = `A deployment that the Card of ${modelAgentId} does not list answered for it. Compare the Card's deployments with the gateway's model_list.`;
    incidents.push({ kind: 'foreignDeployment', message });
  }
  if (cost !== 'metered' && costUsd !== undefined && costUsd > 0) {
    const message = `A call to ${modelAgentId} cost ${costUsd} USD and its Card says ${cost}. Set its Card to metered or its gateway prices to 0.`;
    incidents.push({ kind: 'unexpectedCost', message });
  }
  return incidents;
}
