import { expect, it } from 'vitest';
import { requireLegacyA2a } from '../../support/services/a2a-legacy.ts';
import { describeWith } from '../../support/services/service.ts';

describeWith('a2a-legacy-0.3', 'the 0.3 generation of the A2A SDK', ({ version }) => {
  it('offers its client', () => {
    expect(version).toBe('0.3.14');
    const client = requireLegacyA2a('0.3', '@a2a-js/sdk/client');
    expect(client).toHaveProperty('A2AClient');
    expect(client).toHaveProperty('ClientFactory');
  });
});

describeWith('a2a-legacy-0.2', 'the 0.2 generation of the A2A SDK', ({ version }) => {
  it('offers its client', () => {
    expect(version).toBe('0.2.5');
    expect(requireLegacyA2a('0.2', '@a2a-js/sdk/client')).toHaveProperty('A2AClient');
  });
});
