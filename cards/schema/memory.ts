import { z } from 'zod';

export const Memory = z.strictObject({
  bank: z.string().regex(/^[a-z][a-z0-9-]{0,47}$/, 'a bank name is like an agent id'),
  /** Other banks it reads; `shared` is everybody's. */
  reads: z.array(z.string().min(1).max(48)).readonly().default([]),
});
