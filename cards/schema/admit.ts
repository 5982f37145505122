import { z } from 'zod';
import { TrustClass } from '../../fabric/domain/trust.ts';

/** Trust classes, Card ids, or `principal:<id>` for a token's principal without a Card. */
const defaultAdmit: readonly string[] = [TrustClass.enum.human, TrustClass.enum.trusted];

const Name = z.string().min(1).max(80);
/** Whose submits start without a person; an empty list is nobody. */
export const Admit = z.array(Name).max(200).readonly().default(defaultAdmit);
